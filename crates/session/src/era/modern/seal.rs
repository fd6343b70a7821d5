//! The state a client hands back between rounds of input, sealed so that it cannot be changed or used elsewhere.
//!
//! It is bound to the server, the caller, the request and a time, carries the answers and the steps so far, and is
//! at most 32 KiB. What it carries is readable by the client, who gave the answers; it is not a place for secrets.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use switchboard_protocol::{OrderedMap, Raw, RpcError};

/// The longest sealed state, in bytes of text.
const MOST_BYTES: usize = 32 * 1024;
/// The length of the tag in front of the payload.
const TAG: usize = 32;

/// The keys that seal request states: the first seals, any opens.
///
/// The default is one random key for the life of the process. Instances that share load share keys, and rotate by
/// putting a new key first.
#[derive(Clone)]
pub struct StateKeys(Vec<[u8; 32]>);

impl StateKeys {
    /// One random key.
    ///
    /// # Panics
    /// When the system has no randomness to give.
    pub fn random() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system gives random bytes");
        Self(vec![key])
    }

    /// These keys: the first seals, any opens. `None` when there is none.
    pub fn new(keys: impl IntoIterator<Item = [u8; 32]>) -> Option<Self> {
        let keys: Vec<_> = keys.into_iter().collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    fn tag(key: &[u8; 32], payload: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
        mac.update(payload);
        mac
    }
}

impl std::fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateKeys({} keys)", self.0.len())
    }
}

/// What a state is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) server: String,
    pub(crate) principal: Option<String>,
    /// A digest of the method and its parameters.
    pub(crate) request: String,
}

impl Bound {
    pub(crate) fn new(server: &str, principal: Option<String>, method: &str, params: &Raw) -> Self {
        Self { server: server.to_owned(), principal, request: request_digest(method, params) }
    }
}

/// What is carried from round to round.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// Answers so far, each with the digest of its question.
    pub(crate) answers: OrderedMap<Answered>,
    /// Questions asked in the last round: key and digest.
    pub(crate) asked: OrderedMap<String>,
    /// Results of steps that must not be taken twice.
    pub(crate) steps: OrderedMap<Raw>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub(crate) question: String,
    pub(crate) answer: Raw,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    v: u8,
    aud: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    sub: Option<String>,
    req: String,
    exp: u64,
    carried: Carried,
}

/// Seals what is carried, good for `ttl`.
///
/// # Errors
/// When it is too large.
pub(crate) fn seal(
    keys: &StateKeys,
    bound: &Bound,
    carried: &Carried,
    ttl: Duration,
) -> Result<String, RpcError> {
    let payload = Payload {
        v: 1,
        aud: bound.server.clone(),
        sub: bound.principal.clone(),
        req: bound.request.clone(),
        exp: now() + ttl.as_secs(),
        carried: carried.clone(),
    };
    let payload = serde_json::to_vec(&payload).map_err(|error| RpcError::internal(error.to_string()))?;
    let mut sealed = StateKeys::tag(&keys.0[0], &payload).finalize().into_bytes().to_vec();
    sealed.extend_from_slice(&payload);
    let text = URL_SAFE_NO_PAD.encode(sealed);
    if text.len() > MOST_BYTES {
        return Err(RpcError::internal(format!(
            "what this call must remember between its questions is {} bytes; at most {MOST_BYTES} can be carried",
            text.len()
        )));
    }
    Ok(text)
}

/// Opens a state. Every failure looks the same from outside.
///
/// # Errors
/// When it was changed, is for something else, or is too old.
pub(crate) fn open(keys: &StateKeys, bound: &Bound, text: &str) -> Result<Carried, RpcError> {
    let refused = || RpcError::invalid_params("Invalid or expired requestState");
    if text.len() > MOST_BYTES {
        return Err(refused());
    }
    let sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| refused())?;
    let (tag, payload) = sealed.split_at_checked(TAG).ok_or_else(refused)?;
    // Compared in constant time by the library.
    let genuine = keys.0.iter().any(|key| StateKeys::tag(key, payload).verify_slice(tag).is_ok());
    if !genuine {
        return Err(refused());
    }
    let payload: Payload = serde_json::from_slice(payload).map_err(|_| refused())?;
    let fits = payload.v == 1
        && payload.aud == bound.server
        && payload.sub == bound.principal
        && payload.req == bound.request
        && payload.exp > now();
    if fits { Ok(payload.carried) } else { Err(refused()) }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A digest of any text.
pub(crate) fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes()))
}

/// A digest of what is asked: the same however the client orders or spaces its members, without what a retry adds.
fn request_digest(method: &str, params: &Raw) -> String {
    let mut value: serde_json::Value = params.decode().unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        for retried in ["_meta", "inputResponses", "requestState"] {
            members.remove(retried);
        }
    }
    digest(&format!("{method}\n{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(600);

    fn bound(principal: Option<&str>, params: &str) -> Bound {
        Bound::new("s", principal.map(str::to_owned), "tools/call", &Raw::parse(params.to_owned()).unwrap())
    }

    fn carried() -> Carried {
        let mut carried = Carried::default();
        carried.steps.insert("paid", Raw::parse("true").unwrap());
        carried
    }

    #[test]
    fn only_the_same_request_of_the_same_caller_opens_it() {
        let keys = StateKeys::random();
        let here = bound(Some("ann"), r#"{"name":"a","arguments":{"x":1,"y":2}}"#);
        let state = seal(&keys, &here, &carried(), TTL).unwrap();
        let again =
            bound(Some("ann"), r#"{"arguments":{"y":2,"x":1},"name":"a","_meta":{},"requestState":"z"}"#);
        assert!(open(&keys, &again, &state).unwrap().steps.contains_key("paid"));
        for other in [
            bound(Some("bob"), r#"{"name":"a","arguments":{"x":1,"y":2}}"#),
            bound(None, r#"{"name":"a","arguments":{"x":1,"y":2}}"#),
            bound(Some("ann"), r#"{"name":"b","arguments":{"x":1,"y":2}}"#),
            bound(Some("ann"), r#"{"name":"a","arguments":{"x":1,"y":3}}"#),
        ] {
            assert!(open(&keys, &other, &state).is_err());
        }
        assert!(open(&StateKeys::random(), &here, &state).is_err());
        assert!(open(&keys, &here, &seal(&keys, &here, &carried(), Duration::ZERO).unwrap()).is_err());
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let keys = StateKeys::random();
        let here = bound(None, "{}");
        let state = seal(&keys, &here, &carried(), TTL).unwrap();
        for at in 0..state.len() {
            let mut damaged = state.clone().into_bytes();
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            let damaged = String::from_utf8(damaged).unwrap();
            if damaged != state {
                assert!(open(&keys, &here, &damaged).is_err(), "byte {at}");
            }
        }
    }

    #[test]
    fn keys_rotate() {
        let (old, new) = ([1; 32], [2; 32]);
        let here = bound(None, "{}");
        let state = seal(&StateKeys::new([old]).unwrap(), &here, &carried(), TTL).unwrap();
        assert!(open(&StateKeys::new([new, old]).unwrap(), &here, &state).is_ok());
        assert!(open(&StateKeys::new([new]).unwrap(), &here, &state).is_err());
    }

    #[test]
    fn too_much_is_refused_before_it_is_sent() {
        let mut carried = Carried::default();
        carried.steps.insert("big", Raw::encode(&"x".repeat(MOST_BYTES)).unwrap());
        assert!(seal(&StateKeys::random(), &bound(None, "{}"), &carried, TTL).is_err());
    }
}
