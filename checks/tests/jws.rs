//! Signatures compared with the crate `jsonwebtoken`, in both directions and with every algorithm.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderMap, Method};
use jsonwebtoken::jwk::{Jwk, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};
use switchboard::auth::{DpopVerification, ResourceServer, SignatureAlgorithm, SigningKey};
use switchboard::transport::http_client::{PresentedToken, TokenScheme, Verifier};
use switchboard_testkit::{HttpScript, http_response};

const RESOURCE: &str = "https://notes.example.org/mcp";

/// Returns a private key in PKCS#8.
fn private_key(algorithm: SignatureAlgorithm) -> Vec<u8> {
    let random = SystemRandom::new();
    let ecdsa = |curve| EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap().as_ref().to_vec();
    match algorithm {
        SignatureAlgorithm::Es256 => ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
        SignatureAlgorithm::Es384 => ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
        SignatureAlgorithm::EdDsa => {
            // PKCS#8 without the public key, the only form that the other implementation makes a JWK of.
            let mut der =
                *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20................................";
            random.fill(&mut der[16..]).unwrap();
            der.to_vec()
        }
        _ => {
            let pem = include_str!("../../crates/auth/testdata/rsa.pem");
            STANDARD.decode(pem.lines().filter(|line| !line.starts_with('-')).collect::<String>()).unwrap()
        }
    }
}

fn their_key(algorithm: SignatureAlgorithm, der: &[u8]) -> EncodingKey {
    match algorithm {
        SignatureAlgorithm::Es256 | SignatureAlgorithm::Es384 => EncodingKey::from_ec_der(der),
        SignatureAlgorithm::EdDsa => EncodingKey::from_ed_der(der),
        // The PKCS#1 key inside PKCS#8: behind 26 bytes for 2048 bits.
        _ => EncodingKey::from_rsa_der(&der[26..]),
    }
}

fn their_algorithm(algorithm: SignatureAlgorithm) -> Algorithm {
    algorithm.name().parse().unwrap()
}

fn claims(issuer: &str) -> Value {
    json!({ "iss": issuer, "aud": RESOURCE, "sub": "ada", "exp": 4_000_000_000_u64, "text": "ü \u{1F600}" })
}

#[test]
fn public_keys_are_the_same() {
    for algorithm in SignatureAlgorithm::ALL {
        let der = private_key(algorithm);
        let ours = SigningKey::from_pkcs8(&der, algorithm).unwrap().public_jwk();
        let theirs = Jwk::from_encoding_key(&their_key(algorithm, &der), their_algorithm(algorithm)).unwrap();
        let theirs = serde_json::to_value(theirs).unwrap();
        for member in ["kty", "crv", "x", "y", "n", "e", "alg"] {
            assert_eq!(ours.get(member), theirs.get(member), "{algorithm:?} {member}");
        }
    }
}

#[test]
fn the_other_implementation_verifies_our_tokens() {
    for algorithm in SignatureAlgorithm::ALL {
        let ours = SigningKey::from_pkcs8(&private_key(algorithm), algorithm).unwrap();
        let jwk: Jwk = serde_json::from_value(ours.public_jwk()).unwrap();
        let mut validation = Validation::new(their_algorithm(algorithm));
        validation.validate_aud = false;
        let token = ours.sign_claims("JWT", &claims("x")).unwrap();
        let decoded =
            jsonwebtoken::decode::<Value>(token.expose(), &DecodingKey::from_jwk(&jwk).unwrap(), &validation);
        assert_eq!(decoded.unwrap().claims, claims("x"), "{algorithm:?}");
    }
}

#[tokio::test]
async fn a_resource_server_verifies_tokens_of_the_other_implementation() {
    for algorithm in SignatureAlgorithm::ALL {
        let theirs = their_key(algorithm, &private_key(algorithm));
        let mut public =
            serde_json::to_value(Jwk::from_encoding_key(&theirs, their_algorithm(algorithm)).unwrap())
                .unwrap();
        public["kid"] = json!("k1");
        let keys = json!({ "keys": [public] }).to_string();
        let issuer = HttpScript::per_request(move |_| {
            http_response("200 OK", &["content-type: application/json"], &keys)
        })
        .await;
        let url = issuer.url("");
        let verifier =
            ResourceServer::new(RESOURCE).issuer(&url).jwks_url(issuer.url("/jwks")).build().unwrap();
        let header = Header { kid: Some("k1".into()), ..Header::new(their_algorithm(algorithm)) };
        let token = jsonwebtoken::encode(&header, &claims(&url), &theirs).unwrap();
        let (method, headers) = (Method::POST, HeaderMap::new());
        let caller = verifier.verify(PresentedToken::new(&token, &method, &headers)).await;
        assert_eq!(caller.unwrap().subject, "ada", "{algorithm:?}");
        let other = token.replace('.', ".A");
        assert!(verifier.verify(PresentedToken::new(&other, &method, &headers)).await.is_err());
    }
}

#[tokio::test]
async fn a_resource_server_verifies_proofs_of_the_other_implementation() {
    let signer = SigningKey::from_pkcs8(&private_key(SignatureAlgorithm::Es256), SignatureAlgorithm::Es256);
    let signer = signer.unwrap().with_key_id("k1");
    let keys = json!({ "keys": [signer.public_jwk()] }).to_string();
    let issuer =
        HttpScript::per_request(move |_| http_response("200 OK", &["content-type: application/json"], &keys))
            .await;
    let url = issuer.url("");
    let server = ResourceServer::new(RESOURCE).issuer(&url).jwks_url(issuer.url("/jwks"));
    let verifier = server.dpop(DpopVerification::required()).build().unwrap();
    for algorithm in SignatureAlgorithm::ALL {
        let theirs = their_key(algorithm, &private_key(algorithm));
        let mut jwk = Jwk::from_encoding_key(&theirs, their_algorithm(algorithm)).unwrap();
        jwk.common.key_algorithm = None;
        let mut claims = claims(&url);
        claims["cnf"] = json!({ "jkt": jwk.thumbprint(ThumbprintHash::SHA256).unwrap() });
        let token = signer.sign_claims("at+jwt", &claims).unwrap();
        let hash = ring::digest::digest(&ring::digest::SHA256, token.expose().as_bytes());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let proof = json!({
            "jti": algorithm.name(), "htm": "POST", "htu": RESOURCE, "iat": now, "ath": URL_SAFE_NO_PAD.encode(hash),
        });
        let header = Header {
            typ: Some("dpop+jwt".into()),
            jwk: Some(jwk),
            ..Header::new(their_algorithm(algorithm))
        };
        let proof = jsonwebtoken::encode(&header, &proof, &theirs).unwrap();
        let (method, mut headers) = (Method::POST, HeaderMap::new());
        headers.insert("dpop", proof.parse().unwrap());
        let presented = |scheme| PresentedToken::new(token.expose(), &method, &headers).with_scheme(scheme);
        assert!(verifier.verify(presented(TokenScheme::Bearer)).await.is_err(), "{algorithm:?}");
        let caller = verifier.verify(presented(TokenScheme::Dpop)).await;
        assert_eq!(caller.unwrap().subject, "ada", "{algorithm:?}");
        assert!(verifier.verify(presented(TokenScheme::Dpop)).await.is_err(), "a replay, {algorithm:?}");
    }
}
