//! Proxies: used, refused, broken, gone around where they must (F106, T47).

use switchboard_http::{ConnectKind, HttpClient, HttpClientOptions, HttpError, Proxies};
use switchboard_testkit::{HttpScript, http_response, ok_response, read_request};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use crate::requests::{SHORT, post, send, text};
use crate::tls::Authority;

fn through(proxy: &str) -> HttpClientOptions {
    let proxy = proxy.to_owned();
    HttpClientOptions::default()
        .with_proxies(Proxies::from_lookup(|name| (name == "all_proxy").then(|| proxy.clone())))
}

fn kind(error: &HttpError, proxy: &str) -> ConnectKind {
    let HttpError::Connect { host, kind, .. } = error else { panic!("{error:?}") };
    assert_eq!(host, proxy, "the proxy is named");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    *kind
}

#[tokio::test]
async fn plain_requests_are_handed_to_the_proxy_whole() {
    let proxy = HttpScript::per_request(|_| ok_response("proxied")).await;
    let client = HttpClient::new(through(&format!("http://user:s3cret@{}", proxy.address))).unwrap();
    for _ in 0..2 {
        let request = post("http://far.example:8080/mcp?x=1", "body");
        assert_eq!(text(send(&client, request).await.unwrap()).await, "proxied");
    }
    assert_eq!(proxy.log.connections(), 1);
    let request = proxy.log.requests().remove(0).to_ascii_lowercase();
    assert!(request.starts_with("post http://far.example:8080/mcp?x=1 http/1.1\r\n"), "{request}");
    assert!(request.contains("host: far.example:8080\r\n"), "{request}");
    assert!(request.contains("proxy-authorization: basic dxnlcjpzm2nyzxq=\r\n"), "{request}");
    assert!(!format!("{client:?}").contains("s3cret"));
}

#[tokio::test]
async fn secure_requests_go_through_a_tunnel() {
    let authority = Authority::new();
    let acceptor = authority.acceptor("far.example", &[], |_| {});
    let proxy = HttpScript::per_connection(move |mut stream, log| {
        let acceptor = acceptor.clone();
        async move {
            log.add(&read_request(&mut stream).await.unwrap());
            stream.write_all(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n").await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            log.add(&read_request(&mut stream).await.unwrap());
            stream.write_all(&ok_response("tunnelled")).await.unwrap();
        }
    })
    .await;
    let options = through(&format!("http://user:s3cret@{}", proxy.address)).with_extra_roots(authority.pem());
    let client = HttpClient::new(options).unwrap();
    let response = send(&client, post("https://far.example/mcp", "body")).await.unwrap();
    assert_eq!(text(response).await, "tunnelled");
    let requests = proxy.log.requests();
    assert_eq!(
        requests[0],
        "CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\n\
         Proxy-Authorization: Basic dXNlcjpzM2NyZXQ=\r\n\r\n"
    );
    let inner = requests[1].to_ascii_lowercase();
    assert!(inner.starts_with("post /mcp http/1.1\r\n") && !inner.contains("proxy-"), "{inner}");
}

#[tokio::test]
async fn a_proxy_that_says_no() {
    let cases = [
        ("407 Proxy Authentication Required", "https", ConnectKind::ProxyCredentials),
        ("407 Proxy Authentication Required", "http", ConnectKind::ProxyCredentials),
        ("502 Bad Gateway", "https", ConnectKind::Proxy),
        ("403 Forbidden", "https", ConnectKind::Proxy),
    ];
    for (status, scheme, expected) in cases {
        let proxy = HttpScript::per_request(move |_| http_response(status, &[], b"go away")).await;
        let client = HttpClient::new(through(&format!("http://user:s3cret@{}", proxy.address))).unwrap();
        let request = post(format!("{scheme}://far.example/"), "x");
        let error = send(&client, request).await.unwrap_err();
        assert_eq!(kind(&error, &proxy.address.to_string()), expected, "{status} over {scheme}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_dead_silent_or_something_else() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nobody = socket.local_addr().unwrap().to_string();
    let hangs_up = HttpScript::per_connection(|mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
    })
    .await;
    let silent = HttpScript::per_request(|_| Vec::new()).await;
    let endless =
        HttpScript::per_request(|_| [b"HTTP/1.1 200 OK\r\n", "x: y\r\n".repeat(5000).as_bytes()].concat())
            .await;
    let other = HttpScript::per_request(|_| b"220 ftp ready\r\n\r\n".to_vec()).await;
    let servers = [&hangs_up, &silent, &endless, &other].map(|server| server.address.to_string());
    for proxy in servers.into_iter().chain([nobody]) {
        let options = through(&format!("http://user:s3cret@{proxy}")).with_connect_timeout(SHORT);
        let client = HttpClient::new(options).unwrap();
        let error = send(&client, post("https://far.example/", "x")).await.unwrap_err();
        assert_eq!(kind(&error, &proxy), ConnectKind::Proxy);
        assert!(error.is_unsent());
    }
    let client = HttpClient::new(through("socks5://user:s3cret@127.0.0.1:1080")).unwrap();
    let error = send(&client, post("https://far.example/", "x")).await.unwrap_err();
    assert_eq!(kind(&error, "127.0.0.1:1080"), ConnectKind::ProxyKind);
}

#[tokio::test]
async fn this_machine_is_reached_without_the_proxy() {
    let proxy = HttpScript::per_request(|_| ok_response("proxied")).await;
    let server = HttpScript::per_request(|_| ok_response("direct")).await;
    let client = HttpClient::new(through(&format!("http://{}", proxy.address))).unwrap();
    assert_eq!(text(send(&client, post(server.url("/"), "x")).await.unwrap()).await, "direct");
    assert_eq!(proxy.log.connections(), 0);
}
