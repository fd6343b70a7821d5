//! Discovery, step by step: the URLs that were tried, also when it fails.

use serde_json::json;
use switchboard_auth::{AuthError, DocumentKind, OAuthAuthorizer, OAuthOptions};
use switchboard_http::{HttpClient, HttpClientOptions};

use crate::scripted_server::ScriptedServer;

const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
const SERVER: &str = "/.well-known/oauth-authorization-server";

fn authorizer(server: &ScriptedServer) -> OAuthAuthorizer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    OAuthAuthorizer::new(http, server.address(), OAuthOptions::default())
}

#[tokio::test]
async fn discovery_names_each_url_and_its_outcome() {
    let server = ScriptedServer::start().await;
    let found = authorizer(&server).discover(&[]).await.unwrap();
    let steps: Vec<_> = found.attempts.iter().map(|step| (step.document, step.url.clone())).collect();
    let expected = [
        (DocumentKind::ProtectedResource, server.url(RESOURCE)),
        (DocumentKind::AuthorizationServer, server.url(SERVER)),
    ];
    assert_eq!(steps, expected);
    assert!(found.attempts.iter().all(|step| step.failure.is_none()));
}

#[tokio::test]
async fn every_failure_of_discovery_has_the_urls_that_were_tried() {
    let origin = |server: &ScriptedServer| server.url("");
    // Another resource.
    let server = ScriptedServer::start().await;
    server.queue(RESOURCE, "200 OK", &[], &json!({"resource": "https://evil.example/mcp"}));
    let error = authorizer(&server).discover(&[]).await.unwrap_err();
    assert!(matches!(error, AuthError::ResourceMismatch { .. }), "{error:?}");
    let [step] = error.attempts() else { panic!("{error:?}") };
    assert!(step.failure.as_ref().unwrap().contains("evil.example"), "{step}");

    // Another issuer.
    let server = ScriptedServer::start().await;
    server.queue(SERVER, "200 OK", &[], &json!({"issuer": "https://evil.example"}));
    let error = authorizer(&server).discover(&[]).await.unwrap_err();
    assert!(matches!(error, AuthError::IssuerMismatch { .. }), "{error:?}");
    let failures: Vec<_> = error.attempts().iter().map(|step| step.failure.is_some()).collect();
    assert_eq!(failures, [false, true, true]);

    // No metadata of the issuer.
    let server = ScriptedServer::start().await;
    server.queue(SERVER, "500 Internal Server Error", &[], &json!({}));
    let error = authorizer(&server).discover(&[]).await.unwrap_err();
    assert!(matches!(error, AuthError::Discovery { .. }), "{error:?}");
    assert_eq!(error.attempts().len(), 3);

    // An issuer that must not be called.
    let server = ScriptedServer::start().await;
    let metadata =
        json!({"resource": format!("{}/mcp", origin(&server)), "authorization_servers": ["ftp://x.example"]});
    server.queue(RESOURCE, "200 OK", &[], &metadata);
    let error = authorizer(&server).discover(&[]).await.unwrap_err();
    assert!(matches!(error, AuthError::ForbiddenUrl { .. }), "{error:?}");
    let [_, step] = error.attempts() else { panic!("{error:?}") };
    assert_eq!(step.url, "ftp://x.example");
    assert!(AuthError::NeedsLogin.attempts().is_empty());
}
