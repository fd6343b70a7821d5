//! Public keys (JWK, RFC 7517 and RFC 8037) and key sets.
//!
//! Invariants: a key verifies signatures of its own type only, and only with its own `alg` if it names one. Symmetric keys,
//! keys for encryption, unknown curves and RSA keys below 2048 bits are skipped, because a set may hold keys for other
//! purposes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

use crate::jws::signing_key::SignatureAlgorithm;
use crate::random::sha256;

/// The most keys of one set.
const MAX_KEYS: usize = 100;

/// The sizes of an RSA modulus in bytes.
const RSA_MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

/// The public keys of an issuer.
#[derive(Debug, Clone, Default)]
pub(crate) struct JwkSet {
    keys: Vec<Jwk>,
}

/// A public key that verifies signatures.
#[derive(Debug, Clone)]
pub(crate) struct Jwk {
    /// The key id.
    pub(crate) id: Option<String>,
    /// The only algorithm of the key, if it names one.
    algorithm: Option<SignatureAlgorithm>,
    public: PublicKey,
}

#[derive(Debug, Clone)]
enum PublicKey {
    /// An uncompressed point.
    P256(Vec<u8>),
    /// An uncompressed point.
    P384(Vec<u8>),
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    Ed25519(Vec<u8>),
}

/// Why a key set cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JwkSetError {
    /// It is not a JSON object with an array `keys`.
    #[error("it is not a JWK set")]
    Malformed,
    /// It has too many keys.
    #[error("it has {0} keys; at most {MAX_KEYS} are read")]
    TooMany(usize),
}

impl JwkSet {
    /// Parses a key set. Keys that cannot verify tokens are skipped.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, JwkSetError> {
        #[derive(Deserialize)]
        struct JwkSetDocument {
            keys: Vec<serde_json::Value>,
        }
        let document: JwkSetDocument = serde_json::from_slice(json).map_err(|_| JwkSetError::Malformed)?;
        if document.keys.len() > MAX_KEYS {
            return Err(JwkSetError::TooMany(document.keys.len()));
        }
        let keys = document.keys.into_iter().filter_map(Jwk::from_value).collect();
        Ok(Self { keys })
    }

    /// Returns the keys.
    pub(crate) fn keys(&self) -> &[Jwk] {
        &self.keys
    }
}

impl Jwk {
    /// Returns the key of a JWK, or `None` if it cannot verify tokens.
    pub(crate) fn from_value(value: serde_json::Value) -> Option<Self> {
        let fields: JwkFields = serde_json::from_value(value).ok()?;
        let is_for_signatures = fields.usage.as_deref().is_none_or(|usage| usage == "sig")
            && fields.operations.as_ref().is_none_or(|list| list.iter().any(|one| one == "verify"));
        let algorithm = match fields.algorithm.as_deref().map(SignatureAlgorithm::from_name) {
            // An algorithm that is not supported, like `RSA-OAEP`.
            Some(None) => return None,
            Some(Some(algorithm)) => Some(algorithm),
            None => None,
        };
        let public = PublicKey::from_fields(&fields)?;
        if !is_for_signatures || !algorithm.is_none_or(|algorithm| public.fits(algorithm)) {
            return None;
        }
        Some(Self { id: fields.id, algorithm, public })
    }

    /// Returns whether the key may verify signatures of an algorithm.
    pub(crate) fn fits(&self, algorithm: SignatureAlgorithm) -> bool {
        self.algorithm.is_none_or(|own| own == algorithm) && self.public.fits(algorithm)
    }

    /// Returns whether the signature is of this key. An algorithm of another key type is never tried.
    pub(crate) fn verifies(&self, algorithm: SignatureAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        let outcome = match (&self.public, algorithm) {
            (PublicKey::P256(point), SignatureAlgorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (PublicKey::P384(point), SignatureAlgorithm::Es384) => {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(message, signature)
            }
            (PublicKey::Ed25519(key), SignatureAlgorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, signature)
            }
            (PublicKey::Rsa { modulus, exponent }, SignatureAlgorithm::Rs256) => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (PublicKey::Rsa { modulus, exponent }, SignatureAlgorithm::Ps256) => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PSS_2048_8192_SHA256, message, signature)
            }
            _ => return false,
        };
        outcome.is_ok() && self.fits(algorithm)
    }

    /// Returns the SHA-256 thumbprint (RFC 7638).
    pub(crate) fn thumbprint(&self) -> String {
        sha256(&self.public.required_members())
    }
}

/// The members of a JWK that are read.
#[derive(Deserialize)]
struct JwkFields {
    #[serde(rename = "kty")]
    kind: String,
    #[serde(rename = "kid")]
    id: Option<String>,
    #[serde(rename = "alg")]
    algorithm: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    #[serde(rename = "key_ops")]
    operations: Option<Vec<String>>,
    #[serde(rename = "crv")]
    curve: Option<String>,
    x: Option<String>,
    y: Option<String>,
    #[serde(rename = "n")]
    modulus: Option<String>,
    #[serde(rename = "e")]
    exponent: Option<String>,
}

impl PublicKey {
    /// Returns the members that identify the key, in the order of RFC 7638.
    fn required_members(&self) -> String {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let ec = |curve: &str, point: &[u8]| {
            let (x, y) = point[1..].split_at(point.len() / 2);
            format!(r#"{{"crv":"{curve}","kty":"EC","x":"{}","y":"{}"}}"#, encode(x), encode(y))
        };
        match self {
            Self::P256(point) => ec("P-256", point),
            Self::P384(point) => ec("P-384", point),
            Self::Ed25519(key) => format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, encode(key)),
            Self::Rsa { modulus, exponent } => {
                format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, encode(exponent), encode(modulus))
            }
        }
    }

    fn from_fields(fields: &JwkFields) -> Option<Self> {
        match (fields.kind.as_str(), fields.curve.as_deref()) {
            ("EC", Some("P-256")) => Some(Self::P256(uncompressed_point(fields, 32)?)),
            ("EC", Some("P-384")) => Some(Self::P384(uncompressed_point(fields, 48)?)),
            ("OKP", Some("Ed25519")) => {
                decode(fields.x.as_deref()).filter(|key| key.len() == 32).map(Self::Ed25519)
            }
            ("RSA", _) => {
                let modulus = without_leading_zeros(decode(fields.modulus.as_deref())?);
                let exponent = without_leading_zeros(decode(fields.exponent.as_deref())?);
                let is_usable = RSA_MODULUS.contains(&modulus.len())
                    && (modulus.len() > *RSA_MODULUS.start() || modulus[0] >= 0x80)
                    && !exponent.is_empty();
                is_usable.then_some(Self::Rsa { modulus, exponent })
            }
            _ => None,
        }
    }

    fn fits(&self, algorithm: SignatureAlgorithm) -> bool {
        match self {
            Self::P256(_) => algorithm == SignatureAlgorithm::Es256,
            Self::P384(_) => algorithm == SignatureAlgorithm::Es384,
            Self::Ed25519(_) => algorithm == SignatureAlgorithm::EdDsa,
            Self::Rsa { .. } => matches!(algorithm, SignatureAlgorithm::Rs256 | SignatureAlgorithm::Ps256),
        }
    }
}

/// Returns the point of an EC key: 0x04, then both coordinates.
fn uncompressed_point(fields: &JwkFields, size: usize) -> Option<Vec<u8>> {
    let (x, y) = (decode(fields.x.as_deref())?, decode(fields.y.as_deref())?);
    (x.len() == size && y.len() == size).then(|| [&[4], &*x, &*y].concat())
}

fn decode(text: Option<&str>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?).ok()
}

/// Several issuers write the sign byte of ASN.1 in front of the number; *ring* does not accept it.
fn without_leading_zeros(number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number[zeros..].to_vec()
}
