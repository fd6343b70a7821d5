//! Enterprise-managed authorization: the identity provider decides.

use serde_json::{Value, json};
use switchboard_auth::{EnterpriseManaged, GrantMethod, OAuthClient};
use switchboard_http::{AuthorizeError, HttpError, Secret};

use crate::authorization_server::{Answer, AuthorizationServer, Fault};
use crate::client::{TestClient, preset};

/// The token endpoint of the identity provider.
const PROVIDER: &str = "/identity-provider";

/// Returns a fault by which the identity provider issues an assertion.
fn provider_agrees() -> Fault {
    let answer = json!({
        "access_token": "assertion", "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    });
    Fault::At(PROVIDER, Answer::Json("200 OK", answer))
}

/// Returns a client with a browser, which must not be used.
fn client(server: &AuthorizationServer) -> TestClient {
    let at_provider = OAuthClient::public("employee-app");
    let settings = EnterpriseManaged::new(server.url(PROVIDER), at_provider, Secret::new("id-token"));
    TestClient::with_browser(server, preset("tester").with_grant(GrantMethod::EnterpriseManaged(settings)))
}

#[tokio::test]
async fn b20_a_denial_is_final() {
    let denial = |code: &str| json!({ "error": code, "error_description": "policy 7" });
    for (faults, code) in [
        (vec![Fault::At(PROVIDER, Answer::Json("403 Forbidden", denial("access_denied")))], "access_denied"),
        (
            vec![Fault::At(PROVIDER, Answer::Json("400 Bad Request", denial("invalid_grant")))],
            "invalid_grant",
        ),
        // The authorization server of the MCP server does not accept the assertion.
        (
            vec![
                provider_agrees(),
                Fault::At("/token", Answer::Json("400 Bad Request", denial("invalid_grant"))),
            ],
            "invalid_grant",
        ),
    ] {
        let server = AuthorizationServer::with_faults(faults).await;
        let outcome = client(&server).request().await;
        let Err(HttpError::Authorize(AuthorizeError::BlockedByAdmin { code: found, .. })) = &outcome else {
            panic!("{code}: {outcome:?}")
        };
        assert_eq!(found, code);
        assert!(server.requests_for("/authorize").is_empty(), "{code}: no login page instead");
    }
}

#[tokio::test]
async fn b20_a_misconfigured_client_leads_to_no_login_page_either() {
    let server =
        AuthorizationServer::with_faults([provider_agrees(), Fault::UnknownClientAt("/token")]).await;
    let outcome = client(&server).request().await;
    assert!(matches!(outcome, Err(HttpError::Authorize(_))), "{outcome:?}");
    assert!(server.requests_for("/authorize").is_empty());
}

#[tokio::test]
async fn b20_an_outage_of_the_provider_is_no_denial() {
    let unavailable = json!({ "error": "temporarily_unavailable" });
    for answer in [
        Answer::Page("503 Service Unavailable"),
        Answer::Page("502 Bad Gateway"),
        Answer::Json("503 Service Unavailable", unavailable),
    ] {
        let server = AuthorizationServer::with_faults([Fault::At(PROVIDER, answer.clone())]).await;
        let error = client(&server).failure().await;
        assert!(error.is_transient(), "{answer:?}: {error:?}");
        assert!(server.requests_for("/authorize").is_empty());
        // The same client succeeds afterwards.
        server.set_faults([provider_agrees()]);
        assert_eq!(client(&server).request().await.unwrap(), 200);
    }
}

#[tokio::test]
async fn b21_an_assertion_names_the_issuer_and_the_resource_of_the_metadata() {
    for (listed, named, resource) in [
        ("{origin}", "{origin}", "{origin}/mcp"),
        // The origin behind a proxy, and an issuer that is listed with a slash.
        ("{origin}/", "{origin}", "{origin}"),
        ("{origin}", "{origin}/", "{origin}/"),
    ] {
        let server = AuthorizationServer::with_faults([
            provider_agrees(),
            Fault::ResourceMember("authorization_servers", json!([listed])),
            Fault::ResourceMember("resource", json!(resource)),
            Fault::ServerMember("issuer", json!(named)),
        ])
        .await;
        assert_eq!(client(&server).request().await.unwrap(), 200);
        let text = |text: &str| Some(text.replace("{origin}", &server.url("")));
        assert_eq!(server.sent(PROVIDER, "audience"), [text(named)]);
        assert_eq!(server.sent(PROVIDER, "resource"), [text(resource)]);
        assert_eq!(server.sent(PROVIDER, "subject_token"), [Some("id-token".to_owned())]);
        assert_eq!(server.sent("/token", "assertion"), [Some("assertion".to_owned())]);
        assert_eq!(server.sent("/token", "resource"), [text(resource)]);
    }
}

#[tokio::test]
async fn b21_another_token_than_an_assertion_is_not_passed_on() {
    let answer = json!({
        "access_token": "a", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
    });
    let server =
        AuthorizationServer::with_faults([Fault::At(PROVIDER, Answer::Json("200 OK", answer))]).await;
    let outcome = client(&server).request().await;
    assert!(matches!(outcome, Err(HttpError::Authorize(_))), "{outcome:?}");
    assert!(server.requests_for("/token").is_empty());
    assert_eq!(server.requests_for(PROVIDER)[0].parameters["audience"], Value::from(server.url("")));
}
