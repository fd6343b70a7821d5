//! What every request of a login carries.

use switchboard_auth::OAuthOptions;

use crate::authorization_server::AuthorizationServer;
use crate::client::TestClient;

#[tokio::test]
async fn b22_every_request_names_its_user_agent() {
    let server = AuthorizationServer::start().await;
    let client = TestClient::with_browser(&server, OAuthOptions::default());
    assert_eq!(client.request().await.unwrap(), 200);
    server.expire();
    assert_eq!(client.request().await.unwrap(), 200);
    client.authorizer.log_out().await.unwrap();
    let requests = server.requests();
    for path in [
        "/mcp",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/register",
        "/token",
        "/revoke",
    ] {
        assert!(requests.iter().any(|request| request.path == path), "{path}");
    }
    // The browser is not ours.
    for request in requests.iter().filter(|request| request.path != "/authorize") {
        let agent = request.header("user-agent").unwrap_or_default();
        assert!(agent.starts_with("switchboard/"), "{}: {agent:?}", request.path);
    }
}
