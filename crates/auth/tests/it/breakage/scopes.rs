//! `resource` and scopes on every leg: authorization, token, refresh.

use serde_json::json;
use switchboard_auth::{OAuthOptions, ResourceParameter, Scopes};

use crate::authorization_server::{AuthorizationServer, Fault};
use crate::client::{TestClient, open, preset};

/// Logs in and refreshes once, and returns a parameter of each leg.
async fn legs(server: &AuthorizationServer, options: OAuthOptions, name: &str) -> Vec<Option<String>> {
    let client = TestClient::with_browser(server, options);
    assert_eq!(client.request().await.unwrap(), 200);
    server.expire();
    assert_eq!(client.request().await.unwrap(), 200);
    assert_eq!(server.refreshes(), 1);
    server.sent("/authorize", name).into_iter().chain(server.sent("/token", name)).collect()
}

fn scopes(text: &str) -> OAuthOptions {
    OAuthOptions::default().with_scopes(Scopes::parse(text))
}

#[tokio::test]
async fn b02_the_resource_is_on_every_leg() {
    let server = AuthorizationServer::start().await;
    let sent = legs(&server, OAuthOptions::default(), "resource").await;
    assert_eq!(sent, vec![Some(server.mcp_url()); 3]);
}

#[tokio::test]
async fn b02_the_resource_can_be_another_on_every_leg() {
    let server = AuthorizationServer::start().await;
    let value = ResourceParameter::Value("api://notes".to_owned());
    let sent = legs(&server, OAuthOptions::default().with_resource(value), "resource").await;
    assert_eq!(sent, vec![Some("api://notes".to_owned()); 3]);
}

#[tokio::test]
async fn b02_the_resource_can_be_omitted_on_every_leg() {
    let server = AuthorizationServer::with_faults([Fault::RejectsResource]).await;
    let options = scopes("api://notes/.default").with_resource(ResourceParameter::Omit);
    assert_eq!(legs(&server, options, "resource").await, [const { None }; 3]);
}

#[tokio::test]
async fn b02_the_resource_is_never_omitted_silently() {
    let server = AuthorizationServer::with_faults([Fault::RejectsResource]).await;
    let error = TestClient::with_browser(&server, scopes("api://notes/.default")).failure().await;
    assert_eq!(error.code(), Some("invalid_target"), "{error:?}");
    assert_eq!(server.requests_for("/authorize").len(), 1, "no second attempt without it");
    assert!(error.to_string().contains("AADSTS9010010"), "{error}");
}

#[tokio::test]
async fn b03_scopes_are_on_every_leg() {
    let server = AuthorizationServer::with_faults([Fault::RequiresScope]).await;
    let sent = legs(&server, scopes("api://notes/.default offline_access"), "scope").await;
    assert_eq!(sent, vec![Some("api://notes/.default offline_access".to_owned()); 3]);
}

#[tokio::test]
async fn b03_scopes_survive_a_restart() {
    let server = AuthorizationServer::with_faults([Fault::RequiresScope]).await;
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("auth");
    let options = preset("tester").with_scopes(Scopes::parse("notes.read"));
    let first = TestClient::with_browser(&server, options).with_store(open(&directory));
    assert_eq!(first.request().await.unwrap(), 200);
    server.expire();
    // Another process, which was told nothing about scopes.
    assert_eq!(TestClient::new(server.mcp_address(), open(&directory)).request().await.unwrap(), 200);
    assert_eq!(server.sent("/token", "scope"), vec![Some("notes.read".to_owned()); 2]);
}

#[tokio::test]
async fn b13_scopes_that_are_not_granted_are_replaced_by_fewer() {
    let listed = || Fault::ResourceMember("scopes_supported", json!(["read", "write", "admin"]));
    let offline = || Fault::ServerMember("scopes_supported", json!(["offline_access"]));
    let challenge = |scope: &str| Fault::Challenge(format!("Bearer scope=\"{scope}\""));
    for (faults, expected) in [
        // Everything that is listed, then none, because the challenge names none.
        (vec![listed(), Fault::GrantsOnly(&[])], vec![Some("read write admin"), None]),
        // The challenge with offline access, then the challenge.
        (
            vec![challenge("read"), offline(), Fault::GrantsOnly(&["read"])],
            vec![Some("read offline_access"), Some("read")],
        ),
        // The challenge with offline access, the challenge, none.
        (
            vec![challenge("read"), offline(), Fault::GrantsOnly(&[])],
            vec![Some("read offline_access"), Some("read"), None],
        ),
    ] {
        let server = AuthorizationServer::with_faults(faults.clone()).await;
        let client = TestClient::with_browser(&server, OAuthOptions::default());
        assert_eq!(client.request().await.unwrap(), 200, "{faults:?}");
        let sent = server.sent("/authorize", "scope");
        assert_eq!(sent.iter().map(Option::as_deref).collect::<Vec<_>>(), expected, "{faults:?}");
    }
}
