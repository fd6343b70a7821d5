//! Tokens in the shapes of Auth0, Okta, Entra and Keycloak, with the settings of `docs/login.md`: access tokens are accepted
//! with their scopes, ID tokens of the same login are not.

use http::{HeaderMap, Method};
use serde_json::{Value, json};
use switchboard_auth::ResourceServer;
use switchboard_http::{HttpClient, HttpClientOptions, PresentedToken, Verifier, VerifyError};

use crate::issuer::{Issuer, IssuerKey, RESOURCE, unix_now};

const CLIENT: &str = "11112222-3333-4444-5555-666677778888";

/// A provider: its settings, and the tokens of a login.
struct Provider {
    settings: fn(ResourceServer) -> ResourceServer,
    access_token: Value,
    id_token: Value,
    subject: &'static str,
    scopes: &'static [&'static str],
}

fn providers() -> Vec<Provider> {
    vec![
        // Auth0, with RBAC.
        Provider {
            settings: |server| server.scope_claim("permissions"),
            access_token: json!({
                "sub": "auth0|ada", "aud": [RESOURCE, "https://acme.auth0.com/userinfo"], "azp": "spa",
                "scope": "openid profile", "permissions": ["notes:read"],
            }),
            id_token: json!({ "sub": "auth0|ada", "aud": "spa", "nonce": "n", "name": "Ada" }),
            subject: "auth0|ada",
            scopes: &["openid", "profile", "notes:read"],
        },
        // Okta, a custom authorization server.
        Provider {
            settings: |server| server.audience("api://default"),
            access_token: json!({
                "ver": 1, "jti": "AT.1", "aud": "api://default", "cid": "0oa1", "uid": "00u1",
                "scp": ["openid", "notes:read"], "sub": "ada@example.org",
            }),
            id_token: json!({ "sub": "00u1", "aud": "0oa1", "amr": ["pwd"], "at_hash": "h" }),
            subject: "ada@example.org",
            scopes: &["openid", "notes:read"],
        },
        // Entra, tokens of version 2. The client is the application itself: its ID token has the same audience.
        Provider {
            settings: |server| server.audience(CLIENT).subject_claim("oid").scope_claim("roles"),
            access_token: json!({
                "aud": CLIENT, "azp": CLIENT, "azpacr": "0", "oid": "ada-oid", "sub": "pairwise",
                "scp": "notes.read", "roles": ["Notes.Admin"], "tid": "t", "ver": "2.0",
            }),
            id_token: json!({ "aud": CLIENT, "oid": "ada-oid", "sub": "pairwise", "tid": "t", "ver": "2.0" }),
            subject: "ada-oid",
            scopes: &["notes.read", "Notes.Admin"],
        },
        // Keycloak, an old version that writes the nonce into access tokens as well.
        Provider {
            settings: |server| server.scope_claim("realm_access.roles"),
            access_token: json!({
                "typ": "Bearer", "aud": [RESOURCE, "account"], "azp": "cli", "nonce": "n", "sub": "f00d",
                "scope": "openid notes:read", "realm_access": { "roles": ["editor"] },
            }),
            id_token: json!({ "typ": "ID", "aud": RESOURCE, "azp": "cli", "nonce": "n", "sub": "f00d" }),
            subject: "f00d",
            scopes: &["openid", "notes:read", "editor"],
        },
    ]
}

#[tokio::test]
async fn access_tokens_are_accepted_and_id_tokens_are_not() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    for provider in providers() {
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let server = ResourceServer::new(RESOURCE).issuer(issuer.url()).http_client(http);
        let verifier = (provider.settings)(server).build().unwrap();
        let verify = async |claims: &Value| {
            let mut claims = claims.clone();
            claims["iss"] = json!(issuer.url());
            claims["exp"] = json!(unix_now() + 600);
            let token = key.sign(&claims);
            verifier.verify(PresentedToken::new(&token, &Method::POST, &HeaderMap::new())).await
        };
        let caller = verify(&provider.access_token).await.unwrap();
        assert_eq!(caller.subject, provider.subject);
        assert_eq!(caller.scopes, provider.scopes, "{}", provider.subject);
        let outcome = verify(&provider.id_token).await;
        assert!(matches!(outcome, Err(VerifyError::InvalidToken { .. })), "{} {outcome:?}", provider.subject);
    }
}
