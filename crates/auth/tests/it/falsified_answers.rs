//! An authorization server that answers with something else than it should: no answer is trusted further than it goes.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_auth::{AuthError, OAuthOptions};

use crate::authorization_server::{Answer, AuthorizationServer, Fault, SERVER_METADATA, TokenBehavior};
use crate::client::{TestClient, log_in, needs_login, open};

fn client(server: &AuthorizationServer) -> TestClient {
    TestClient::with_browser(server, OAuthOptions::default())
}

/// Logs in to a server whose token endpoint answers like this, and returns the error.
async fn token_failure(answer: Answer) -> AuthError {
    let server = AuthorizationServer::with_faults([Fault::At("/token", answer)]).await;
    let error = client(&server).failure().await;
    assert_eq!(server.requests_for("/token").len(), 1, "a code is presented once");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("s3cret"), "{text}");
    error
}

#[tokio::test]
async fn an_answer_that_is_no_token_is_rejected() {
    for answer in [
        Answer::Page("200 OK"),
        Answer::Page("500 Internal Server Error"),
        Answer::Status("200 OK"),
        Answer::Status("204 No Content"),
        Answer::Json("200 OK", json!({})),
        Answer::Json("200 OK", Value::Null),
        Answer::Json("200 OK", json!(["s3cret", "Bearer"])),
        Answer::Json("200 OK", json!({ "access_token": 7, "refresh_token": "s3cret" })),
        Answer::Json("200 OK", json!({ "access_token": "", "refresh_token": "s3cret" })),
    ] {
        let error = token_failure(answer.clone()).await;
        assert!(matches!(error, AuthError::Malformed { .. }), "{answer:?}: {error:?}");
    }
}

#[tokio::test]
async fn an_error_is_read_whatever_its_status() {
    let error = json!({ "error": "bad_verification_code", "error_description": "The code has expired." });
    for status in ["200 OK", "400 Bad Request", "401 Unauthorized", "500 Internal Server Error"] {
        let error = token_failure(Answer::Json(status, error.clone())).await;
        assert_eq!(error.code(), Some("bad_verification_code"), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn a_token_that_is_no_header_value_is_rejected() {
    for token in ["s3cret\r\nx-evil: 1", "s3cret\u{e9}", "s3cret\u{0}"] {
        let error = token_failure(Answer::Json("200 OK", json!({ "access_token": token }))).await;
        assert!(matches!(error, AuthError::Key { .. } | AuthError::Malformed { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_code_is_not_sent_to_another_host() {
    let other = AuthorizationServer::start().await;
    for status_path in ["/token", "/register"] {
        let fault = Fault::At(status_path, Answer::Redirect(other.url(status_path)));
        let server = AuthorizationServer::with_faults([fault]).await;
        let error = client(&server).failure().await;
        assert!(matches!(error, AuthError::Http(_)), "{error:?}");
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_document_that_never_comes_leads_to_the_next_candidate() {
    let server = AuthorizationServer::with_faults([
        Fault::At(SERVER_METADATA, Answer::Stall),
        Fault::ServerMetadataAt("/.well-known/openid-configuration"),
    ])
    .await;
    let client = client(&server);
    let request = tokio::spawn(async move { client.request().await });
    server.wait_for_stall(1).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(16)).await;
    tokio::time::resume();
    assert_eq!(request.await.unwrap().unwrap(), 200);
}

#[tokio::test]
async fn a_refresh_error_with_status_200_asks_for_a_login() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    server.expire();
    server.queue(TokenBehavior::ErrorWithStatus200("bad_refresh_token"));
    let outcome = TestClient::new(server.mcp_address(), store).request().await;
    assert!(needs_login(&outcome), "{outcome:?}");
}
