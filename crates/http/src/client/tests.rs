//! Requests whose name server changes its answers.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use switchboard_testkit::{HttpScript, http_response};

use super::*;
use crate::network_scope::AddressPolicy;
use crate::resolver::NameLookup;
use crate::url::PlainHttp;

/// Returns a client whose n-th lookup has the n-th answer; the last one is repeated.
fn client(answers: &[&[&str]]) -> HttpClient {
    let answers: Vec<Vec<IpAddr>> =
        answers.iter().map(|answer| answer.iter().map(|ip| ip.parse().unwrap()).collect()).collect();
    let lookups = AtomicUsize::new(0);
    let lookup = NameLookup::Scripted(Arc::new(move |_: &str| {
        let at = lookups.fetch_add(1, Ordering::SeqCst);
        answers[at.min(answers.len() - 1)].clone()
    }));
    let options = HttpClientOptions::default();
    let tls = Tls::new(&[], options.tls_timeout).unwrap();
    let dialer = Dialer::new(tls, Proxies::none(), options.connect_timeout).with_lookup(lookup);
    let pool = Pool::new(dialer, options.idle_connection);
    HttpClient { inner: Arc::new(Inner { pool, proxies: Proxies::none(), user_agent: None }) }
}

fn address(url: &str) -> Address {
    Address::parse(url, PlainHttp::Allowed).unwrap()
}

#[tokio::test]
async fn t31_a_redirect_is_not_followed_to_an_address_that_the_policy_forbids() {
    let script = HttpScript::per_connection(|mut stream, log| async move {
        if let Some(request) = switchboard_testkit::read_request(&mut stream).await {
            log.add(&request);
            let headers = ["location: /2", "connection: close"];
            let response = http_response("307 Temporary Redirect", &headers, "");
            _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &response).await;
        }
    })
    .await;
    // The second answer also leads to the listener: on Linux, 0.0.0.0 is this machine.
    let client = client(&[&["127.0.0.1"], &["0.0.0.0"]]);
    let url = format!("http://rebound.example:{}/1", script.address.port());
    let request = Request::new(Method::GET, address(&url)).with_address_policy(AddressPolicy::Loopback);
    let error = client.send(request).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { kind: ConnectKind::Forbidden, .. }), "{error:?}");
    assert!(error.is_unsent());
    assert_eq!(script.log.connections(), 1);
}

#[tokio::test]
async fn t31_only_permitted_addresses_of_a_name_are_connected_to() {
    let script = HttpScript::per_request(|_| http_response("200 OK", &[], "")).await;
    let url = format!("http://both.example:{}/", script.address.port());
    let request = |policy| Request::new(Method::GET, address(&url)).with_address_policy(policy);
    // The forbidden one leads to the listener, too.
    let client = client(&[&["0.0.0.0"], &["0.0.0.0", "169.254.169.254"], &["0.0.0.0", "127.0.0.1"]]);
    for _ in 0..2 {
        let error = client.send(request(AddressPolicy::Loopback)).await.unwrap_err();
        assert!(matches!(error, HttpError::Connect { kind: ConnectKind::Forbidden, .. }), "{error:?}");
    }
    assert_eq!(script.log.connections(), 0);
    assert_eq!(client.send(request(AddressPolicy::Loopback)).await.unwrap().status, 200);
    // A connection of one policy is not used for another.
    assert!(client.send(request(AddressPolicy::Global)).await.is_err());
    assert_eq!(script.log.connections(), 1);
}

#[tokio::test]
async fn the_scope_of_a_server_is_the_outermost_of_its_addresses_and_does_not_move_inwards() {
    let scope = async |answers: &[&[&str]]| {
        let client = client(answers);
        let server = address("https://mcp.example/mcp");
        let first = client.network_scope(&server).await;
        assert_eq!(client.network_scope(&server).await, first, "it is kept");
        first
    };
    assert_eq!(scope(&[&["10.0.0.1"], &["1.1.1.1"]]).await, NetworkScope::Private);
    assert_eq!(scope(&[&["1.1.1.1"], &["10.0.0.1"]]).await, NetworkScope::Global);
    assert_eq!(scope(&[&["10.0.0.1", "1.1.1.1"]]).await, NetworkScope::Global);
    assert_eq!(scope(&[&["127.0.0.1"]]).await, NetworkScope::Loopback);
    assert_eq!(scope(&[&["169.254.169.254", "127.0.0.1"]]).await, NetworkScope::Global);
    assert_eq!(scope(&[&[]]).await, NetworkScope::Global);

    // It has been reached on this machine, so it is there, whatever its name server says next.
    let script = HttpScript::per_request(|_| http_response("200 OK", &[], "")).await;
    let client = client(&[&["127.0.0.1"], &["1.1.1.1"]]);
    let server = address(&format!("http://mcp.example:{}/", script.address.port()));
    client.send(Request::new(Method::GET, server.clone())).await.unwrap();
    assert_eq!(client.network_scope(&server).await, NetworkScope::Loopback);
}
