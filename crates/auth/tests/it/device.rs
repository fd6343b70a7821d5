//! Logins by device code (RFC 8628).

use std::sync::{Arc, Mutex};

use serde_json::json;
use switchboard_auth::{
    AuthError, CallbackError, DeviceChannel, DevicePrompt, DpopPolicy, MemoryStore, OAuthAuthorizer,
    OAuthOptions, Scopes, TokenStore,
};
use switchboard_http::{BoxFuture, HttpClient, HttpClientOptions};

use crate::scripted_server::ScriptedServer;

const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Keeps the prompts that were shown.
#[derive(Default)]
struct Display {
    prompts: Mutex<Vec<DevicePrompt>>,
}

impl DeviceChannel for Display {
    fn show<'a>(&'a self, prompt: &'a DevicePrompt) -> BoxFuture<'a, Result<(), AuthError>> {
        self.prompts.lock().unwrap().push(prompt.clone());
        Box::pin(async { Ok(()) })
    }
}

/// Returns a server that supports device codes, without answers of its token endpoint.
async fn device_server() -> ScriptedServer {
    let server = ScriptedServer::start().await;
    server.extend_metadata(&json!({"device_authorization_endpoint": server.url("/device")}));
    let answer = json!({
        "device_code": "dev1ce", "user_code": "WDJB-MJHT", "verification_uri": server.url("/activate"),
        "verification_uri_complete": server.url("/activate?user_code=WDJB-MJHT"), "expires_in": 120, "interval": 2,
    });
    server.queue("/device", "200 OK", &[], &answer);
    server
}

fn pending(server: &ScriptedServer, code: &str) {
    server.queue("/token", "400 Bad Request", &[], &json!({"error": code}));
}

fn authorizer(server: &ScriptedServer, options: OAuthOptions) -> OAuthAuthorizer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    OAuthAuthorizer::new(http, server.address(), options)
}

#[tokio::test]
async fn a_device_login_polls_at_the_pace_of_the_server_and_stores_the_grant() {
    let server = device_server().await;
    pending(&server, "authorization_pending");
    pending(&server, "slow_down");
    let answer =
        json!({"access_token": "good-d", "token_type": "Bearer", "refresh_token": "r", "expires_in": 60});
    server.queue("/token", "200 OK", &[], &answer);
    let options = OAuthOptions::default().with_scopes(Scopes::parse("notes:read"));
    let store = Arc::new(MemoryStore::new());
    let authorizer = authorizer(&server, options).with_store(store.clone());
    let display = Arc::new(Display::default());
    tokio::time::pause();
    let started = tokio::time::Instant::now();
    let stored = authorizer.log_in_with_device(&[], display.clone()).await.unwrap();
    // 2 s, 2 s, and 2 + 5 s after `slow_down`; the clock of the test moves for timers only.
    assert_eq!(started.elapsed().as_secs(), 11);
    assert_eq!(stored.grant.access_token.expose(), "good-d");
    assert_eq!(store.list().await.unwrap().len(), 1);

    let [prompt] = display.prompts.lock().unwrap().clone().try_into().unwrap();
    assert_eq!((prompt.user_code.as_str(), prompt.expires_in.as_secs()), ("WDJB-MJHT", 120));
    assert_eq!(prompt.verification_uri, server.url("/activate"));
    assert_eq!(prompt.verification_uri_complete, Some(server.url("/activate?user_code=WDJB-MJHT")));

    let [asked] = server.forms("/device").try_into().unwrap();
    assert_eq!((asked["client_id"].as_str(), asked["scope"].as_str()), ("registered", "notes:read"));
    assert_eq!(asked["resource"], server.url("/mcp"));
    let polls = server.forms("/token");
    assert_eq!(polls.len(), 3);
    for poll in polls {
        assert_eq!((poll["grant_type"].as_str(), poll["device_code"].as_str()), (DEVICE_CODE, "dev1ce"));
        assert_eq!(
            (poll["client_id"].as_str(), poll["resource"].as_str()),
            ("registered", &*server.url("/mcp"))
        );
    }
    let [registration] = server.requests("/register").try_into().unwrap();
    assert!(
        registration.contains(DEVICE_CODE) && registration.contains(r#""redirect_uris":[]"#),
        "{registration}"
    );
}

#[tokio::test]
async fn a_device_login_proves_its_key_and_keeps_its_client() {
    let server = device_server().await;
    server.queue("/token", "400 Bad Request", &["dpop-nonce: n1"], &json!({"error": "use_dpop_nonce"}));
    server.queue("/token", "200 OK", &[], &json!({"access_token": "good-d", "token_type": "DPoP"}));
    let authorizer = authorizer(&server, OAuthOptions::default().with_dpop(DpopPolicy::Always));
    tokio::time::pause();
    for _ in 0..2 {
        let stored = authorizer.log_in_with_device(&[], Arc::new(Display::default())).await.unwrap();
        assert!(stored.grant.dpop_key.is_some());
    }
    let polls = server.requests("/token");
    assert!(polls.iter().all(|poll| poll.contains("\r\ndpop: ")), "{polls:?}");
    assert_eq!((polls.len(), server.requests("/register").len()), (3, 1));
}

#[tokio::test]
async fn a_denied_or_expired_code_ends_the_login() {
    for code in ["access_denied", "expired_token", "never answered"] {
        let server = device_server().await;
        pending(&server, "authorization_pending");
        if code != "never answered" {
            pending(&server, code);
        }
        tokio::time::pause();
        let login = authorizer(&server, OAuthOptions::default());
        let error = login.log_in_with_device(&[], Arc::new(Display::default())).await.unwrap_err();
        match code {
            "access_denied" => {
                assert!(matches!(&error, AuthError::Callback(CallbackError::Denied(_))), "{error:?}")
            }
            _ => assert!(matches!(&error, AuthError::LoginAborted(_)), "{error:?}"),
        }
        let polls = server.requests("/token").len();
        // One poll each 2 s of 120 s, and none at the end.
        assert_eq!(polls, if code == "never answered" { 59 } else { 2 });
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_server_without_device_codes_is_named() {
    let server = ScriptedServer::start().await;
    let login = authorizer(&server, OAuthOptions::default());
    let error = login.log_in_with_device(&[], Arc::new(Display::default())).await.unwrap_err();
    assert!(
        matches!(&error, AuthError::DeviceUnsupported { issuer } if *issuer == server.url("")),
        "{error:?}"
    );
    assert!(server.requests("/register").is_empty(), "no client is registered for nothing");
}

#[tokio::test]
async fn a_channel_that_fails_ends_the_login() {
    struct Broken;
    impl DeviceChannel for Broken {
        fn show<'a>(&'a self, _: &'a DevicePrompt) -> BoxFuture<'a, Result<(), AuthError>> {
            Box::pin(async { Err(AuthError::LoginAborted("no terminal".to_owned())) })
        }
    }
    let server = device_server().await;
    let login = authorizer(&server, OAuthOptions::default());
    let error = login.log_in_with_device(&[], Arc::new(Broken)).await.unwrap_err();
    assert!(error.to_string().contains("no terminal"), "{error}");
    assert!(server.requests("/token").is_empty());
}
