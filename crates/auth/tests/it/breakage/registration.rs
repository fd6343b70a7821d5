//! Clients: registered by hand, by a metadata document, dynamically.

use serde_json::{Value, json};
use switchboard_auth::{
    AuthError, FIXED_CALLBACK_PORT, OAuthClient, OAuthOptions, PkcePolicy, client_metadata_document,
};
use switchboard_http::{AuthorizeError, HttpError, Secret};

use crate::authorization_server::{Answer, AuthorizationServer, Fault};
use crate::client::{REDIRECT_URI, TestClient};

const DOCUMENT: &str = "https://client.example/switchboard.json";

fn supports_documents() -> Fault {
    Fault::ServerMember("client_id_metadata_document_supported", json!(true))
}

fn with_document() -> OAuthOptions {
    OAuthOptions::default().with_metadata_document(DOCUMENT)
}

#[tokio::test]
async fn b04_without_registration_the_error_says_what_to_paste() {
    let refusal = |status, body| Fault::At("/register", Answer::Json(status, body));
    for fault in [
        Fault::ServerMember("registration_endpoint", Value::Null),
        // Endpoints that are listed and closed to the public.
        refusal(
            "401 Unauthorized",
            json!({ "errorCode": "E0000011", "errorSummary": "Invalid token provided" }),
        ),
        refusal(
            "403 Forbidden",
            json!({ "error": "insufficient_scope", "error_description": "Host not trusted." }),
        ),
        Fault::At("/register", Answer::Status("404 Not Found")),
        Fault::At("/register", Answer::Page("403 Forbidden")),
    ] {
        let server = AuthorizationServer::with_faults([fault.clone()]).await;
        let client = TestClient::with_browser(&server, OAuthOptions::default());
        let outcome = client.request().await;
        let Err(HttpError::Authorize(AuthorizeError::NeedsClientRegistration { issuer, redirect_uri })) =
            &outcome
        else {
            panic!("{fault:?}: {outcome:?}")
        };
        assert_eq!((issuer, redirect_uri.as_deref()), (&server.url(""), Some(REDIRECT_URI)), "{fault:?}");
        let text = client.authorizer.log_in(&[]).await.unwrap_err().to_string();
        for part in [&*server.url(""), REDIRECT_URI, "--client-id ID", "--client-secret-env NAME"] {
            assert!(text.contains(part), "{fault:?}: {text}");
        }
        assert!(server.requests_for("/authorize").is_empty());
    }
}

#[tokio::test]
async fn b04_a_rejected_registration_is_reported_as_it_is() {
    let body = json!({ "error": "invalid_redirect_uri", "error_description": "loopback is not allowed" });
    let fault = Fault::At("/register", Answer::Json("400 Bad Request", body));
    let server = AuthorizationServer::with_faults([fault]).await;
    let error = TestClient::with_browser(&server, OAuthOptions::default()).failure().await;
    assert_eq!(error.code(), Some("invalid_redirect_uri"));
    assert!(error.to_string().contains("loopback is not allowed"), "{error}");
}

#[tokio::test]
async fn b04_a_client_of_ones_own_needs_no_registration() {
    let without = || Fault::ServerMember("registration_endpoint", Value::Null);
    let methods = |methods: Value| Fault::ServerMember("token_endpoint_auth_methods_supported", methods);
    for (faults, is_basic) in [
        (vec![without()], true),
        (vec![without(), methods(json!(["client_secret_post", "client_secret_basic"]))], true),
        (vec![without(), methods(json!(["client_secret_post"]))], false),
    ] {
        let server = AuthorizationServer::with_faults(faults).await;
        let client = OAuthClient::with_secret("0oa1", Secret::new("s3cret"));
        let options = OAuthOptions::default().with_client(client);
        assert_eq!(TestClient::with_browser(&server, options).request().await.unwrap(), 200);
        let token = &server.requests_for("/token")[0];
        assert_eq!(
            (server.requests_for("/authorize")[0].client_id(), token.client_id()),
            ("0oa1".into(), "0oa1".into())
        );
        let sent = (token.header("authorization"), token.parameter("client_secret"));
        assert_eq!(sent, if is_basic { (Some("Basic MG9hMTpzM2NyZXQ="), "") } else { (None, "s3cret") });
    }
}

#[tokio::test]
async fn b05_a_server_that_compares_ports_accepts_the_port_of_the_document() {
    let document = client_metadata_document(DOCUMENT, "Switchboard");
    let faults = [supports_documents(), Fault::ComparesRedirect(document)];
    let server = AuthorizationServer::with_faults(faults).await;
    assert_eq!(TestClient::with_browser(&server, with_document()).request().await.unwrap(), 200);
    let fixed = format!("http://127.0.0.1:{FIXED_CALLBACK_PORT}/callback");
    let expected = [Some(REDIRECT_URI.to_owned()), Some(fixed.clone())];
    assert_eq!(server.sent("/authorize", "redirect_uri"), expected);
    assert_eq!(server.sent("/token", "redirect_uri"), [Some(fixed)]);
}

#[tokio::test]
async fn b06_a_metadata_document_is_the_client_on_every_leg() {
    let server = AuthorizationServer::with_faults([supports_documents()]).await;
    let client = TestClient::with_browser(&server, with_document());
    assert_eq!(client.request().await.unwrap(), 200);
    server.expire();
    assert_eq!(client.request().await.unwrap(), 200);
    client.authorizer.log_out().await.unwrap();
    for (path, count) in [("/authorize", 1), ("/token", 2), ("/revoke", 2)] {
        assert_eq!(server.sent(path, "client_id"), vec![Some(DOCUMENT.to_owned()); count], "{path}");
    }
    assert!(server.requests_for("/register").is_empty());
}

#[tokio::test]
async fn b06_a_client_that_the_token_endpoint_does_not_know_is_reported() {
    let faults = [supports_documents(), Fault::UnknownClientAt("/token")];
    let server = AuthorizationServer::with_faults(faults).await;
    let error = TestClient::with_browser(&server, with_document()).failure().await;
    let AuthError::Endpoint { url, error } = &error else { panic!("{error:?}") };
    assert_eq!((url, error.code.as_str()), (&server.url("/token"), "invalid_client"));
    assert_eq!(server.requests_for("/authorize").len(), 1, "the user is asked once");
    assert!(server.requests_for("/register").is_empty(), "and no other client is registered");
}

#[tokio::test]
async fn b11_a_server_that_does_not_list_s256_is_refused() {
    for methods in [Value::Null, json!([]), json!(["plain"])] {
        let fault = Fault::ServerMember("code_challenge_methods_supported", methods.clone());
        let server = AuthorizationServer::with_faults([fault]).await;
        let error = TestClient::with_browser(&server, OAuthOptions::default()).failure().await;
        assert!(matches!(error, AuthError::PkceUnsupported { .. }), "{methods}: {error:?}");
        for path in ["/register", "/authorize", "/token"] {
            assert!(server.requests_for(path).is_empty(), "{path}");
        }
    }
}

#[tokio::test]
async fn b11_s256_can_be_assumed() {
    let fault = Fault::ServerMember("code_challenge_methods_supported", Value::Null);
    let server = AuthorizationServer::with_faults([fault]).await;
    let options = OAuthOptions::default().with_pkce(PkcePolicy::Assume);
    assert_eq!(TestClient::with_browser(&server, options).request().await.unwrap(), 200);
    assert_eq!(server.sent("/authorize", "code_challenge_method"), [Some("S256".to_owned())]);
    assert_eq!(server.sent("/token", "code_verifier")[0].as_ref().map(String::len), Some(43));
}
