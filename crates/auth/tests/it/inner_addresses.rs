//! Servers elsewhere that name addresses on this machine or in private networks (T31).

use http::header::{HeaderMap, WWW_AUTHENTICATE};
use serde_json::json;
use switchboard_auth::{AuthError, OAuthAuthorizer, OAuthOptions};
use switchboard_http::{Address, Challenge, HttpClient, HttpClientOptions, PlainHttp};
use switchboard_testkit::{HttpScript, http_response};

use crate::scripted_server::ScriptedServer;

fn challenge(metadata: &str) -> Vec<Challenge> {
    let mut headers = HeaderMap::new();
    headers.insert(WWW_AUTHENTICATE, format!("Bearer resource_metadata=\"{metadata}\"").parse().unwrap());
    Challenge::from_headers(&headers)
}

fn authorizer(server: &str, options: OAuthOptions) -> OAuthAuthorizer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    OAuthAuthorizer::new(http, Address::parse(server, PlainHttp::LoopbackOnly).unwrap(), options)
}

#[tokio::test]
async fn t31_a_remote_server_cannot_make_the_client_connect_to_this_machine() {
    let listener = HttpScript::per_request(|_| http_response("200 OK", &[], "{}")).await;
    let port = listener.address.port();
    // An address for documentation: a server elsewhere, to which nobody connects.
    let authorizer = authorizer("https://192.0.2.1/mcp", OAuthOptions::default());
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "2130706433",
        "0x7f.1",
        "127.1",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::ffff:10.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
    ] {
        for scheme in ["https", "http"] {
            let url = format!("{scheme}://{host}:{port}/meta");
            // Without metadata the defaults of 2025-03-26 are assumed, at the server itself.
            let found = authorizer.discover(&challenge(&url)).await.unwrap();
            assert!(found.is_assumed);
            let failure = found.attempts[0].failure.clone().unwrap();
            let is_refused = failure.contains("must not be called") || failure.contains("cannot be resolved");
            assert!(is_refused, "{url}: {failure}");
        }
    }
    assert_eq!(listener.log.connections(), 0);
}

#[tokio::test]
async fn t31_a_server_on_this_machine_may_name_this_machine_in_any_notation() {
    let server = ScriptedServer::start().await;
    let port = server.address().port();
    let resource = json!({"resource": server.url("/mcp"), "authorization_servers": [server.url("")]});
    server.queue("/meta", "200 OK", &[], &resource);
    let authorizer = authorizer(server.address().as_str(), OAuthOptions::default());
    let found = authorizer.discover(&challenge(&format!("http://localhost:{port}/meta"))).await.unwrap();
    assert_eq!(found.attempts[0].failure, None);
}

#[tokio::test]
async fn t31_a_configured_url_may_be_further_inside_than_the_server() {
    let server = ScriptedServer::start().await;
    let url = server.url("/.well-known/oauth-authorization-server");
    let options = OAuthOptions::default().with_server_metadata_url(&url);
    let found = authorizer("https://192.0.2.1/mcp", options).discover(&[]).await.unwrap();
    assert_eq!(found.server.issuer, server.url(""));
    // Not if the server itself names it.
    let error = authorizer("https://192.0.2.1/mcp", OAuthOptions::default()).log_in(&challenge(&url)).await;
    assert!(matches!(error, Err(AuthError::NeedsLogin)), "{error:?}");
    assert_eq!(server.requests("/.well-known/oauth-authorization-server").len(), 1);
}
