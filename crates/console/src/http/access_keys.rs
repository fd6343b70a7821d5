//! Tokens, which work once, and the keys that they are exchanged for.
//!
//! Invariants: a token and a key have 256 random bits; both are compared in constant time; their numbers are limited.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;
use tokio::sync::Notify;

/// How long tokens and keys work, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyLimits {
    /// From the creation of a token to its exchange.
    pub(crate) token_lifetime: Duration,
    /// From the last request with a key.
    pub(crate) key_idle: Duration,
    /// Beyond it the oldest token is dropped.
    pub(crate) tokens: usize,
    /// Beyond it the key that was not used for the longest time is dropped.
    pub(crate) keys: usize,
}

impl Default for KeyLimits {
    fn default() -> Self {
        Self {
            token_lifetime: Duration::from_secs(60),
            key_idle: Duration::from_secs(12 * 3600),
            tokens: 16,
            keys: 64,
        }
    }
}

/// The tokens and keys of a console. They end with the process.
#[derive(Debug, Default)]
pub(crate) struct AccessKeys {
    limits: KeyLimits,
    secrets: Mutex<Secrets>,
    /// Wakes those who wait for the use of a token.
    exchanged: Notify,
}

#[derive(Debug, Default)]
struct Secrets {
    tokens: Vec<Secret>,
    keys: Vec<Secret>,
}

struct Secret {
    text: String,
    /// When a token was created, or a key last used.
    at: Instant,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret").field("at", &self.at).finish_non_exhaustive()
    }
}

impl AccessKeys {
    /// Creates a set without tokens.
    pub(crate) fn new(limits: KeyLimits) -> Self {
        Self { limits, secrets: Mutex::default(), exchanged: Notify::new() }
    }

    /// Creates a token.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn create_token(&self, now: Instant) -> Result<String, getrandom::Error> {
        let text = random_text()?;
        let mut secrets = self.secrets.lock();
        secrets.tokens.retain(|token| is_within(token, self.limits.token_lifetime, now));
        if secrets.tokens.len() >= self.limits.tokens {
            secrets.tokens.remove(0);
        }
        secrets.tokens.push(Secret { text: text.clone(), at: now });
        Ok(text)
    }

    /// Exchanges a token for a key; `None` if the token is unknown, used or too old.
    ///
    /// # Errors
    /// When the system has no random numbers. The token is used up nevertheless.
    pub(crate) fn exchange(&self, token: &str, now: Instant) -> Result<Option<String>, getrandom::Error> {
        let mut secrets = self.secrets.lock();
        secrets.tokens.retain(|token| is_within(token, self.limits.token_lifetime, now));
        let Some(at) = find(&secrets.tokens, token) else { return Ok(None) };
        secrets.tokens.remove(at);
        self.exchanged.notify_waiters();
        let text = random_text()?;
        secrets.keys.retain(|key| is_within(key, self.limits.key_idle, now));
        if secrets.keys.len() >= self.limits.keys {
            let oldest = secrets.keys.iter().enumerate().min_by_key(|(_, key)| key.at).map(|(at, _)| at);
            oldest.map(|at| secrets.keys.swap_remove(at));
        }
        secrets.keys.push(Secret { text: text.clone(), at: now });
        Ok(Some(text))
    }

    /// Waits until a token was exchanged, or was dropped for newer ones.
    pub(crate) async fn wait_until_used(&self, token: &str) {
        loop {
            let mut exchanged = std::pin::pin!(self.exchanged.notified());
            // Before the look: an exchange in between is noticed.
            exchanged.as_mut().enable();
            if find(&self.secrets.lock().tokens, token).is_none() {
                return;
            }
            exchanged.await;
        }
    }

    /// Returns whether a key is valid, and counts that as a use.
    pub(crate) fn admit(&self, key: &str, now: Instant) -> bool {
        let mut secrets = self.secrets.lock();
        secrets.keys.retain(|key| is_within(key, self.limits.key_idle, now));
        let found = find(&secrets.keys, key);
        if let Some(at) = found {
            secrets.keys[at].at = now;
        }
        found.is_some()
    }

    /// Returns whether a key is valid, without using it.
    pub(crate) fn is_valid(&self, key: &str, now: Instant) -> bool {
        let secrets = self.secrets.lock();
        let found = find(&secrets.keys, key);
        found.is_some_and(|at| is_within(&secrets.keys[at], self.limits.key_idle, now))
    }
}

fn is_within(secret: &Secret, limit: Duration, now: Instant) -> bool {
    now.saturating_duration_since(secret.at) < limit
}

/// Returns the position of a secret. Compares with all of them, each in constant time.
fn find(secrets: &[Secret], text: &str) -> Option<usize> {
    let mut found = None;
    for (at, secret) in secrets.iter().enumerate() {
        if bool::from(secret.text.as_bytes().ct_eq(text.as_bytes())) {
            found = Some(at);
        }
    }
    found
}

fn random_text() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn a_token_works_once() {
        let (keys, now) = (AccessKeys::default(), Instant::now());
        let token = keys.create_token(now).unwrap();
        assert_eq!(token.len(), 43);
        let key = keys.exchange(&token, now).unwrap().unwrap();
        assert_ne!(key, token);
        assert!(keys.admit(&key, now));
        assert!(!keys.admit(&token, now));
        assert_eq!(keys.exchange(&token, now).unwrap(), None);
        assert_eq!(keys.exchange(&key, now).unwrap(), None);
    }

    #[test]
    fn a_token_works_for_a_minute() {
        let (keys, now) = (AccessKeys::default(), Instant::now());
        let (first, second) = (keys.create_token(now).unwrap(), keys.create_token(now).unwrap());
        assert!(keys.exchange(&first, now + seconds(59)).unwrap().is_some());
        assert!(keys.exchange(&second, now + seconds(60)).unwrap().is_none());
    }

    #[test]
    fn a_key_expires_twelve_hours_after_its_last_use() {
        let (keys, now) = (AccessKeys::default(), Instant::now());
        let token = keys.create_token(now).unwrap();
        let key = keys.exchange(&token, now).unwrap().unwrap();
        let idle = seconds(12 * 3600);
        assert!(keys.admit(&key, now + idle - seconds(1)));
        assert!(keys.is_valid(&key, now + idle));
        assert!(keys.admit(&key, now + idle + seconds(1)));
        assert!(!keys.is_valid(&key, now + idle * 2 + seconds(1)));
        assert!(!keys.admit(&key, now + idle * 2 + seconds(1)));
    }

    #[test]
    fn numbers_are_limited() {
        let limits = KeyLimits { tokens: 2, keys: 2, ..KeyLimits::default() };
        let (keys, now) = (AccessKeys::new(limits), Instant::now());
        let tokens: Vec<String> = (0..3).map(|_| keys.create_token(now).unwrap()).collect();
        assert_eq!(keys.exchange(&tokens[0], now).unwrap(), None, "the oldest token is dropped");
        let first = keys.exchange(&tokens[1], now).unwrap().unwrap();
        let second = keys.exchange(&tokens[2], now + seconds(1)).unwrap().unwrap();
        assert!(keys.admit(&first, now + seconds(2)));
        let token = keys.create_token(now + seconds(3)).unwrap();
        assert!(keys.exchange(&token, now + seconds(3)).unwrap().is_some());
        assert!(keys.is_valid(&first, now + seconds(3)));
        assert!(
            !keys.is_valid(&second, now + seconds(3)),
            "the key that was not used for longest is dropped"
        );
    }

    #[tokio::test]
    async fn the_use_of_a_token_is_awaited() {
        let (keys, now) = (AccessKeys::default(), Instant::now());
        let (token, other) = (keys.create_token(now).unwrap(), keys.create_token(now).unwrap());
        let mut waiting = std::pin::pin!(keys.wait_until_used(&token));
        assert!(futures_poll(waiting.as_mut()).await.is_pending());
        keys.exchange(&other, now).unwrap();
        assert!(futures_poll(waiting.as_mut()).await.is_pending());
        keys.exchange(&token, now).unwrap();
        waiting.await;
    }

    async fn futures_poll<F: Future>(mut future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
        std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx))).await
    }

    #[test]
    fn no_secret_is_printed() {
        let (keys, now) = (AccessKeys::default(), Instant::now());
        let token = keys.create_token(now).unwrap();
        assert!(!format!("{keys:?}").contains(&token));
    }
}
