//! Signatures with every algorithm, and tokens that must not be accepted. `checks` compares with another implementation.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
};
use serde_json::{Value, json};

use crate::jws::jwk::{JwkSet, JwkSetError};
use crate::jws::signing_key::{JwtHeader, SignatureAlgorithm, SigningKey};
use crate::jws::verify::{JwsError, MAX_TOKEN, has_jws_header, verify};

const ALL: [SignatureAlgorithm; 5] = SignatureAlgorithm::ALL;

/// A private key, and its public half.
struct KeyPair {
    private: SigningKey,
    public: Value,
}

impl KeyPair {
    fn new(algorithm: SignatureAlgorithm) -> Self {
        let random = SystemRandom::new();
        let ecdsa = |curve| EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap().as_ref().to_vec();
        let der = match algorithm {
            SignatureAlgorithm::Es256 => ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            SignatureAlgorithm::Es384 => ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            SignatureAlgorithm::EdDsa => Ed25519KeyPair::generate_pkcs8(&random).unwrap().as_ref().to_vec(),
            SignatureAlgorithm::Rs256 | SignatureAlgorithm::Ps256 => {
                let pem = include_str!("../../testdata/rsa.pem");
                STANDARD
                    .decode(pem.lines().filter(|line| !line.starts_with('-')).collect::<String>())
                    .unwrap()
            }
        };
        let private = SigningKey::from_pkcs8(&der, algorithm).unwrap().with_key_id("k1");
        Self { public: private.public_jwk(), private }
    }

    fn keys(&self) -> JwkSet {
        key_set(&[&self.public])
    }

    fn sign(&self, claims: &Value) -> String {
        self.private.sign_claims("at+jwt", claims).unwrap().expose().to_owned()
    }
}

fn key_set(keys: &[&Value]) -> JwkSet {
    JwkSet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

/// Returns the token with another header, signed by nobody.
fn with_header(token: &str, header: &Value) -> String {
    let (_, rest) = token.split_once('.').unwrap();
    format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()))
}

fn claims() -> Value {
    json!({ "sub": "ada", "exp": 4_000_000_000_u64, "text": "ü \u{1F600}" })
}

#[test]
fn a_signed_token_is_verified_with_the_public_key() {
    for algorithm in ALL {
        let pair = KeyPair::new(algorithm);
        let token = pair.sign(&claims());
        let verified = verify(&token, &pair.keys(), &ALL).ok().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&verified.claims).unwrap(), claims(), "{algorithm:?}");
        assert_eq!(verified.kind.as_deref(), Some("at+jwt"));
        assert!(has_jws_header(&token));
    }
}

#[test]
fn no_token_with_a_changed_byte_is_accepted() {
    for algorithm in ALL {
        let pair = KeyPair::new(algorithm);
        let keys = pair.keys();
        let token = pair.sign(&json!({ "sub": "ada" }));
        for at in 0..token.len() {
            // Another character of the alphabet, a neighbor in the last bits, and one outside of the alphabet.
            for mask in [0x01, 0x02, 0x04, 0x20, 0x10] {
                let mut bytes = token.clone().into_bytes();
                bytes[at] ^= mask;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                assert!(verify(&changed, &keys, &ALL).is_err(), "{algorithm:?}: byte {at} of {token}");
            }
            assert!(verify(&token[..at], &keys, &ALL).is_err());
        }
        for suffix in ["=", "A", ".", ".AA", "\n", " "] {
            assert!(verify(&format!("{token}{suffix}"), &keys, &ALL).is_err(), "{algorithm:?} {suffix:?}");
        }
    }
}

#[test]
fn unsigned_and_symmetric_tokens_are_rejected() {
    let pair = KeyPair::new(SignatureAlgorithm::Rs256);
    let token = pair.sign(&claims());
    let unsigned = token.rsplit_once('.').unwrap().0;
    for algorithm in ["none", "None", "NONE", "nOnE", ""] {
        let header = json!({ "alg": algorithm, "kid": "k1" });
        for token in [with_header(&format!("{unsigned}."), &header), with_header(&token, &header)] {
            assert_eq!(verify(&token, &pair.keys(), &ALL).err(), Some(JwsError::Algorithm), "{algorithm}");
        }
    }
    // The public key as the secret of an HMAC.
    let symmetric = with_header(&token, &json!({ "alg": "HS256", "kid": "k1" }));
    let message = symmetric.rsplit_once('.').unwrap().0;
    let secret = pair.public["n"].as_str().unwrap();
    for secret in [secret.as_bytes().to_vec(), URL_SAFE_NO_PAD.decode(secret).unwrap()] {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), message.as_bytes());
        let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag));
        assert_eq!(verify(&token, &pair.keys(), &ALL).err(), Some(JwsError::Algorithm));
    }
    let symmetric = json!({ "kty": "oct", "kid": "k1", "k": "AAAA", "alg": "HS256" });
    assert!(key_set(&[&symmetric]).keys().is_empty());
}

#[test]
fn the_algorithm_must_be_allowed_and_fit_the_key() {
    for algorithm in ALL {
        let pair = KeyPair::new(algorithm);
        let token = pair.sign(&claims());
        assert_eq!(verify(&token, &pair.keys(), &[]).err(), Some(JwsError::Algorithm));
        for other in ALL.into_iter().filter(|other| *other != algorithm) {
            assert_eq!(verify(&token, &pair.keys(), &[other]).err(), Some(JwsError::Algorithm));
            // The same key id, another algorithm: never tried with this key.
            let confused = with_header(&token, &json!({ "alg": other.name(), "kid": "k1" }));
            assert_eq!(verify(&confused, &pair.keys(), &ALL).err(), Some(JwsError::Signature));
        }
    }
    // An RSA key without `alg` serves both paddings, one with it only its own.
    let (pkcs1, pss) = (KeyPair::new(SignatureAlgorithm::Rs256), KeyPair::new(SignatureAlgorithm::Ps256));
    assert_eq!(verify(&pss.sign(&claims()), &pkcs1.keys(), &ALL).err(), Some(JwsError::Signature));
    let mut free = pkcs1.public.clone();
    free.as_object_mut().unwrap().remove("alg");
    for pair in [&pkcs1, &pss] {
        assert!(verify(&pair.sign(&claims()), &key_set(&[&free]), &ALL).is_ok());
    }
}

#[test]
fn the_key_id_selects_the_key() {
    let (one, other) = (KeyPair::new(SignatureAlgorithm::Es256), KeyPair::new(SignatureAlgorithm::Es256));
    let token = one.sign(&claims());
    let renamed = |key: &Value, id: Option<&str>| {
        let mut key = key.clone();
        key["kid"] = id.into();
        key
    };
    let (k1, k2) = (renamed(&one.public, Some("k1")), renamed(&other.public, Some("k2")));
    assert!(verify(&token, &key_set(&[&k2, &k1]), &ALL).is_ok());
    assert_eq!(verify(&token, &key_set(&[&k2]), &ALL).err(), Some(JwsError::UnknownKey));
    assert_eq!(verify(&token, &key_set(&[]), &ALL).err(), Some(JwsError::UnknownKey));
    // The right key under another id is not used, the wrong key under the right id does not fit.
    assert_eq!(
        verify(&token, &key_set(&[&renamed(&k1, Some("k2"))]), &ALL).err(),
        Some(JwsError::UnknownKey)
    );
    assert_eq!(verify(&token, &key_set(&[&renamed(&k2, Some("k1"))]), &ALL).err(), Some(JwsError::Signature));
    // A key without an id may be the one; a token without an id is tried with all keys.
    assert!(verify(&token, &key_set(&[&k2, &renamed(&k1, None)]), &ALL).is_ok());
    let header = JwtHeader { typ: "at+jwt", alg: "ES256", kid: None, jwk: None };
    let token = one.private.sign(&header, &claims()).unwrap();
    assert!(verify(token.expose(), &key_set(&[&k2, &k1]), &ALL).is_ok());
}

#[test]
fn keys_in_the_header_are_never_used() {
    let (trusted, attacker) =
        (KeyPair::new(SignatureAlgorithm::Es256), KeyPair::new(SignatureAlgorithm::Es256));
    let jwk = attacker.private.ec_jwk().unwrap();
    let header = JwtHeader { typ: "at+jwt", alg: "ES256", kid: Some("k1"), jwk: Some(&jwk) };
    let token = attacker.private.sign(&header, &claims()).unwrap();
    assert_eq!(verify(token.expose(), &trusted.keys(), &ALL).err(), Some(JwsError::Signature));
}

#[test]
fn malformed_tokens_are_rejected() {
    let pair = KeyPair::new(SignatureAlgorithm::Es256);
    let token = pair.sign(&claims());
    let (message, signature) = token.rsplit_once('.').unwrap();
    for crit in [json!(["exp"]), json!([]), json!(null)] {
        let critical = with_header(&token, &json!({ "alg": "ES256", "kid": "k1", "crit": crit }));
        assert_eq!(verify(&critical, &pair.keys(), &ALL).err(), Some(JwsError::Critical));
    }
    for header in
        [json!("ES256"), json!([]), json!({}), json!({ "alg": 1 }), json!({ "alg": "ES256", "kid": 1 })]
    {
        let error = verify(&with_header(&token, &header), &pair.keys(), &ALL).err();
        assert!(matches!(error, Some(JwsError::Malformed(_))), "{header}: {error:?}");
    }
    let twice = format!("{}.{signature}", URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256","alg":"none"}"#));
    let deep = format!(
        "{}.{signature}",
        URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"ES256","x":{}"#, "[".repeat(9_000)))
    );
    for text in ["", ".", "..", "...", "a.b.c", message, &format!("{message}.{signature}.x"), &twice, &deep] {
        assert!(matches!(verify(text, &pair.keys(), &ALL), Err(JwsError::Malformed(_))), "{text}");
    }
    // Nobody signed the empty signature, nor one in DER.
    assert_eq!(verify(&format!("{message}."), &pair.keys(), &ALL).err(), Some(JwsError::Signature));
    let long = pair.sign(&json!({ "sub": "a".repeat(MAX_TOKEN) }));
    assert_eq!(verify(&long, &pair.keys(), &ALL).err(), Some(JwsError::TooLong));
    for opaque in ["", "abc", "a.b.c", "gho_16C7e42F292c6912E7710c838347Ae178B4a", &format!("{token}.x")] {
        assert!(!has_jws_header(opaque), "{opaque}");
    }
}

#[test]
fn keys_that_cannot_verify_are_skipped() {
    let pair = KeyPair::new(SignatureAlgorithm::Es256);
    let rsa = KeyPair::new(SignatureAlgorithm::Rs256);
    let changed = |key: &Value, name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        key
    };
    let short = URL_SAFE_NO_PAD.encode([0xff; 255]);
    let small = URL_SAFE_NO_PAD.encode([[0x7f].as_slice(), &[0xff; 255]].concat());
    for unusable in [
        json!(null),
        json!({}),
        json!({ "kty": "EC" }),
        changed(&pair.public, "use", json!("enc")),
        changed(&pair.public, "key_ops", json!(["sign"])),
        changed(&pair.public, "alg", json!("ES384")),
        changed(&pair.public, "alg", json!("ECDH-ES")),
        changed(&pair.public, "crv", json!("secp256k1")),
        changed(&pair.public, "x", json!("AAAA")),
        changed(&pair.public, "kty", json!("oct")),
        changed(&rsa.public, "n", json!(short)),
        changed(&rsa.public, "n", json!(small)),
        changed(&rsa.public, "e", json!("")),
        changed(&rsa.public, "n", json!("not base64!")),
    ] {
        let keys = key_set(&[&unusable, &pair.public]);
        assert_eq!(keys.keys().len(), 1, "{unusable}");
    }
    for usable in
        [changed(&pair.public, "use", json!("sig")), changed(&pair.public, "key_ops", json!(["verify"]))]
    {
        assert!(verify(&pair.sign(&claims()), &key_set(&[&usable]), &ALL).is_ok(), "{usable}");
    }
    // The sign byte of ASN.1 in front of the modulus.
    let modulus = URL_SAFE_NO_PAD.decode(rsa.public["n"].as_str().unwrap()).unwrap();
    let padded = changed(&rsa.public, "n", json!(URL_SAFE_NO_PAD.encode([&[0], &*modulus].concat())));
    assert!(verify(&rsa.sign(&claims()), &key_set(&[&padded]), &ALL).is_ok());
    for text in ["", "[]", "{}", r#"{"keys":{}}"#, "<html>"] {
        assert_eq!(JwkSet::parse(text.as_bytes()).err(), Some(JwkSetError::Malformed), "{text}");
    }
    let many = json!({ "keys": vec![pair.public.clone(); 101] }).to_string();
    assert_eq!(JwkSet::parse(many.as_bytes()).err(), Some(JwkSetError::TooMany(101)));
}
