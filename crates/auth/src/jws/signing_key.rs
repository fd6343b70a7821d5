//! Private keys that sign JWTs.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use serde::Serialize;
use serde_json::json;
use switchboard_http::Secret;
use zeroize::Zeroizing;

use crate::error::AuthError;
use crate::random::{random_token, sha256};

/// How long a client assertion is valid.
const ASSERTION_LIFETIME: Duration = Duration::from_secs(300);

/// A signature algorithm of JWS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// ECDSA over P-384 with SHA-384.
    Es384,
    /// RSA PKCS#1 with SHA-256.
    Rs256,
    /// RSA PSS with SHA-256.
    Ps256,
    /// Ed25519.
    EdDsa,
}

impl SignatureAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 5] = [Self::Es256, Self::Es384, Self::Rs256, Self::Ps256, Self::EdDsa];

    /// Returns the algorithm of a JWS name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "RS256" => Self::Rs256,
            "PS256" => Self::Ps256,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }

    /// Returns the JWS name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// A private key that signs JWTs. Clones share the key.
#[derive(Clone)]
pub struct SigningKey {
    algorithm: SignatureAlgorithm,
    key_id: Option<String>,
    pair: Arc<Pair>,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Rsa(RsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl SigningKey {
    /// Reads a PKCS#8 key in PEM.
    ///
    /// # Errors
    /// When the text is not a PKCS#8 private key that fits the algorithm.
    ///
    /// ```
    /// use switchboard::auth::{SignatureAlgorithm, SigningKey};
    ///
    /// let error = SigningKey::from_pem("not a key", SignatureAlgorithm::Es256).unwrap_err();
    /// assert!(error.to_string().contains("PKCS#8"));
    /// ```
    pub fn from_pem(pem: &str, algorithm: SignatureAlgorithm) -> Result<Self, AuthError> {
        let body = pem
            .split_once("-----BEGIN PRIVATE KEY-----")
            .and_then(|(_, rest)| rest.split_once("-----END PRIVATE KEY-----"))
            .map(|(body, _)| Zeroizing::new(body.split_ascii_whitespace().collect::<String>()));
        let body = body.ok_or_else(|| {
            unusable("it is not a PKCS#8 key in PEM (-----BEGIN PRIVATE KEY-----); convert it with `openssl pkcs8 -topk8`")
        })?;
        let der = STANDARD.decode(body.as_bytes()).map_err(|_| unusable("its PEM is not valid base64"))?;
        Self::from_pkcs8(&Zeroizing::new(der), algorithm)
    }

    /// Reads a PKCS#8 key in DER.
    ///
    /// # Errors
    /// When the key does not fit the algorithm.
    pub fn from_pkcs8(der: &[u8], algorithm: SignatureAlgorithm) -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        let pair = match algorithm {
            SignatureAlgorithm::Es256 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random).map(Pair::Ecdsa)
            }
            SignatureAlgorithm::Es384 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, der, &random).map(Pair::Ecdsa)
            }
            SignatureAlgorithm::Rs256 | SignatureAlgorithm::Ps256 => {
                RsaKeyPair::from_pkcs8(der).map(Pair::Rsa)
            }
            SignatureAlgorithm::EdDsa => Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(Pair::Ed25519),
        };
        let pair = pair.map_err(|error| unusable(&format!("not a key for {}: {error}", algorithm.name())))?;
        Ok(Self { algorithm, key_id: None, pair: Arc::new(pair) })
    }

    /// Generates a P-256 key and returns it with its PKCS#8 form.
    pub(crate) fn generate_es256() -> (Self, Zeroizing<Vec<u8>>) {
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .expect("the system's random generator works");
        let key =
            Self::from_pkcs8(der.as_ref(), SignatureAlgorithm::Es256).expect("a generated key is valid");
        (key, Zeroizing::new(der.as_ref().to_vec()))
    }

    /// Sets the key id in the header of signatures.
    #[must_use]
    pub fn with_key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = Some(key_id.into());
        self
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }

    /// Returns the assertion by which a client authenticates (RFC 7523): issued for the authorization server.
    pub(crate) fn client_assertion(&self, client_id: &str, issuer: &str) -> Result<Secret, AuthError> {
        #[derive(Serialize)]
        struct Claims<'a> {
            iss: &'a str,
            sub: &'a str,
            aud: &'a str,
            jti: &'a str,
            iat: u64,
            exp: u64,
        }
        let now = unix_now();
        let id = random_token();
        let exp = now + ASSERTION_LIFETIME.as_secs();
        let claims = Claims { iss: client_id, sub: client_id, aud: issuer, jti: id.expose(), iat: now, exp };
        self.sign_claims("JWT", &claims)
    }

    /// Signs a JWT.
    pub(crate) fn sign(&self, header: &JwtHeader<'_>, claims: &impl Serialize) -> Result<Secret, AuthError> {
        let encode = |json: Result<Vec<u8>, serde_json::Error>| {
            json.map(|json| URL_SAFE_NO_PAD.encode(json)).map_err(|error| unusable(&error.to_string()))
        };
        let input =
            format!("{}.{}", encode(serde_json::to_vec(header))?, encode(serde_json::to_vec(claims))?);
        let random = SystemRandom::new();
        let signature = match &*self.pair {
            Pair::Ecdsa(pair) => {
                let signature = pair.sign(&random, input.as_bytes());
                signature.map(|signature| signature.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => Ok(pair.sign(input.as_bytes()).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let padding: &dyn ring::signature::RsaEncoding = match self.algorithm {
                    SignatureAlgorithm::Ps256 => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                pair.sign(padding, &random, input.as_bytes(), &mut signature).map(|()| signature)
            }
        };
        let signature = signature.map_err(|_| unusable("signing failed"))?;
        Ok(Secret::new(format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))))
    }

    /// Signs claims as a JWT of this type, like `JWT` or `at+jwt`.
    ///
    /// # Errors
    /// When the claims cannot be written as JSON.
    pub fn sign_claims(&self, kind: &str, claims: &impl Serialize) -> Result<Secret, AuthError> {
        let header =
            JwtHeader { typ: kind, alg: self.algorithm.name(), kid: self.key_id.as_deref(), jwk: None };
        self.sign(&header, claims)
    }

    /// Returns the public half as a JWK (RFC 7517), for the key set that others verify signatures with.
    pub fn public_jwk(&self) -> serde_json::Value {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut jwk = match &*self.pair {
            Pair::Ecdsa(pair) => json!(EcJwk::of(self.algorithm, pair)),
            Pair::Rsa(pair) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({ "kty": "RSA", "n": encode(&public.n), "e": encode(&public.e) })
            }
            Pair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key().as_ref()) })
            }
        };
        jwk["alg"] = self.algorithm.name().into();
        if let Some(id) = &self.key_id {
            jwk["kid"] = id.as_str().into();
        }
        jwk
    }

    /// Returns the public half of an elliptic curve key, as proofs carry it.
    pub(crate) fn ec_jwk(&self) -> Option<EcJwk> {
        match &*self.pair {
            Pair::Ecdsa(pair) => Some(EcJwk::of(self.algorithm, pair)),
            Pair::Rsa(_) | Pair::Ed25519(_) => None,
        }
    }
}

/// The header of a JWT.
#[derive(Serialize)]
pub(crate) struct JwtHeader<'a> {
    pub(crate) typ: &'a str,
    pub(crate) alg: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jwk: Option<&'a EcJwk>,
}

/// The public part of an elliptic curve key. The members are in the order of RFC 7638.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct EcJwk {
    crv: &'static str,
    kty: &'static str,
    x: String,
    y: String,
}

impl EcJwk {
    fn of(algorithm: SignatureAlgorithm, pair: &EcdsaKeyPair) -> Self {
        // An uncompressed point: 0x04, then both coordinates.
        let point = pair.public_key().as_ref();
        let (x, y) = point[1..].split_at(point.len() / 2);
        let crv = if algorithm == SignatureAlgorithm::Es384 { "P-384" } else { "P-256" };
        Self { crv, kty: "EC", x: URL_SAFE_NO_PAD.encode(x), y: URL_SAFE_NO_PAD.encode(y) }
    }

    /// Returns the SHA-256 thumbprint (RFC 7638).
    pub(crate) fn thumbprint(&self) -> String {
        sha256(&serde_json::to_string(self).expect("strings serialize"))
    }
}

/// Returns the seconds since the Unix epoch.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn unusable(reason: &str) -> AuthError {
    AuthError::Key { what: "the private key", reason: reason.to_owned() }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, ••••)", self.algorithm.name())
    }
}
