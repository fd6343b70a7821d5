//! Nonces of DPoP proofs: they say when a proof was made, whatever the clock of the client (RFC 9449, section 8).
//!
//! A nonce is the number of a period and its HMAC, so nothing is stored. The nonces of the current period and of the one
//! before are valid.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;

/// The length of a period.
pub(crate) const NONCE_PERIOD: Duration = Duration::from_secs(300);

/// Issues and checks nonces.
#[derive(Debug, Clone)]
pub(crate) struct DpopNonces {
    key: hmac::Key,
}

impl DpopNonces {
    /// Returns nonces under this key, or under one of this process.
    pub(crate) fn new(key: Option<&[u8; 32]>) -> Self {
        let key = match key {
            Some(key) => hmac::Key::new(hmac::HMAC_SHA256, key),
            None => hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
                .expect("the system's random generator works"),
        };
        Self { key }
    }

    /// Returns the nonce of a time, in seconds since the Unix epoch.
    pub(crate) fn current(&self, now: u64) -> String {
        self.of_period(now / NONCE_PERIOD.as_secs())
    }

    /// Returns whether a nonce is valid.
    pub(crate) fn is_valid(&self, nonce: &str, now: u64) -> bool {
        let period = now / NONCE_PERIOD.as_secs();
        // Nonces are public: everybody gets the same one.
        nonce == self.of_period(period) || nonce == self.of_period(period.saturating_sub(1))
    }

    fn of_period(&self, period: u64) -> String {
        let mut nonce = period.to_be_bytes().to_vec();
        nonce.extend_from_slice(&hmac::sign(&self.key, &period.to_be_bytes()).as_ref()[..16]);
        URL_SAFE_NO_PAD.encode(nonce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_valid_in_its_period_and_the_next() {
        let nonces = DpopNonces::new(None);
        let nonce = nonces.current(3000);
        for (now, is_valid) in [(2999, false), (3000, true), (3299, true), (3599, true), (3600, false)] {
            assert_eq!(nonces.is_valid(&nonce, now), is_valid, "{now}");
        }
        assert!(!nonces.is_valid("", 3000) && !DpopNonces::new(None).is_valid(&nonce, 3000));
    }

    #[test]
    fn servers_with_one_key_accept_the_nonces_of_each_other() {
        let nonce = DpopNonces::new(Some(&[7; 32])).current(3000);
        assert!(DpopNonces::new(Some(&[7; 32])).is_valid(&nonce, 3000));
        assert!(!DpopNonces::new(Some(&[8; 32])).is_valid(&nonce, 3000));
    }
}
