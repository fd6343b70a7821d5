//! Verification of signed tokens in the compact form of JWS (RFC 7515).
//!
//! Invariants: the algorithm comes from the caller's list and must fit the type of the key; keys come from the caller's
//! set, never from the header (`jwk`, `jku`, `x5u` are ignored), except for proofs of possession, whose key the caller
//! compares with the one it expects. Base64url is strict: no padding, no other characters,
//! no unused bits, so that no two texts are the same token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer};

use crate::jws::jwk::{Jwk, JwkSet};
use crate::jws::signing_key::SignatureAlgorithm;

/// The longest token that is read.
pub(crate) const MAX_TOKEN: usize = 16 * 1024;

/// The members of private and symmetric keys.
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// How many keys are tried for a token without a key id.
const MAX_TRIALS: usize = 10;

/// A token whose signature was verified. Its claims are not checked yet.
#[derive(Clone)]
pub(crate) struct VerifiedJwt {
    /// The type in the header.
    pub(crate) kind: Option<String>,
    /// The claims as JSON text.
    pub(crate) claims: String,
}

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JwsError {
    /// It is longer than any token that is read.
    #[error("the token is longer than {MAX_TOKEN} bytes")]
    TooLong,
    /// It is not a signed token in the compact form.
    #[error("the token is malformed: {0}")]
    Malformed(&'static str),
    /// The header names an extension that must be understood.
    #[error("the token has a critical extension")]
    Critical,
    /// The algorithm is unknown or not allowed.
    #[error("the signature algorithm of the token is not allowed")]
    Algorithm,
    /// No key of the issuer has the key id of the token.
    #[error("the token is signed with an unknown key")]
    UnknownKey,
    /// The header has no public key that fits the algorithm.
    #[error("its header has no usable public key")]
    NoKey,
    /// The header has a private key.
    #[error("its header has a private key, which is no longer secret")]
    PrivateKey,
    /// The signature does not fit the token.
    #[error("the signature of the token is not valid")]
    Signature,
}

/// Verifies the signature of a token.
///
/// # Errors
/// See [`JwsError`]. [`JwsError::UnknownKey`] if a newer key set may have the key.
pub(crate) fn verify(
    token: &str,
    keys: &JwkSet,
    allowed: &[SignatureAlgorithm],
) -> Result<VerifiedJwt, JwsError> {
    let parts = TokenParts::split(token)?;
    let header = read_header(parts.header)?;
    let algorithm = header.allowed_algorithm(allowed)?;
    let signature = decode(parts.signature, "the signature is not base64url")?;
    check_signature(&header, algorithm, keys, parts.message.as_bytes(), &signature)?;
    Ok(VerifiedJwt { kind: header.kind, claims: parts.claims()? })
}

/// A token that was verified with the key in its own header: it proves that its sender has this key.
pub(crate) struct SelfSignedJwt {
    /// The type in the header.
    pub(crate) kind: Option<String>,
    /// The claims as JSON text.
    pub(crate) claims: String,
    /// The thumbprint of the key.
    pub(crate) thumbprint: String,
}

/// Verifies the signature of a token with the public key in its own header.
///
/// # Errors
/// See [`JwsError`].
pub(crate) fn verify_with_own_key(
    token: &str,
    allowed: &[SignatureAlgorithm],
) -> Result<SelfSignedJwt, JwsError> {
    let parts = TokenParts::split(token)?;
    let header = read_header(parts.header)?;
    let algorithm = header.allowed_algorithm(allowed)?;
    let key = header.key.as_ref().ok_or(JwsError::NoKey)?;
    if PRIVATE_MEMBERS.iter().any(|member| key.get(member).is_some()) {
        return Err(JwsError::PrivateKey);
    }
    let key = Jwk::from_value(key.clone()).filter(|key| key.fits(algorithm)).ok_or(JwsError::NoKey)?;
    let signature = decode(parts.signature, "the signature is not base64url")?;
    if !key.verifies(algorithm, parts.message.as_bytes(), &signature) {
        return Err(JwsError::Signature);
    }
    Ok(SelfSignedJwt { thumbprint: key.thumbprint(), claims: parts.claims()?, kind: header.kind })
}

/// The parts of a token in the compact form.
struct TokenParts<'a> {
    /// Header and claims, which are signed.
    message: &'a str,
    header: &'a str,
    claims: &'a str,
    signature: &'a str,
}

impl<'a> TokenParts<'a> {
    fn split(token: &'a str) -> Result<Self, JwsError> {
        if token.len() > MAX_TOKEN {
            return Err(JwsError::TooLong);
        }
        let (message, signature) = token.rsplit_once('.').ok_or(JwsError::Malformed("it has one part"))?;
        let (header, claims) = message.split_once('.').ok_or(JwsError::Malformed("it has two parts"))?;
        match claims.contains('.') {
            true => Err(JwsError::Malformed("it has more than three parts")),
            false => Ok(Self { message, header, claims, signature }),
        }
    }

    fn claims(&self) -> Result<String, JwsError> {
        let claims = decode(self.claims, "the claims are not base64url")?;
        String::from_utf8(claims).map_err(|_| JwsError::Malformed("the claims are not UTF-8"))
    }
}

/// Returns whether a token has three parts and the header of a JWS: it is signed, not opaque.
pub(crate) fn has_jws_header(token: &str) -> bool {
    let mut parts = token.split('.');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(header), Some(_), Some(_), None) if token.len() <= MAX_TOKEN => {
            !matches!(read_header(header), Err(JwsError::Malformed(_)))
        }
        _ => false,
    }
}

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "alg")]
    algorithm: String,
    #[serde(rename = "kid")]
    key_id: Option<String>,
    #[serde(rename = "typ")]
    kind: Option<String>,
    #[serde(rename = "crit", default, deserialize_with = "is_present")]
    is_critical: bool,
    /// The key of a proof of possession.
    #[serde(rename = "jwk")]
    key: Option<serde_json::Value>,
}

impl Header {
    fn allowed_algorithm(&self, allowed: &[SignatureAlgorithm]) -> Result<SignatureAlgorithm, JwsError> {
        SignatureAlgorithm::from_name(&self.algorithm)
            .filter(|algorithm| allowed.contains(algorithm))
            .ok_or(JwsError::Algorithm)
    }
}

/// Returns `true` for any value, also `null`.
fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| true)
}

fn read_header(header: &str) -> Result<Header, JwsError> {
    let header = decode(header, "the header is not base64url")?;
    let header: Header = serde_json::from_slice(&header)
        .map_err(|_| JwsError::Malformed("the header is not that of a JWS"))?;
    if header.is_critical {
        return Err(JwsError::Critical);
    }
    Ok(header)
}

fn check_signature(
    header: &Header,
    algorithm: SignatureAlgorithm,
    keys: &JwkSet,
    message: &[u8],
    signature: &[u8],
) -> Result<(), JwsError> {
    let has_id = |key: &&Jwk| header.key_id.is_some() && key.id == header.key_id;
    let is_known = keys.keys().iter().any(|key| has_id(&key));
    let may_be = |key: &&Jwk| has_id(key) || header.key_id.is_none() || (!is_known && key.id.is_none());
    let mut candidates = keys.keys().iter().filter(may_be).filter(|key| key.fits(algorithm)).take(MAX_TRIALS);
    if candidates.any(|key| key.verifies(algorithm, message, signature)) {
        return Ok(());
    }
    // A token without a key id may be of a new key, too.
    Err(if is_known { JwsError::Signature } else { JwsError::UnknownKey })
}

fn decode(text: &str, otherwise: &'static str) -> Result<Vec<u8>, JwsError> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| JwsError::Malformed(otherwise))
}
