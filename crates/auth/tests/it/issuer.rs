//! An authorization server on loopback: metadata, keys and introspection, each as the test wants it.

use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};
use switchboard_auth::{SignatureAlgorithm, SigningKey};
use switchboard_testkit::{HttpScript, http_response};

/// The resource that tokens are issued for.
pub(crate) const RESOURCE: &str = "https://notes.example.org/mcp";

/// A P-256 key with its id.
pub(crate) struct IssuerKey {
    pub(crate) private: SigningKey,
    pub(crate) public: Value,
}

impl IssuerKey {
    pub(crate) fn new(id: &str) -> Self {
        let der =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        let private =
            SigningKey::from_pkcs8(der.as_ref(), SignatureAlgorithm::Es256).unwrap().with_key_id(id);
        Self { public: private.public_jwk(), private }
    }

    /// Signs claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.private.sign_claims("JWT", claims).unwrap().expose().to_owned()
    }

    /// Returns a token whose HMAC has the public key as its secret.
    pub(crate) fn sign_symmetrically(&self, claims: &Value) -> String {
        let encode = |text: String| URL_SAFE_NO_PAD.encode(text);
        let header = encode(r#"{"alg":"HS256","typ":"JWT","kid":"k1"}"#.to_owned());
        let message = format!("{header}.{}", encode(claims.to_string()));
        let secret = hmac::Key::new(hmac::HMAC_SHA256, self.public.to_string().as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&secret, message.as_bytes())))
    }
}

/// What the server answers.
#[derive(Default)]
pub(crate) struct Answers {
    /// The keys; `None` for status 500.
    pub(crate) keys: Option<Vec<Value>>,
    /// The `Cache-Control` of the keys.
    pub(crate) cache_control: Option<String>,
    /// The answer of the introspection endpoint; `None` for status 500.
    pub(crate) introspection: Option<Value>,
}

pub(crate) struct Issuer {
    pub(crate) script: HttpScript,
    pub(crate) answers: Arc<Mutex<Answers>>,
}

impl Issuer {
    /// Starts a server with these keys.
    pub(crate) async fn start(keys: &[&IssuerKey]) -> Self {
        let answers = Arc::new(Mutex::new(Answers::default()));
        let (given, origin) = (Arc::clone(&answers), Arc::new(Mutex::new(String::new())));
        let known = Arc::clone(&origin);
        let script = HttpScript::per_request(move |request| {
            respond(request, &given.lock().unwrap(), &known.lock().unwrap())
        })
        .await;
        *origin.lock().unwrap() = script.url("");
        let issuer = Self { script, answers };
        issuer.set_keys(keys);
        issuer
    }

    pub(crate) fn url(&self) -> String {
        self.script.url("")
    }

    pub(crate) fn set_keys(&self, keys: &[&IssuerKey]) {
        self.answers.lock().unwrap().keys = Some(keys.iter().map(|key| key.public.clone()).collect());
    }

    pub(crate) fn set_broken(&self) {
        self.answers.lock().unwrap().keys = None;
    }

    /// Returns how often a path was requested.
    pub(crate) fn count(&self, path: &str) -> usize {
        let start = format!(" {path} ");
        self.script
            .log
            .requests()
            .iter()
            .filter(|request| request.lines().next().unwrap().contains(&start))
            .count()
    }

    /// Returns valid claims.
    pub(crate) fn claims(&self) -> Value {
        json!({
            "iss": self.url(), "aud": RESOURCE, "sub": "ada", "client_id": "app",
            "scope": "notes:read", "exp": unix_now() + 600,
        })
    }
}

pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn respond(request: &str, answers: &Answers, origin: &str) -> Vec<u8> {
    let path = request.split(' ').nth(1).unwrap();
    let found = match path {
        "/.well-known/oauth-authorization-server" => {
            Some(json!({ "issuer": origin, "jwks_uri": format!("{origin}/jwks") }))
        }
        "/jwks" => answers.keys.as_ref().map(|keys| json!({ "keys": keys })),
        "/introspect" => answers.introspection.clone(),
        _ => return http_response("404 Not Found", &[], ""),
    };
    let Some(found) = found else { return http_response("500 Internal Server Error", &[], "") };
    let cache_control = answers.cache_control.as_ref().map(|value| format!("cache-control: {value}"));
    let headers: Vec<&str> =
        ["content-type: application/json"].into_iter().chain(cache_control.as_deref()).collect();
    http_response("200 OK", &headers, found.to_string())
}
