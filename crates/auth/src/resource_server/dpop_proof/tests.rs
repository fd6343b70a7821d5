//! Proofs of our own client are accepted once; every other one is rejected with its reason.

use http::HeaderValue;
use serde_json::{Value, json};
use switchboard_http::{Secret, TokenScheme};

use super::*;
use crate::dpop::DpopKey;
use crate::jws::{EcJwk, JwtHeader, SigningKey, unix_now};

const URL: &str = "https://notes.example.org/team/mcp";
const TOKEN: &str = "the-token";

fn address(url: &str) -> Address {
    Address::parse(url, PlainHttp::LoopbackOnly).unwrap()
}

/// Checks proofs for a POST with the token.
fn check(verifier: &ProofVerifier, proofs: &[&str], thumbprint: &str, path: &str) -> Result<(), VerifyError> {
    let mut headers = HeaderMap::new();
    for proof in proofs {
        headers.append("dpop", HeaderValue::from_str(proof).unwrap());
    }
    let presented = PresentedToken::new(TOKEN, &Method::POST, &headers);
    verifier.check(presented.with_path(path).with_scheme(TokenScheme::Dpop), thumbprint, unix_now())
}

fn reason(outcome: Result<(), VerifyError>) -> String {
    outcome.unwrap_err().to_string()
}

/// A key whose proofs can be falsified.
struct Prover {
    key: SigningKey,
    jwk: EcJwk,
}

impl Prover {
    fn new() -> Self {
        let (key, _) = SigningKey::generate_es256();
        let jwk = key.ec_jwk().unwrap();
        Self { key, jwk }
    }

    fn claims() -> Value {
        let id = crate::random::random_token();
        json!({ "jti": id.expose(), "htm": "POST", "htu": URL, "iat": unix_now(), "ath": sha256(TOKEN) })
    }

    /// Returns a proof with changed claims; a `null` removes one.
    fn proof(&self, change: &Value) -> String {
        let mut claims = Self::claims();
        for (name, value) in change.as_object().unwrap() {
            match value {
                Value::Null => _ = claims.as_object_mut().unwrap().remove(name),
                value => claims[name] = value.clone(),
            }
        }
        self.sign("dpop+jwt", "ES256", Some(&self.jwk), &claims)
    }

    fn sign(&self, typ: &str, alg: &str, jwk: Option<&EcJwk>, claims: &Value) -> String {
        let header = JwtHeader { typ, alg, kid: None, jwk };
        self.key.sign(&header, claims).unwrap().expose().to_owned()
    }
}

#[test]
fn a_proof_of_our_client_is_accepted_once() {
    let verifier = DpopVerification::required().into_verifier(address(URL));
    let key = DpopKey::generate();
    let proof = key.proof(&Method::POST, &address(&format!("{URL}?x=1")), Some(&Secret::new(TOKEN))).unwrap();
    let send = || check(&verifier, &[proof.expose()], &key.thumbprint(), "/mcp");
    assert_eq!(send(), Ok(()));
    assert!(reason(send()).contains("used before"));
    let stolen = check(&verifier, &[proof.expose()], &DpopKey::generate().thumbprint(), "/mcp");
    assert!(reason(stolen).contains("another key"));
}

#[test]
fn a_client_learns_the_nonce_and_succeeds() {
    let verifier = DpopVerification::optional().with_nonces().into_verifier(address(URL));
    let key = DpopKey::generate();
    let proof = || key.proof(&Method::POST, &address(URL), Some(&Secret::new(TOKEN))).unwrap();
    let send = || check(&verifier, &[proof().expose()], &key.thumbprint(), "/mcp");
    let Err(VerifyError::NonceRequired { nonce }) = send() else { panic!("a nonce is demanded") };
    let mut headers = HeaderMap::new();
    headers.insert("dpop-nonce", HeaderValue::from_str(&nonce).unwrap());
    assert!(key.observe_nonce(&address(URL), &headers));
    assert_eq!(send(), Ok(()));
    assert_eq!(send(), Ok(()));
}

#[test]
fn the_url_is_the_public_one_whatever_the_path_behind_a_proxy() {
    let verifier = DpopVerification::required().into_verifier(address(URL));
    let prover = Prover::new();
    for (htu, path, is_accepted) in [
        (URL, "/mcp", true),
        (URL, "/team/mcp", true),
        ("HTTPS://Notes.Example.org:443/team/mcp?query#fragment", "/mcp", true),
        ("https://notes.example.org/team/rpc", "/rpc", true),
        ("https://notes.example.org/team/rpc", "/team/rpc", true),
        ("https://notes.example.org/team/rpc", "/other", false),
        ("https://notes.example.org/team/mcp/", "/mcp", false),
        ("http://notes.example.org/team/mcp", "/mcp", false),
        ("https://notes.example.org:8443/team/mcp", "/mcp", false),
        ("https://evil.example.org/team/mcp", "/mcp", false),
        ("/team/mcp", "/mcp", false),
        ("", "/mcp", false),
    ] {
        let proof = prover.proof(&json!({ "htu": htu }));
        let outcome = check(&verifier, &[&proof], &prover.jwk.thumbprint(), path);
        assert_eq!(outcome.is_ok(), is_accepted, "{htu} {path} {outcome:?}");
    }
}

#[test]
fn falsified_proofs_are_rejected_with_their_reason() {
    let verifier = DpopVerification::required().into_verifier(address(URL));
    let prover = Prover::new();
    let now = unix_now();
    let send = |proofs: &[&str]| check(&verifier, proofs, &prover.jwk.thumbprint(), "/mcp");
    for (change, expected) in [
        (json!({ "htm": "GET" }), "htm"),
        (json!({ "htm": "post" }), "htm"),
        (json!({ "ath": null }), "ath"),
        (json!({ "ath": sha256("another token") }), "ath"),
        (json!({ "iat": now - 120 }), "iat"),
        (json!({ "iat": now + 120 }), "iat"),
        (json!({ "iat": "now" }), "malformed"),
        (json!({ "iat": null }), "malformed"),
        (json!({ "jti": null }), "malformed"),
        (json!({ "jti": "" }), "jti"),
        (json!({ "jti": "x".repeat(257) }), "jti"),
        (json!({ "htu": null }), "malformed"),
    ] {
        let error = reason(send(&[&prover.proof(&change)]));
        assert!(error.contains(expected), "{change} {error}");
    }
    let claims = Prover::claims();
    let valid = prover.proof(&json!({}));
    for (proofs, expected) in [
        (vec![], "missing"),
        (vec![valid.clone(), prover.proof(&json!({}))], "two of them"),
        (vec!["x".repeat(9000)], "too long"),
        (vec!["not a proof".to_owned()], "one part"),
        (vec![prover.sign("JWT", "ES256", Some(&prover.jwk), &claims)], "type"),
        (vec![prover.sign("dpop+jwt", "HS256", Some(&prover.jwk), &claims)], "algorithm"),
        (vec![prover.sign("dpop+jwt", "none", Some(&prover.jwk), &claims)], "algorithm"),
        (vec![prover.sign("dpop+jwt", "ES384", Some(&prover.jwk), &claims)], "no usable public key"),
        (vec![prover.sign("dpop+jwt", "ES256", None, &claims)], "no usable public key"),
        // Signed by another key than the header has.
        (vec![prover.sign("dpop+jwt", "ES256", Some(&Prover::new().jwk), &claims)], "signature"),
    ] {
        let proofs: Vec<&str> = proofs.iter().map(String::as_str).collect();
        let error = reason(send(&proofs));
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert_eq!(send(&[&valid]), Ok(()));
}

#[test]
fn a_proof_with_a_private_key_is_rejected() {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let prover = Prover::new();
    let verifier = DpopVerification::required().into_verifier(address(URL));
    let (_, rest) =
        prover.proof(&json!({})).split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    for member in ["d", "k", "p"] {
        let mut jwk = json!(prover.jwk);
        jwk[member] = json!("AAAA");
        let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk });
        let proof = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()));
        let outcome = check(&verifier, &[&proof], &prover.jwk.thumbprint(), "/mcp");
        assert!(reason(outcome).contains("private key"), "{member}");
    }
}
