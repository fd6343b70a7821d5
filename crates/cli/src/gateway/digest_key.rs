//! The key of digests of values that may contain secrets.
//!
//! A digest without a key tells whoever has it whether a guess is right, and a short secret is guessed quickly. The key is random,
//! made once for each user, and in a file of its own: what is recorded with it, and copied to a backup or a report, says nothing
//! without that file.

use std::fmt;

use serde_json::{Value, json};
use switchboard::host::config::canonical::{canonical_digest, to_hex};
use switchboard::host::config::disk::Owner;
use switchboard::host::config::update::update;
use switchboard::host::config::{ConfigError, Locations};

use crate::error::CommandError;

const KEY_BYTES: usize = 32;
/// The largest file that is read.
const MAX_BYTES: u64 = 1024;

/// A secret key for [`digests`](Self::digest).
#[derive(Clone)]
pub(crate) struct DigestKey {
    hex: String,
}

impl DigestKey {
    /// Returns the key of this user; creates it if the file has no valid one.
    ///
    /// # Errors
    /// Returns an error if the file can neither be read nor written, or the system has no random numbers.
    pub(crate) fn load(locations: &Locations) -> Result<Self, CommandError> {
        let folder = locations.approvals.with_file_name("gateways");
        let new = Self::random()?;
        let key = update(&folder.join("digest-key"), Owner::User, MAX_BYTES, |stored| {
            let stored = stored.map(str::trim_end).filter(|text| is_key(text));
            let key = stored.unwrap_or(&new.hex).to_owned();
            Ok::<_, ConfigError>((format!("{key}\n"), key))
        })?;
        Ok(Self { hex: key })
    }

    /// Returns a key that nothing else has.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    pub(crate) fn random() -> Result<Self, CommandError> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| CommandError::other("io", format!("cannot make a random key: {error}")))?;
        Ok(Self { hex: to_hex(&bytes) })
    }

    /// Returns the digest of a value, in hexadecimal.
    pub(crate) fn digest(&self, value: &Value) -> String {
        to_hex(&canonical_digest(&json!([self.hex, value])))
    }
}

fn is_key(text: &str) -> bool {
    text.len() == 2 * KEY_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_a_damaged_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let locations = Locations::under(folder.path(), folder.path(), folder.path());
        let digest = || DigestKey::load(&locations).unwrap().digest(&json!("secret"));
        let first = digest();
        assert_eq!(digest(), first);
        assert_ne!(DigestKey::random().unwrap().digest(&json!("secret")), first);
        std::fs::write(locations.approvals.with_file_name("gateways").join("digest-key"), "abc").unwrap();
        let second = digest();
        assert_ne!(second, first);
        assert_eq!(digest(), second);
    }
}
