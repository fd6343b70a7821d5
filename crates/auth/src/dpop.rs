//! DPoP: proofs that the sender of a token has the key it is bound to (RFC 9449).
//!
//! Invariants: every proof has a fresh id; nonces are kept per origin and used until the server sends another.

use std::collections::HashMap;
use std::fmt;

use http::Method;
use http::header::HeaderMap;
use parking_lot::Mutex;
use serde::Serialize;
use switchboard_http::{Address, Origin, Secret};
use zeroize::Zeroizing;

use crate::error::AuthError;
use crate::jws::{EcJwk, JwtHeader, SignatureAlgorithm, SigningKey, unix_now};
use crate::random::{random_token, sha256};

/// The most origins whose nonce is kept: the authorization server and the MCP server, with room for a move.
const MAX_NONCES: usize = 8;
/// The longest nonce that is kept.
const MAX_NONCE: usize = 1024;

/// The key that tokens are bound to, and the nonces of the servers.
pub(crate) struct DpopKey {
    key: SigningKey,
    jwk: EcJwk,
    pkcs8: Zeroizing<Vec<u8>>,
    /// Held for a lookup, never across an await.
    nonces: Mutex<HashMap<Origin, String>>,
}

/// A key for new tokens, and whether tokens that are not bound to it are refused.
#[derive(Debug)]
pub(crate) struct DpopBinding {
    pub(crate) key: DpopKey,
    pub(crate) is_required: bool,
}

/// The claims of a proof.
#[derive(Serialize)]
struct ProofClaims<'a> {
    jti: &'a str,
    htm: &'a str,
    htu: &'a str,
    iat: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ath: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
}

impl DpopKey {
    /// Generates a key.
    pub(crate) fn generate() -> Self {
        let (key, pkcs8) = SigningKey::generate_es256();
        Self::new(key, pkcs8)
    }

    /// Reads a stored key.
    pub(crate) fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, AuthError> {
        let key = SigningKey::from_pkcs8(pkcs8, SignatureAlgorithm::Es256)?;
        Ok(Self::new(key, Zeroizing::new(pkcs8.to_vec())))
    }

    fn new(key: SigningKey, pkcs8: Zeroizing<Vec<u8>>) -> Self {
        let jwk = key.ec_jwk().expect("a P-256 key has a point");
        Self { key, jwk, pkcs8, nonces: Mutex::default() }
    }

    /// Returns the key to store.
    pub(crate) fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// Returns the thumbprint that tokens are bound to.
    pub(crate) fn thumbprint(&self) -> String {
        self.jwk.thumbprint()
    }

    /// Returns a proof for one request.
    pub(crate) fn proof(
        &self,
        method: &Method,
        address: &Address,
        token: Option<&Secret>,
    ) -> Result<Secret, AuthError> {
        let id = random_token();
        // Without query and fragment (RFC 9449, section 4.2).
        let target = address.as_str().split('?').next().unwrap_or_default();
        let nonce = self.nonces.lock().get(&address.origin()).cloned();
        let claims = ProofClaims {
            jti: id.expose(),
            htm: method.as_str(),
            htu: target,
            iat: unix_now(),
            ath: token.map(|token| sha256(token.expose())),
            nonce,
        };
        let header = JwtHeader { typ: "dpop+jwt", alg: "ES256", kid: None, jwk: Some(&self.jwk) };
        self.key.sign(&header, &claims)
    }

    /// Keeps the nonce of a response for the next proof, and returns whether it is a new one.
    pub(crate) fn observe_nonce(&self, address: &Address, headers: &HeaderMap) -> bool {
        let nonce = headers.get("dpop-nonce").and_then(|nonce| nonce.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| nonce.len() <= MAX_NONCE) else { return false };
        let mut nonces = self.nonces.lock();
        let origin = address.origin();
        if nonces.len() >= MAX_NONCES && !nonces.contains_key(&origin) {
            nonces.clear();
        }
        nonces.insert(origin, nonce.to_owned()).as_deref() != Some(nonce)
    }
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DpopKey(••••)")
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::Value;
    use switchboard_http::PlainHttp;

    use super::*;

    fn decode(jwt: &Secret) -> (Value, Value) {
        let mut parts = jwt.expose().split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
        let mut json = || serde_json::from_slice(&parts.next().unwrap()).unwrap();
        (json(), json())
    }

    #[test]
    fn a_proof_names_the_request_the_token_and_the_nonce() {
        let key = DpopKey::generate();
        let address = Address::parse("https://h.example/mcp?x=1", PlainHttp::LoopbackOnly).unwrap();
        let (header, claims) = decode(&key.proof(&Method::POST, &address, None).unwrap());
        assert_eq!((header["typ"].as_str(), header["alg"].as_str()), (Some("dpop+jwt"), Some("ES256")));
        assert_eq!(
            (claims["htm"].as_str(), claims["htu"].as_str()),
            (Some("POST"), Some("https://h.example/mcp"))
        );
        assert!(claims.get("ath").is_none() && claims.get("nonce").is_none());

        let mut headers = HeaderMap::new();
        headers.insert("dpop-nonce", "n1".parse().unwrap());
        assert!(key.observe_nonce(&address, &headers));
        assert!(!key.observe_nonce(&address, &headers));
        let (_, second) = decode(&key.proof(&Method::POST, &address, Some(&Secret::new("t"))).unwrap());
        assert_eq!(second["nonce"], "n1");
        assert_eq!(second["ath"], sha256("t"));
        assert_ne!(claims["jti"], second["jti"]);
        // Nonces are of one server.
        let other = Address::parse("https://as.example/token", PlainHttp::LoopbackOnly).unwrap();
        assert!(decode(&key.proof(&Method::POST, &other, None).unwrap()).1.get("nonce").is_none());
    }

    #[test]
    fn a_stored_key_has_the_same_thumbprint() {
        let key = DpopKey::generate();
        assert_eq!(DpopKey::from_pkcs8(key.pkcs8()).unwrap().thumbprint(), key.thumbprint());
    }
}
