//! Addresses that a request must not be sent to, in every notation (T31).

use http::Method;
use switchboard_http::{
    Address, AddressPolicy, ConnectKind, HttpClient, HttpClientOptions, HttpError, PlainHttp, Proxies,
    Request,
};
use switchboard_testkit::{HttpScript, ok_response};

use crate::requests::client;

fn get(host: &str, port: u16, policy: AddressPolicy) -> Request {
    let address = Address::parse(&format!("http://{host}:{port}/"), PlainHttp::Allowed).unwrap();
    Request::new(Method::GET, address).with_address_policy(policy)
}

#[tokio::test]
async fn t31_no_notation_of_this_machine_is_connected_to() {
    let server = HttpScript::per_request(|_| ok_response("secret")).await;
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "0.0.0.0",
        "0",
        "[::]",
        "10.0.0.1",
        "169.254.169.254",
        "[fd00:ec2::254]",
    ] {
        for policy in [AddressPolicy::Global, AddressPolicy::Private] {
            if policy == AddressPolicy::Private && host == "10.0.0.1" {
                continue;
            }
            let error = client().send(get(host, port, policy)).await.unwrap_err();
            let HttpError::Connect { kind, .. } = &error else { panic!("{host}: {error:?}") };
            // A name that the system does not resolve is not connected to either.
            assert!(matches!(kind, ConnectKind::Forbidden | ConnectKind::Dns), "{host}: {error:?}");
        }
    }
    assert_eq!(server.log.connections(), 0);
    // The same notations reach it where they may, so the list above is not empty words.
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "localhost"] {
        let response = client().send(get(host, port, AddressPolicy::Loopback)).await.unwrap();
        assert_eq!(response.status, 200, "{host}");
    }
    assert_eq!(server.log.connections(), 4);
}

#[tokio::test]
async fn t31_numbers_are_checked_also_behind_a_proxy() {
    let proxy = HttpScript::per_request(|_| ok_response("secret")).await;
    let proxies = Proxies::from_lookup(|name| (name == "http_proxy").then(|| proxy.url("")));
    let client = HttpClient::new(HttpClientOptions::default().with_proxies(proxies)).unwrap();
    let error = client.send(get("10.0.0.1", 80, AddressPolicy::Global)).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { kind: ConnectKind::Forbidden, .. }), "{error:?}");
    assert_eq!(proxy.log.connections(), 0);
    // The proxy resolves names, and may be anywhere itself.
    let response = client.send(get("inner.example", 80, AddressPolicy::Global)).await.unwrap();
    assert_eq!(response.status, 200);
}
