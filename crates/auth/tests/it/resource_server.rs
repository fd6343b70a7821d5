//! A resource server against an authorization server on loopback.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use switchboard_auth::{ApiKeys, OAuthClient, ResourceServer, ResourceVerifier, Scopes, SignatureAlgorithm};
use switchboard_http::{
    HttpClient, HttpClientOptions, PresentedToken, Secret, VerifiedCaller, Verifier, VerifyError,
};

use crate::issuer::{Issuer, IssuerKey, RESOURCE, unix_now};

fn settings(issuer: &Issuer) -> ResourceServer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    ResourceServer::new(RESOURCE).issuer(issuer.url()).http_client(http)
}

async fn verify(verifier: &ResourceVerifier, token: &str) -> Result<Arc<VerifiedCaller>, VerifyError> {
    verifier.verify(PresentedToken::new(token, &Method::POST, &HeaderMap::new())).await
}

/// Returns the reason why a token is invalid.
async fn rejection(verifier: &ResourceVerifier, token: &str) -> String {
    match verify(verifier, token).await {
        Err(VerifyError::InvalidToken { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

/// Advances the clock of the caches. The sockets need the real one.
async fn advance(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_signed_token_names_its_caller() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let verifier = settings(&issuer).build().unwrap();
    let caller = verify(&verifier, &key.sign(&issuer.claims())).await.unwrap();
    assert_eq!((caller.subject.as_str(), caller.client_id.as_deref()), ("ada", Some("app")));
    assert_eq!(
        (caller.issuer.as_deref(), &*caller.scopes),
        (Some(&*issuer.url()), &["notes:read".to_owned()][..])
    );
    let claims: Value = serde_json::from_str(&caller.claims).unwrap();
    assert_eq!(claims, with(issuer.claims(), "exp", claims["exp"].clone()));
    // Discovery and keys are fetched once.
    for number in 0..20 {
        let token = key.sign(&with(issuer.claims(), "jti", json!(number)));
        verify(&verifier, &token).await.unwrap();
    }
    assert_eq!((issuer.count("/jwks"), issuer.script.log.requests().len()), (1, 2));
}

#[tokio::test]
async fn tokens_of_others_and_for_others_are_rejected() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let verifier = settings(&issuer).build().unwrap();
    let claims = issuer.claims();
    let valid = key.sign(&claims);
    let (message, signature) = valid.rsplit_once('.').unwrap();
    let payload = message.split_once('.').unwrap().1;
    let unsigned = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"k1"}"#);
    let logout_token = key.private.sign_claims("logout+jwt", &claims).unwrap().expose().to_owned();
    for (token, reason) in [
        (key.sign(&with(claims.clone(), "aud", json!("https://other.example.org"))), "audience"),
        (key.sign(&with(claims.clone(), "iss", json!("https://evil.example.org"))), "issuer"),
        (key.sign(&with(claims.clone(), "exp", json!(unix_now() - 120))), "expired"),
        (IssuerKey::new("k1").sign(&claims), "signature"),
        (format!("{unsigned}.{payload}."), "algorithm"),
        (format!("{unsigned}.{payload}.{signature}"), "algorithm"),
        (key.sign_symmetrically(&claims), "algorithm"),
        (logout_token, "not an access token"),
        ("opaque".to_owned(), "malformed"),
        ("a".repeat(20_000), "too long"),
        ("sbk_0123456789ab_x".to_owned(), "malformed"),
    ] {
        let found = rejection(&verifier, &token).await;
        assert!(found.contains(reason), "{reason}: {found}");
        assert!(!found.contains(&token));
    }
    let narrow = settings(&issuer).algorithms([SignatureAlgorithm::EdDsa]).build().unwrap();
    assert!(rejection(&narrow, &valid).await.contains("algorithm"));
    let renamed = settings(&issuer).audience("api://notes").build().unwrap();
    let renamed_claims = with(claims.clone(), "aud", json!("api://notes"));
    verify(&renamed, &key.sign(&renamed_claims)).await.unwrap();

    // ID tokens, and tokens whose type does not say what they are.
    assert!(
        rejection(&verifier, &key.sign(&with(claims.clone(), "nonce", json!("n"))))
            .await
            .contains("ID token")
    );
    let mut id_token = with(renamed_claims, "client_id", json!("api://notes"));
    id_token.as_object_mut().unwrap().remove("scope");
    assert!(rejection(&renamed, &key.sign(&id_token)).await.contains("ID token"));
    let strict = settings(&issuer).require_at_jwt().build().unwrap();
    assert!(rejection(&strict, &valid).await.contains("at+jwt"));
    let typed = key.private.sign_claims("at+jwt", &claims).unwrap();
    verify(&strict, typed.expose()).await.unwrap();
}

#[tokio::test]
async fn rotated_keys_are_fetched_once_per_30_seconds() {
    let (old, new, newest) = (IssuerKey::new("k1"), IssuerKey::new("k2"), IssuerKey::new("k3"));
    let issuer = Issuer::start(&[&old]).await;
    let verifier = Arc::new(settings(&issuer).build().unwrap());
    verify(&verifier, &old.sign(&issuer.claims())).await.unwrap();
    issuer.set_keys(&[&old, &new]);
    // Many requests with the new key at once, and one fetch.
    let requests: Vec<_> = (0..20)
        .map(|number| {
            let (verifier, token) =
                (Arc::clone(&verifier), new.sign(&with(issuer.claims(), "jti", json!(number))));
            tokio::spawn(async move { verify(&verifier, &token).await.map(|_| ()) })
        })
        .collect();
    for request in requests {
        assert_eq!(request.await.unwrap(), Ok(()));
    }
    assert_eq!(issuer.count("/jwks"), 2);
    // A flood of tokens with unknown keys causes no fetch before its time.
    issuer.set_keys(&[&old, &new, &newest]);
    for number in 0..20 {
        let token = IssuerKey::new(&format!("unknown {number}")).sign(&issuer.claims());
        assert!(rejection(&verifier, &token).await.contains("unknown key"));
    }
    assert!(rejection(&verifier, &newest.sign(&issuer.claims())).await.contains("unknown key"));
    assert_eq!(issuer.count("/jwks"), 2);
    advance(30).await;
    verify(&verifier, &newest.sign(&issuer.claims())).await.unwrap();
    assert_eq!(issuer.count("/jwks"), 3);
}

#[tokio::test]
async fn stale_keys_are_used_while_the_issuer_is_down() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    issuer.answers.lock().unwrap().cache_control = Some("max-age=300".to_owned());
    let verifier = settings(&issuer).build().unwrap();
    let token = |number: u32| key.sign(&with(issuer.claims(), "jti", json!(number)));
    verify(&verifier, &token(0)).await.unwrap();
    advance(299).await;
    verify(&verifier, &token(1)).await.unwrap();
    assert_eq!(issuer.count("/jwks"), 1);
    issuer.set_broken();
    advance(1).await;
    for number in 2..6 {
        verify(&verifier, &token(number)).await.unwrap();
    }
    assert_eq!(issuer.count("/jwks"), 2, "a failed fetch is not repeated at once");
    // A removed key is no longer accepted once the issuer is back.
    issuer.set_keys(&[&IssuerKey::new("k2")]);
    advance(5).await;
    assert!(rejection(&verifier, &token(6)).await.contains("unknown key"));
    assert_eq!(issuer.count("/.well-known/oauth-authorization-server"), 2, "the keys may have moved");
}

#[tokio::test]
async fn stale_keys_expire_after_a_day() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let verifier = settings(&issuer).build().unwrap();
    verify(&verifier, &key.sign(&issuer.claims())).await.unwrap();
    issuer.set_broken();
    advance(600 + 24 * 3600).await;
    let outcome = verify(&verifier, &key.sign(&with(issuer.claims(), "jti", json!(1)))).await;
    assert!(matches!(outcome, Err(VerifyError::Unavailable { .. })), "{outcome:?}");
}

#[tokio::test]
async fn without_keys_nobody_can_say_whether_a_token_is_valid() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    issuer.set_broken();
    let verifier = Arc::new(settings(&issuer).build().unwrap());
    let requests: Vec<_> = (0..20)
        .map(|_| {
            let (verifier, token) = (Arc::clone(&verifier), key.sign(&issuer.claims()));
            tokio::spawn(async move { verify(&verifier, &token).await })
        })
        .collect();
    for request in requests {
        assert!(matches!(request.await.unwrap(), Err(VerifyError::Unavailable { .. })));
    }
    assert_eq!(issuer.count("/jwks"), 1);
    issuer.set_keys(&[&key]);
    advance(5).await;
    verify(&verifier, &key.sign(&issuer.claims())).await.unwrap();
}

#[tokio::test]
async fn a_configured_key_set_needs_no_discovery() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let verifier = settings(&issuer).jwks_url(issuer.script.url("/jwks")).build().unwrap();
    verify(&verifier, &key.sign(&issuer.claims())).await.unwrap();
    assert_eq!(issuer.script.log.requests().len(), 1, "nothing is discovered");
}

#[tokio::test]
async fn opaque_tokens_are_introspected_and_cached_for_a_minute() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let client = OAuthClient::with_secret("notes", Secret::new("s3cret"));
    let verifier = settings(&issuer).introspection(issuer.script.url("/introspect"), client).build().unwrap();
    let answer = |answer: Value| issuer.answers.lock().unwrap().introspection = Some(answer);
    let active = with(issuer.claims(), "active", json!(true));

    answer(active.clone());
    for _ in 0..3 {
        let caller = verify(&verifier, "token-1").await.unwrap();
        assert_eq!((caller.subject.as_str(), &*caller.scopes), ("ada", &["notes:read".to_owned()][..]));
    }
    assert_eq!(issuer.count("/introspect"), 1);
    let request = issuer.script.log.requests().pop().unwrap();
    assert!(request.contains("authorization: Basic bm90ZXM6czNjcmV0"), "{request}");
    assert!(request.ends_with("\r\n\r\ntoken=token-1&token_type_hint=access_token"), "{request}");

    // Revoked: the cache forgets after a minute.
    answer(json!({ "active": false }));
    verify(&verifier, "token-1").await.unwrap();
    advance(60).await;
    assert!(rejection(&verifier, "token-1").await.contains("not active"));

    // The rejection is remembered for five seconds.
    answer(active.clone());
    let asked = issuer.count("/introspect");
    for _ in 0..20 {
        assert!(rejection(&verifier, "token-1").await.contains("not active"));
    }
    assert_eq!(issuer.count("/introspect"), asked);
    advance(5).await;
    verify(&verifier, "token-1").await.unwrap();

    for (introspected, reason) in [
        (with(active.clone(), "aud", json!("https://other.example.org")), "audience"),
        (json!({ "active": true, "sub": "ada" }), "audience"),
        (with(active.clone(), "exp", json!(unix_now() - 120)), "expired"),
        (with(active.clone(), "iss", json!("https://evil.example.org")), "issuer"),
    ] {
        answer(introspected);
        let found = rejection(&verifier, &format!("token-{reason}")).await;
        assert!(found.contains(reason), "{reason}: {found}");
    }
    for broken in [Some(json!({})), Some(json!("x")), None] {
        issuer.answers.lock().unwrap().introspection = broken;
        assert!(matches!(verify(&verifier, "token-2").await, Err(VerifyError::Unavailable { .. })));
    }
    // An outage is not remembered.
    answer(active.clone());
    verify(&verifier, "token-2").await.unwrap();
    // Signed tokens do not need the endpoint.
    verify(&verifier, &key.sign(&issuer.claims())).await.unwrap();
}

#[tokio::test]
async fn api_keys_are_a_second_scheme() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let mut keys = ApiKeys::default();
    let api_key = keys.create("ci", Scopes::parse("notes:read"), None);
    let verifier = settings(&issuer).api_keys(keys.clone()).build().unwrap();
    let caller = verify(&verifier, api_key.expose()).await.unwrap();
    assert_eq!((caller.issuer.as_deref(), &*caller.scopes), (None, &["notes:read".to_owned()][..]));
    assert!(caller.claims.contains("\"ci\""));
    assert!(rejection(&verifier, "sbk_0123456789ab_x").await.contains("API key"));
    verify(&verifier, &key.sign(&issuer.claims())).await.unwrap();
    // API keys alone, without any authorization server.
    let verifier = ResourceServer::new(RESOURCE).api_keys(keys).build().unwrap();
    verify(&verifier, api_key.expose()).await.unwrap();
    assert!(rejection(&verifier, &key.sign(&issuer.claims())).await.contains("not an API key"));
}

#[tokio::test]
async fn no_token_or_key_is_printed() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let client = OAuthClient::with_secret("notes", Secret::new("s3cret"));
    let mut keys = ApiKeys::default();
    let api_key = keys.create("ci", Scopes::default(), None);
    let settings = settings(&issuer).introspection(issuer.script.url("/introspect"), client).api_keys(keys);
    let printed = format!("{settings:?}");
    let verifier = settings.build().unwrap();
    let token = key.sign(&issuer.claims());
    verify(&verifier, &token).await.unwrap();
    let printed = format!("{printed} {verifier:?}");
    for secret in ["s3cret", token.as_str(), api_key.expose(), "\"ada\""] {
        assert!(!printed.contains(secret), "{secret}: {printed}");
    }
}
