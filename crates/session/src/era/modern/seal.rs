//! Sealed request state: a client sends it back between rounds of input, and can neither change it, nor use it for another
//! request, nor use it twice.
//!
//! It is bound to the server, the caller, the request and an expiry time, and carries the answers and the steps so far in
//! at most 32 KiB. It is signed, not encrypted: the client can read it, so it must not contain secrets. In front of the
//! payload are the id of the key and the tag.
//!
//! The request is bound by the SHA-256 of its method and of the canonical text of its parameters ([`Raw::canonical`])
//! without `_meta`, `inputResponses` and `requestState`, which a retry may change. A request without a canonical text,
//! e.g. with a member named twice, can neither be given a state nor use one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use switchboard_protocol::{DecodeError, OrderedMap, Raw, RpcError};

use crate::era::modern::used_states::{Nonce, UsedStates};

/// The longest sealed state, in bytes of text.
const MAX_BYTES: usize = 32 * 1024;
/// The version of the payload; others are rejected.
const VERSION: u8 = 3;
/// The length of the id of the key, the first part of a sealed text.
const KEY_ID: usize = 4;
/// The length of the tag in front of the payload.
const TAG: usize = 32;
/// Begins the signed text of a token. A state begins with a brace, so neither passes for the other.
const TOKEN_PREFIX: &[u8] = b"token";

/// The members of a request that a retry may change.
const CHANGED_BY_RETRY: &[&str] = &["_meta", "inputResponses", "requestState"];

/// The keys that seal request states: the first seals, any opens.
///
/// The default is one random key for the life of the process. Instances that share load share keys, and rotate by
/// putting a new key first.
///
/// A server accepts each state once. Instances that share keys do not share the memory of it: with `n` of them a client
/// can use a state up to `n` times, within the 10 minutes until it expires.
///
/// ```
/// use switchboard::server::StateKeys;
///
/// let (new, old) = ([1; 32], [2; 32]); // from the secret store that all instances share
/// let keys = StateKeys::new([new, old]).expect("there are keys");
/// assert_eq!(format!("{keys:?}"), "StateKeys(2 keys)"); // never shows them
/// assert!(StateKeys::new([]).is_none());
/// ```
#[derive(Clone)]
pub struct StateKeys(Vec<[u8; 32]>);

impl StateKeys {
    /// Creates one random key.
    ///
    /// # Panics
    /// When the system has no randomness to give.
    pub fn random() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system gives random bytes");
        Self(vec![key])
    }

    /// Creates a set of keys: the first seals, any opens. `None` when `keys` is empty.
    pub fn new(keys: impl IntoIterator<Item = [u8; 32]>) -> Option<Self> {
        let keys: Vec<_> = keys.into_iter().collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// Signs a token with the first key. The context, such as its purpose and its owner, is bound and not part of the token;
    /// the payload is, and can be read.
    ///
    /// ```
    /// use switchboard::server::StateKeys;
    ///
    /// let keys = StateKeys::random();
    /// let token = keys.sign("task of ada", b"7");
    /// assert_eq!(keys.verify("task of ada", &token).as_deref(), Some(&b"7"[..]));
    /// assert_eq!(keys.verify("task of bob", &token), None);
    /// ```
    pub fn sign(&self, context: &str, payload: &[u8]) -> String {
        Self::encode(&self.0[0], &token_prefix(context), payload)
    }

    /// Returns the payload of a token that one of the keys signed for this context.
    pub fn verify(&self, context: &str, token: &str) -> Option<Vec<u8>> {
        self.decode(&token_prefix(context), token)
    }

    /// Encodes the id of the key, the tag of prefix and payload, and the payload.
    fn encode(key: &[u8; 32], prefix: &[u8], payload: &[u8]) -> String {
        let mut sealed = key_id(key).to_vec();
        sealed.extend_from_slice(&Self::tag(key, prefix, payload).finalize().into_bytes());
        sealed.extend_from_slice(payload);
        URL_SAFE_NO_PAD.encode(sealed)
    }

    /// Returns the payload of a text that one of the keys has sealed with this prefix.
    fn decode(&self, prefix: &[u8], text: &str) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (id, rest) = sealed.split_at_checked(KEY_ID)?;
        let (tag, payload) = rest.split_at_checked(TAG)?;
        let mut named = self.0.iter().filter(|key| key_id(key) == id);
        // Compared in constant time by the library.
        let is_genuine = named.any(|key| Self::tag(key, prefix, payload).verify_slice(tag).is_ok());
        is_genuine.then(|| payload.to_vec())
    }

    fn tag(key: &[u8; 32], prefix: &[u8], payload: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
        mac.update(prefix);
        mac.update(payload);
        mac
    }
}

/// Returns the public id of a key, which says nothing about the key.
fn key_id(key: &[u8; 32]) -> [u8; KEY_ID] {
    let mut hash = Sha256::new_with_prefix(b"key id");
    hash.update(key);
    let mut id = [0; KEY_ID];
    id.copy_from_slice(&hash.finalize()[..KEY_ID]);
    id
}

/// Returns the signed text in front of the payload of a token. With its length, so that no context runs into a payload.
fn token_prefix(context: &str) -> Vec<u8> {
    [TOKEN_PREFIX, &(context.len() as u64).to_le_bytes(), context.as_bytes()].concat()
}

impl std::fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateKeys({} keys)", self.0.len())
    }
}

/// The server, caller and request that a state is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StateBinding {
    pub(crate) server: String,
    pub(crate) principal: Option<String>,
    /// A digest of the method and its parameters.
    pub(crate) request: String,
}

impl StateBinding {
    /// # Errors
    /// When the parameters have no canonical text: then nothing can be bound to them.
    pub(crate) fn new(
        server: &str,
        principal: Option<String>,
        method: &str,
        params: &Raw,
    ) -> Result<Self, RpcError> {
        let request = request_digest(method, params).map_err(|error| {
            RpcError::invalid_params(format!("The request cannot be continued with input: {error}"))
        })?;
        Ok(Self { server: server.to_owned(), principal, request })
    }
}

/// The data carried from round to round.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct CarriedState {
    /// Answers so far, each with the digest of its question.
    pub(crate) answers: OrderedMap<RecordedAnswer>,
    /// Questions asked in the last round: key and digest.
    pub(crate) asked: OrderedMap<String>,
    /// Results of steps that must not be run twice.
    pub(crate) steps: OrderedMap<Raw>,
    /// Set when the questions are those of another server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) relayed: Option<RelayedState>,
}

/// The state that another server gave with its questions.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RelayedState {
    pub(crate) state: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedAnswer {
    pub(crate) question: String,
    pub(crate) answer: Raw,
}

/// The signed content of a state. Short names, as in a JWT: the text travels with every retry.
#[derive(Serialize, Deserialize)]
struct Payload {
    /// The format version.
    v: u8,
    /// The server.
    aud: String,
    /// The caller.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    sub: Option<String>,
    /// The digest of the request.
    req: String,
    /// The expiry time.
    exp: u64,
    nonce: Nonce,
    carried: CarriedState,
}

/// Seals a state, valid for `ttl`.
///
/// # Errors
/// When it is too large, or the system has no randomness to give.
pub(crate) fn seal(
    keys: &StateKeys,
    binding: &StateBinding,
    carried: &CarriedState,
    ttl: Duration,
) -> Result<String, RpcError> {
    let payload = Payload {
        v: VERSION,
        aud: binding.server.clone(),
        sub: binding.principal.clone(),
        req: binding.request.clone(),
        exp: now() + ttl.as_secs(),
        nonce: Nonce::random().map_err(|error| RpcError::internal(error.to_string()))?,
        carried: carried.clone(),
    };
    let payload = serde_json::to_vec(&payload).map_err(|error| RpcError::internal(error.to_string()))?;
    let text = StateKeys::encode(&keys.0[0], &[], &payload);
    if text.len() > MAX_BYTES {
        return Err(RpcError::internal(format!(
            "what this call must remember between its questions is {} bytes; at most {MAX_BYTES} can be carried",
            text.len()
        )));
    }
    Ok(text)
}

/// Opens a state and marks it as used. Every failure returns the same error.
///
/// # Errors
/// When it was changed, is bound to something else, has expired, or was used before.
pub(crate) fn open(
    keys: &StateKeys,
    used: &UsedStates,
    binding: &StateBinding,
    text: &str,
) -> Result<CarriedState, RpcError> {
    let rejection = || RpcError::invalid_params("Invalid or expired requestState");
    if text.len() > MAX_BYTES {
        return Err(rejection());
    }
    let payload = keys.decode(&[], text).ok_or_else(rejection)?;
    let payload: Payload = serde_json::from_slice(&payload).map_err(|_| rejection())?;
    let now = now();
    let is_valid = payload.v == VERSION
        && payload.aud == binding.server
        && payload.sub == binding.principal
        && payload.req == binding.request
        && payload.exp > now
        && used.insert(payload.exp, payload.nonce, now);
    if is_valid { Ok(payload.carried) } else { Err(rejection()) }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the SHA-256 of a text.
pub(crate) fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes()))
}

/// Returns the digest of a request without the members that a retry may change.
///
/// # Errors
/// When the parameters have no canonical text. There is no digest then, not even one of nothing.
fn request_digest(method: &str, params: &Raw) -> Result<String, DecodeError> {
    let params = params.canonical_without(CHANGED_BY_RETRY)?;
    // No method contains a line break, so the separator is unambiguous.
    Ok(digest(&format!("{method}\n{params}")))
}

#[cfg(test)]
mod tests;
