//! Answers of token endpoints: types, sizes, refused scopes, quoted secrets, and late nonces.

use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderMap, WWW_AUTHENTICATE};
use serde_json::{Value, json};
use switchboard_auth::{
    AuthError, DpopPolicy, GrantMethod, OAuthAuthorizer, OAuthClient, OAuthOptions, Scopes, StoredGrant,
    TokenKind,
};
use switchboard_http::{Challenge, HttpClient, HttpClientOptions, HttpError, Secret};
use switchboard_testkit::{HttpScript, http_response, read_request};
use tokio::io::AsyncWriteExt;

use crate::scripted_login::{FIXED_REDIRECT_URI, ScriptedChannel, ScriptedLogin, UserAction};
use crate::scripted_server::ScriptedServer;

const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";

fn challenges(values: &[&str]) -> Vec<Challenge> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(WWW_AUTHENTICATE, value.parse().unwrap());
    }
    Challenge::from_headers(&headers)
}

fn authorizer(server: &ScriptedServer, login: &Arc<ScriptedLogin>, options: OAuthOptions) -> OAuthAuthorizer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    OAuthAuthorizer::new(http, server.address(), options)
        .with_login(Arc::new(ScriptedChannel(Arc::clone(login))))
}

/// Logs in at a server whose token endpoint answers like this.
async fn log_in(answer: &Value, options: OAuthOptions, asked: &[&str]) -> Result<StoredGrant, AuthError> {
    let server = ScriptedServer::start().await;
    server.queue("/token", "200 OK", &[], answer);
    let login = ScriptedLogin::new(UserAction::Agree);
    authorizer(&server, &login, options).log_in(&challenges(asked)).await
}

#[tokio::test]
async fn a_token_is_of_the_type_that_was_requested() {
    let answer = |kind: Option<&str>| match kind {
        Some(kind) => json!({"access_token": "good", "token_type": kind}),
        None => json!({"access_token": "good"}),
    };
    for kind in [Some("Bearer"), Some("bearer"), None] {
        let stored = log_in(&answer(kind), OAuthOptions::default(), &[]).await.unwrap();
        assert_eq!(stored.grant.kind, TokenKind::Bearer, "{kind:?}");
    }
    let required = OAuthOptions::default().with_dpop(DpopPolicy::Always);
    for kind in ["DPoP", "dpop"] {
        let stored = log_in(&answer(Some(kind)), required.clone(), &[]).await.unwrap();
        assert!(stored.grant.kind == TokenKind::Dpop && stored.grant.dpop_key.is_some());
    }
    for (kind, options, asked) in [
        (Some("DPoP"), OAuthOptions::default(), &[][..]),
        (Some("mac"), OAuthOptions::default(), &[]),
        (Some("N_A"), OAuthOptions::default(), &[]),
        (Some(""), OAuthOptions::default(), &[]),
        (Some("Bearer"), required.clone(), &[]),
        (None, required.clone(), &[]),
        (Some("Bearer"), OAuthOptions::default(), &["DPoP"]),
    ] {
        let error = log_in(&answer(kind), options, asked).await.unwrap_err();
        assert!(matches!(error, AuthError::TokenType { .. }), "{kind:?}: {error:?}");
    }
    // A server that takes both is content with either.
    let stored = log_in(&answer(Some("Bearer")), OAuthOptions::default(), &["Bearer, DPoP"]).await.unwrap();
    assert!(stored.grant.kind == TokenKind::Bearer && stored.grant.dpop_key.is_none());
}

#[tokio::test]
async fn sizes_of_what_is_kept_are_bounded() {
    const KIB: usize = 1024;
    let token = |name: &str, size: usize| {
        let mut answer = json!({"access_token": "good", "token_type": "Bearer"});
        answer[name] = json!("x".repeat(size));
        answer
    };
    for (name, limit) in [("access_token", 16 * KIB), ("refresh_token", 16 * KIB), ("scope", 8 * KIB)] {
        log_in(&token(name, limit), OAuthOptions::default(), &[]).await.unwrap();
        let error = log_in(&token(name, limit + 1), OAuthOptions::default(), &[]).await.unwrap_err();
        let AuthError::TooLarge { size, limit: found, .. } = error else { panic!("{name}: {error:?}") };
        assert_eq!((size, found), (limit + 1, limit), "{name}");
    }
    let challenge = format!("Bearer scope=\"{}\"", "x".repeat(8 * KIB + 1));
    let error = log_in(&token("scope", 1), OAuthOptions::default(), &[&challenge]).await.unwrap_err();
    assert!(matches!(error, AuthError::TooLarge { what: "list of scopes", .. }), "{error:?}");

    for (path, body) in [
        ("/register", json!({"client_id": "x".repeat(2 * KIB + 1)})),
        ("/register", json!({"client_id": "c", "client_secret": "x".repeat(2 * KIB + 1)})),
    ] {
        let server = ScriptedServer::start().await;
        server.queue(path, "201 Created", &[], &body);
        let login = ScriptedLogin::new(UserAction::Agree);
        let error = authorizer(&server, &login, OAuthOptions::default()).log_in(&[]).await.unwrap_err();
        assert!(matches!(error, AuthError::TooLarge { limit: 2048, .. }), "{error:?}");
    }
    for member in ["token_endpoint", "authorization_endpoint", "registration_endpoint"] {
        let server = ScriptedServer::start().await;
        server.extend_metadata(&json!({ member: server.url(&format!("/{}", "x".repeat(2 * KIB))) }));
        let login = ScriptedLogin::new(UserAction::Agree);
        let error = authorizer(&server, &login, OAuthOptions::default()).log_in(&[]).await.unwrap_err();
        assert!(matches!(error, AuthError::TooLarge { limit: 2048, .. }), "{member}: {error:?}");
    }
}

#[tokio::test]
async fn t36_a_server_that_quotes_the_request_shows_no_secret() {
    let server = ScriptedServer::start().await;
    let body = json!({"error": "invalid_grant", "error_description": "code c0de of s3cret-value, YzE6czNjcmV0LXZhbHVl, is bad"});
    server.queue("/token", "400 Bad Request", &[], &body);
    let client = OAuthClient::with_secret("c1", Secret::new("s3cret-value"));
    let login = ScriptedLogin::new(UserAction::Agree);
    let authorizer = authorizer(&server, &login, OAuthOptions::default().with_client(client));
    let error = authorizer.log_in(&[]).await.unwrap_err();
    assert_eq!(error.code(), Some("invalid_grant"));
    assert!(error.to_string().contains("code •••• of ••••, ••••, is bad"), "{error}");
}

fn scopes_of<'a>(
    requests: impl IntoIterator<Item = &'a std::collections::HashMap<String, String>>,
) -> Vec<String> {
    requests.into_iter().map(|request| request.get("scope").cloned().unwrap_or_default()).collect()
}

#[tokio::test]
async fn b13_refused_scopes_are_replaced_by_those_of_the_challenge_and_then_by_none() {
    let server = ScriptedServer::start().await;
    let metadata = json!({
        "resource": server.url("/mcp"), "authorization_servers": [server.url("")], "scopes_supported": ["a", "b"],
    });
    server.queue(RESOURCE, "200 OK", &[], &metadata);
    let login = ScriptedLogin::new(UserAction::Agree);
    let refuse = |times| *login.errors.lock().unwrap() = vec!["invalid_scope"; times];

    // All that are listed, and none.
    refuse(1);
    let automatic = authorizer(&server, &login, OAuthOptions::default());
    let stored = automatic.log_in(&[]).await.unwrap();
    assert_eq!(stored.grant.requested_scopes, Scopes::default());
    assert_eq!(scopes_of(&login.requests()), ["a b", ""]);

    // What the user has configured is not replaced.
    refuse(1);
    let configured = authorizer(&server, &login, OAuthOptions::default().with_scopes(Scopes::parse("c")));
    assert_eq!(configured.log_in(&[]).await.unwrap_err().code(), Some("invalid_scope"));
    assert_eq!(scopes_of(&login.requests()), ["a b", "", "c"]);

    // The error of the last try counts.
    refuse(3);
    assert_eq!(automatic.log_in(&[]).await.unwrap_err().code(), Some("invalid_scope"));
}

#[tokio::test]
async fn b13_a_step_up_falls_back_to_the_scopes_of_the_challenge_and_then_to_none() {
    let server = ScriptedServer::start().await;
    let challenge = r#"www-authenticate: Bearer error="insufficient_scope", scope="write""#;
    server.queue("/mcp", "401 Unauthorized", &[r#"www-authenticate: Bearer scope="read""#], &json!({}));
    server.queue("/mcp", "200 OK", &[], &json!({}));
    server.queue("/mcp", "403 Forbidden", &[challenge], &json!({}));
    server.queue("/mcp", "200 OK", &[], &json!({}));
    let login = ScriptedLogin::new(UserAction::Agree);
    let authorizer = authorizer(&server, &login, OAuthOptions::default());
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    let send = async || {
        let request = switchboard_http::Request::new(http::Method::GET, server.address());
        http.send_authorized(request, &authorizer).await.unwrap().status.as_u16()
    };
    assert_eq!(send().await, 200);
    *login.errors.lock().unwrap() = vec!["invalid_scope", "invalid_scope"];
    assert_eq!(send().await, 200);
    assert_eq!(scopes_of(&login.requests()), ["read", "read write", "write", ""]);
}

#[tokio::test]
async fn b13_refused_scopes_are_replaced_without_a_user_too() {
    let server = ScriptedServer::start().await;
    for _ in 0..2 {
        server.queue("/token", "400 Bad Request", &[], &json!({"error": "invalid_scope"}));
    }
    server.queue("/token", "200 OK", &[], &json!({"access_token": "good", "token_type": "Bearer"}));
    let client = OAuthClient::with_secret("c1", Secret::new("s3cret"));
    let options = OAuthOptions::default().with_client(client).with_grant(GrantMethod::ClientCredentials);
    let login = ScriptedLogin::new(UserAction::Wait);
    server.extend_metadata(&json!({"scopes_supported": ["offline_access"]}));
    let asked = challenges(&[r#"Bearer scope="read""#]);
    authorizer(&server, &login, options).log_in(&asked).await.unwrap();
    assert_eq!(scopes_of(&server.forms("/token")), ["read offline_access", "read", ""]);
}

#[tokio::test]
async fn b05_a_refused_redirect_uri_of_a_metadata_document_is_tried_with_the_fixed_port() {
    const DOCUMENT: &str = "https://client.example/client.json";
    let server = ScriptedServer::start().await;
    server.extend_metadata(&json!({"client_id_metadata_document_supported": true}));
    let login = ScriptedLogin::new(UserAction::Agree);
    let by_document = authorizer(&server, &login, OAuthOptions::default().with_metadata_document(DOCUMENT));
    *login.errors.lock().unwrap() = vec!["invalid_request"];
    by_document.log_in(&[]).await.unwrap();
    let requests = login.requests();
    let uris: Vec<_> = requests.iter().map(|request| request["redirect_uri"].as_str()).collect();
    assert_eq!(uris, ["http://127.0.0.1:1/callback", FIXED_REDIRECT_URI]);
    assert!(requests.iter().all(|request| request["client_id"] == DOCUMENT));
    assert_eq!(server.forms("/token")[0]["redirect_uri"], FIXED_REDIRECT_URI);

    // Once only, and for no other client.
    *login.errors.lock().unwrap() = vec!["invalid_request"; 2];
    assert_eq!(by_document.log_in(&[]).await.unwrap_err().code(), Some("invalid_request"));
    assert_eq!(login.pages(), 4);
    *login.errors.lock().unwrap() = vec!["invalid_request"];
    let registered = authorizer(&server, &login, OAuthOptions::default());
    assert_eq!(registered.log_in(&[]).await.unwrap_err().code(), Some("invalid_request"));
    assert_eq!(login.pages(), 5);
}

/// A token endpoint that takes 30 s for each answer, and wants a nonce first.
#[tokio::test]
async fn a_second_request_for_a_nonce_stays_within_the_time_of_the_first() {
    let script = HttpScript::per_connection(|mut stream, log| async move {
        while let Some(request) = read_request(&mut stream).await {
            log.add(&request);
            let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
            let metadata =
                json!({"issuer": format!("http://{host}"), "token_endpoint": format!("http://{host}/token")});
            let response = match request.split(' ').nth(1).unwrap_or_default() {
                "/.well-known/oauth-authorization-server" => {
                    http_response("200 OK", &[], metadata.to_string())
                }
                "/token" => {
                    tokio::time::sleep(Duration::from_secs(30)).await;
                    let error = json!({"error": "use_dpop_nonce"}).to_string();
                    http_response("400 Bad Request", &["dpop-nonce: n"], error)
                }
                _ => http_response("404 Not Found", &[], ""),
            };
            if stream.write_all(&response).await.is_err() {
                return;
            }
        }
    })
    .await;
    let client = OAuthClient::with_secret("c1", Secret::new("s3cret"));
    let options = OAuthOptions::default()
        .with_client(client)
        .with_grant(GrantMethod::ClientCredentials)
        .with_dpop(DpopPolicy::Always);
    let server =
        switchboard_http::Address::parse(&script.url("/mcp"), switchboard_http::PlainHttp::LoopbackOnly);
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    let authorizer = OAuthAuthorizer::new(http, server.unwrap(), options);
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let error = authorizer.log_in(&[]).await.unwrap_err();
    assert!(matches!(error, AuthError::Http(HttpError::Timeout { .. })), "{error:?}");
    // The clock of the test moves for timers only.
    assert_eq!(begun.elapsed().as_secs(), 45);
}
