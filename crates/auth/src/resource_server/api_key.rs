//! API keys: random texts that are stored as hashes only.
//!
//! A key is `sbk_`, an id of 12 hexadecimal digits, `_`, and 256 random bits in base64url. The id finds the entry, the
//! SHA-256 of the whole key is compared in constant time. A plain hash is enough: nobody guesses 256 bits.
//!
//! The file is JSON:
//! ```json
//! { "version": 1, "keys": [{ "id": "0123456789ab", "name": "ci", "scopes": "notes:read",
//!   "hash": "sha256:…", "created_at": 1790000000, "expires_at": null }] }
//! ```

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use switchboard_http::{Secret, VerifiedCaller};

use crate::random::random_token;
use crate::scope::Scopes;

/// How every key begins: secret scanners find it, and no token of an authorization server looks like it.
const PREFIX: &str = "sbk_";
const ID_LENGTH: usize = 12;
const VERSION: u32 = 1;

/// A set of API keys, as hashes.
///
/// ```
/// use switchboard::auth::{ApiKeys, Scopes};
///
/// let mut keys = ApiKeys::default();
/// let key = keys.create("ci", Scopes::parse("notes:read"), None);
/// assert!(key.expose().starts_with("sbk_"));
/// // The key itself is not stored.
/// assert!(!keys.to_json().contains(key.expose()));
/// assert_eq!(ApiKeys::parse(&keys.to_json())?.iter().count(), 1);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiKeys {
    entries: Vec<ApiKeyEntry>,
}

/// A stored API key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApiKeyEntry {
    /// The id, which is also a part of the key.
    pub id: String,
    /// The name, for people.
    pub name: String,
    /// The scopes of its callers.
    #[serde(default)]
    pub scopes: Scopes,
    hash: KeyHash,
    /// When it was created, in seconds since the Unix epoch.
    pub created_at: u64,
    /// When it expires, in seconds since the Unix epoch.
    #[serde(default)]
    pub expires_at: Option<u64>,
}

/// The SHA-256 of a key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct KeyHash([u8; 32]);

#[derive(Serialize, Deserialize)]
struct ApiKeyDocument {
    version: u32,
    keys: Vec<ApiKeyEntry>,
}

impl ApiKeys {
    /// The largest file of API keys that is read.
    pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

    /// Parses the text of a file.
    ///
    /// # Errors
    /// The reason, when the text is not a set of API keys.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document: ApiKeyDocument = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.version != VERSION {
            return Err(format!("it has version {}, expected {VERSION}", document.version));
        }
        Ok(Self { entries: document.keys })
    }

    /// Returns the text of a file.
    pub fn to_json(&self) -> String {
        let document = ApiKeyDocument { version: VERSION, keys: self.entries.clone() };
        serde_json::to_string_pretty(&document).expect("strings and numbers serialize")
    }

    /// Creates a key and returns it. It is shown once: only its hash is stored.
    pub fn create(&mut self, name: impl Into<String>, scopes: Scopes, expires_at: Option<u64>) -> Secret {
        let mut id = [0; ID_LENGTH / 2];
        SystemRandom::new().fill(&mut id).expect("the system's random generator works");
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let key = Secret::new(format!("{PREFIX}{id}_{}", random_token().expose()));
        self.entries.push(ApiKeyEntry {
            id,
            name: name.into(),
            scopes,
            hash: KeyHash::of(key.expose()),
            created_at: crate::jws::unix_now(),
            expires_at,
        });
        key
    }

    /// Removes a key by its id. Returns whether there was one.
    pub fn revoke(&mut self, id: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.id != id);
        self.entries.len() != before
    }

    /// Returns the stored keys.
    pub fn iter(&self) -> impl Iterator<Item = &ApiKeyEntry> {
        self.entries.iter()
    }

    /// Returns whether a token looks like an API key.
    pub(crate) fn is_api_key(token: &str) -> bool {
        token.starts_with(PREFIX)
    }

    /// Returns the entry of a key that is valid at this time.
    pub(crate) fn find(&self, key: &str, now: u64) -> Option<&ApiKeyEntry> {
        let id = key.strip_prefix(PREFIX)?.get(..ID_LENGTH)?;
        let hash = KeyHash::of(key);
        self.entries
            .iter()
            .filter(|entry| entry.id == id)
            .find(|entry| entry.hash.0.ct_eq(&hash.0).into())
            .filter(|entry| entry.expires_at.is_none_or(|expires_at| now < expires_at))
    }
}

impl ApiKeyEntry {
    /// Returns how the key begins: enough to recognize it, useless without the rest.
    pub fn prefix(&self) -> String {
        format!("{PREFIX}{}", self.id)
    }

    /// Returns the caller that the key stands for. It has no issuer, so it is never mistaken for a user of one.
    pub(crate) fn caller(&self) -> VerifiedCaller {
        let claims = serde_json::json!({ "api_key": { "id": self.id, "name": self.name } });
        VerifiedCaller::new(format!("api-key:{}", self.id))
            .with_scopes(self.scopes.iter())
            .with_claims(claims.to_string())
            .with_auth_method("api-key")
    }
}

impl KeyHash {
    fn of(key: &str) -> Self {
        Self(digest(&SHA256, key.as_bytes()).as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

impl TryFrom<String> for KeyHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = text.strip_prefix("sha256:").and_then(|hash| URL_SAFE_NO_PAD.decode(hash).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or("`hash` is not `sha256:` and a hash in base64url")
    }
}

impl From<KeyHash> for String {
    fn from(hash: KeyHash) -> Self {
        format!("sha256:{}", URL_SAFE_NO_PAD.encode(hash.0))
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("••••")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_until_it_expires_or_is_revoked() {
        let mut keys = ApiKeys::default();
        let key = keys.create("ci", Scopes::parse("a b"), Some(1000));
        let other = keys.create("laptop", Scopes::default(), None);
        let mut keys = ApiKeys::parse(&keys.to_json()).unwrap();
        let entry = keys.find(key.expose(), 999).unwrap();
        assert_eq!(
            (entry.name.as_str(), entry.caller().scopes),
            ("ci", vec!["a".to_owned(), "b".to_owned()])
        );
        assert!(keys.find(key.expose(), 1000).is_none());
        assert_eq!(keys.find(other.expose(), u64::MAX).unwrap().name, "laptop");
        let id = keys.iter().last().unwrap().id.clone();
        assert!(keys.revoke(&id) && !keys.revoke(&id));
        assert!(keys.find(other.expose(), 0).is_none());
    }

    #[test]
    fn no_changed_key_is_found() {
        let mut keys = ApiKeys::default();
        let key = keys.create("ci", Scopes::default(), None);
        for at in 0..key.expose().len() {
            let mut bytes = key.expose().as_bytes().to_vec();
            bytes[at] ^= 1;
            assert!(keys.find(&String::from_utf8(bytes).unwrap(), 0).is_none(), "{at}");
            assert!(keys.find(&key.expose()[..at], 0).is_none(), "{at}");
        }
        for text in ["", "sbk_", "sbk_üüüüüüüüüü", &format!("{}x", key.expose())] {
            assert!(keys.find(text, 0).is_none(), "{text}");
        }
    }

    #[test]
    fn neither_key_nor_hash_is_printed_and_damaged_files_are_rejected() {
        let mut keys = ApiKeys::default();
        let key = keys.create("ci", Scopes::default(), None);
        let hash = String::from(KeyHash::of(key.expose()));
        assert!(keys.to_json().contains(&hash));
        assert!(!format!("{keys:?}").contains(&hash["sha256:".len()..]));
        let json = keys.to_json();
        for text in [
            "",
            "[]",
            "{}",
            &json.replace("sha256:", "md5:"),
            &json.replace("\"version\": 1", "\"version\": 2"),
        ] {
            assert!(ApiKeys::parse(text).is_err(), "{text}");
        }
    }
}
