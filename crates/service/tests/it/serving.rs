//! The transports that a builder serves by itself.

use serde_json::json;
use switchboard_session::Client;
use switchboard_testkit::ReservedPort;
use switchboard_transport::http::client::Http;
use switchboard_transport::http::server::{HttpListener, HttpServerOptions};
use switchboard_transport::stdio::Stdio;

use crate::sessions::outcome;
use crate::shop::Shop;

/// Set in the environment of a child process that serves.
const CHILD: &str = "SWITCHBOARD_SERVER_CHILD";

#[tokio::test]
async fn in_process() {
    let session = Shop::builder().connect().await.unwrap();
    assert_eq!(outcome(&session, "echo", json!({"text": "here"})).await.1, "here");
}

#[tokio::test]
async fn over_http_as_a_mounted_service() {
    let service = Shop::builder().into_http_service(HttpServerOptions::default()).unwrap();
    let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let url = format!("http://{}/mcp", listener.address().unwrap());
    tokio::spawn(listener.serve(service));
    let session = Client::new().connect(Http::new(&url)).await.unwrap();
    assert_eq!(outcome(&session, "echo", json!({"text": "there"})).await.1, "there");
}

#[tokio::test]
async fn over_http_until_dropped() {
    let port = ReservedPort::new();
    let address = port.address();
    let serving = tokio::spawn(async move { Shop::builder().serve_http(address).await.is_ok() });
    let url = format!("http://{address}/mcp");
    let mut session = Client::new().connect(Http::new(&url)).await;
    for _ in 0..12_000 {
        if session.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        session = Client::new().connect(Http::new(&url)).await;
    }
    assert_eq!(outcome(&session.unwrap(), "echo", json!({"text": "alone"})).await.1, "alone");
    serving.abort();
    assert!(serving.await.unwrap_err().is_cancelled());
}

/// Not a test of its own: the child process of [`over_stdio`].
#[tokio::test]
async fn child() {
    if std::env::var_os(CHILD).is_some() {
        Shop::builder().serve_stdio().await.unwrap();
    }
}

#[tokio::test]
async fn over_stdio() {
    let program = std::env::current_exe().unwrap();
    let command = Stdio::new(program).args(["--exact", "serving::child", "--nocapture"]).env(CHILD, "1");
    let session = Client::new().connect(command).await.unwrap();
    assert_eq!(outcome(&session, "echo", json!({"text": "piped"})).await.1, "piped");
    session.close().await;
}

#[tokio::test]
async fn d4_path_and_accept_policy_can_be_set() {
    use switchboard_service::HttpServeConfig;
    let port = ReservedPort::new();
    let address = port.address();
    let how = HttpServeConfig::new(address).options(HttpServerOptions::default().with_path("/shop"));
    let serving = tokio::spawn(async move { Shop::builder().serve_http(how).await.is_ok() });
    let url = format!("http://{address}/shop");
    let opened = async {
        loop {
            if let Ok(session) = Client::new().connect(Http::new(&url)).await {
                return session;
            }
            tokio::task::yield_now().await;
        }
    };
    let session = tokio::time::timeout(std::time::Duration::from_secs(60), opened).await.unwrap();
    assert_eq!(outcome(&session, "echo", json!({"text": "set"})).await.1, "set");
    serving.abort();
}

#[tokio::test]
async fn s10_a_public_address_needs_authentication_or_hosts() {
    use switchboard_service::{HttpServeConfig, ServeError};
    use switchboard_transport::http::server::AuthRejection;
    let public: std::net::SocketAddr = "0.0.0.0:0".parse().unwrap();
    let refused = Shop::builder().serve_http(public).await.unwrap_err();
    assert!(matches!(refused, ServeError::Unprotected(address) if address == public));
    let said = refused.to_string();
    assert!(said.contains("with_authenticate") && said.contains("with_allowed_hosts"), "{said}");
    let hosts = HttpServerOptions::default().with_allowed_hosts(["mcp.example.org"]);
    let authenticated = HttpServerOptions::default()
        .with_authenticate(|_: &http::request::Parts| Err(AuthRejection::no_token()));
    for options in [hosts, authenticated] {
        let mut serving =
            std::pin::pin!(Shop::builder().serve_http(HttpServeConfig::new(public).options(options)));
        let polled = tokio::time::timeout(std::time::Duration::from_millis(50), &mut serving).await;
        assert!(polled.is_err(), "it serves");
    }
}
