//! Grants by assertion: workloads without a client, and identity providers that deny or are down.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use switchboard_auth::{
    AssertionSource, AuthError, EnterpriseManaged, GrantMethod, OAuthAuthorizer, OAuthClient, OAuthOptions,
};
use switchboard_http::{HttpClient, HttpClientOptions, Secret};

use crate::issuer::IssuerKey;
use crate::scripted_server::ScriptedServer;

fn authorizer(server: &ScriptedServer, options: OAuthOptions) -> OAuthAuthorizer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    OAuthAuthorizer::new(http, server.address(), options)
}

#[tokio::test]
async fn a_workload_names_a_client_only_if_one_is_configured() {
    let server = ScriptedServer::start().await;
    let workload = || GrantMethod::JwtBearer(AssertionSource::Fixed(Secret::new("workload.j.wt")));
    let anonymous = OAuthOptions::default().with_grant(workload());
    let configured = anonymous.clone().with_client(OAuthClient::public("c1"));
    authorizer(&server, anonymous).log_in(&[]).await.unwrap();
    authorizer(&server, configured).log_in(&[]).await.unwrap();
    let forms = server.forms("/token");
    let clients: Vec<_> = forms.iter().map(|form| form.get("client_id").map(String::as_str)).collect();
    assert_eq!(clients, [None, Some("c1")]);
    assert!(forms.iter().all(|form| form["assertion"] == "workload.j.wt"));
}

#[tokio::test]
async fn the_file_of_a_workload_token_is_bounded() {
    let (server, folder) = (ScriptedServer::start().await, tempfile::tempdir().unwrap());
    let path = folder.path().join("token");
    let log_in = async |text: &str| {
        std::fs::write(&path, text).unwrap();
        let grant = GrantMethod::JwtBearer(AssertionSource::File(path.clone()));
        authorizer(&server, OAuthOptions::default().with_grant(grant)).log_in(&[]).await
    };
    log_in(" workload.j.wt\n").await.unwrap();
    assert_eq!(server.forms("/token")[0]["assertion"], "workload.j.wt");
    let error = log_in(&"x".repeat(1024 * 1024)).await.unwrap_err();
    assert!(matches!(error, AuthError::TooLarge { what: "workload token", .. }), "{error:?}");
}

/// Returns the settings of an identity provider at the path `/idp` of a server, with a client that signs.
fn enterprise(server: &ScriptedServer) -> EnterpriseManaged {
    let client = OAuthClient::with_key("idp-client", IssuerKey::new("k1").private);
    EnterpriseManaged::new(server.url("/idp"), client, Secret::new("id.t0k.en"))
}

fn options(provider: EnterpriseManaged) -> OAuthOptions {
    OAuthOptions::default()
        .with_client(OAuthClient::public("c1"))
        .with_grant(GrantMethod::EnterpriseManaged(provider))
}

fn audience(form: &HashMap<String, String>) -> Value {
    let claims = URL_SAFE_NO_PAD.decode(form["client_assertion"].split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice::<Value>(&claims).unwrap()["aud"].clone()
}

#[tokio::test]
async fn b21_an_assertion_is_addressed_to_the_identity_provider() {
    let server = ScriptedServer::start().await;
    // The type of a token that is not an access token (RFC 8693, section 2.2.1).
    server.queue("/idp", "200 OK", &[], &json!({"access_token": "j.a.g", "token_type": "N_A"}));
    authorizer(&server, options(enterprise(&server))).log_in(&[]).await.unwrap();
    let with_issuer = enterprise(&server).with_issuer("https://idp.example");
    authorizer(&server, options(with_issuer)).log_in(&[]).await.unwrap();
    let forms = server.forms("/idp");
    assert_eq!(
        forms.iter().map(audience).collect::<Vec<_>>(),
        [json!(server.url("/idp")), json!("https://idp.example")]
    );
    assert!(server.forms("/token").iter().all(|form| form["assertion"] == "j.a.g"));
}

#[tokio::test]
async fn b20_only_a_denial_is_blocked_by_an_administrator() {
    for (path, status, error, is_denial) in [
        ("/idp", "400 Bad Request", "access_denied", true),
        ("/idp", "400 Bad Request", "invalid_grant", true),
        ("/idp", "401 Unauthorized", "unauthorized_client", true),
        ("/idp", "400 Bad Request", "consent_required", true),
        ("/token", "400 Bad Request", "access_denied", true),
        ("/idp", "503 Service Unavailable", "temporarily_unavailable", false),
        ("/idp", "500 Internal Server Error", "server_error", false),
        ("/idp", "400 Bad Request", "invalid_request", false),
        ("/token", "500 Internal Server Error", "server_error", false),
    ] {
        let server = ScriptedServer::start().await;
        server.queue("/idp", "200 OK", &[], &json!({"access_token": "j.a.g", "token_type": "N_A"}));
        let server = if path == "/idp" { ScriptedServer::start().await } else { server };
        server.queue(path, status, &[], &json!({"error": error}));
        let failure = authorizer(&server, options(enterprise(&server))).log_in(&[]).await.unwrap_err();
        assert_eq!(matches!(failure, AuthError::BlockedByAdmin(_)), is_denial, "{path} {error}: {failure:?}");
        assert_eq!(failure.code(), Some(error));
        assert_eq!(
            failure.is_transient(),
            error.contains("unavailable") || error == "server_error",
            "{error}"
        );
    }
}
