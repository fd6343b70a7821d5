//! The name of a process among the replicas of a server, and the ids of sessions, which begin with it.
//!
//! Invariant: a session id is visible ASCII, and its part after the name cannot be guessed.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// The longest name, in bytes.
const MAX_LENGTH: usize = 64;

/// The name of a process among the replicas of a server: up to 64 letters, digits, `-` and `_`.
///
/// The ids of legacy sessions begin with it, followed by a dot, so that a load balancer or another replica can tell where a
/// session is.
///
/// ```
/// use switchboard::transport::http::server::{HttpServerOptions, ReplicaName};
///
/// let replica: ReplicaName = "eu-1".parse()?;
/// let options = HttpServerOptions::default().with_replica(replica);
/// assert_eq!(options.replica.to_string(), "eu-1");
/// assert_eq!(ReplicaName::in_session_id("eu-1.8f14e45f"), Some("eu-1"));
/// assert!("eu.1".parse::<ReplicaName>().is_err());
/// # Ok::<(), switchboard::transport::http::server::ReplicaNameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaName(Arc<str>);

impl ReplicaName {
    /// Returns the default name of this process: random, and the same for all its services.
    pub fn of_process() -> Self {
        static NAME: OnceLock<ReplicaName> = OnceLock::new();
        NAME.get_or_init(|| Self(random_hex::<4>().into())).clone()
    }

    /// Returns the name in a session id; `None` if the id has none.
    pub fn in_session_id(id: &str) -> Option<&str> {
        id.split_once('.').map(|(name, _)| name).filter(|name| is_valid(name))
    }

    /// Returns a new session id: the name, and 256 random bits in hex.
    pub(crate) fn new_session_id(&self) -> String {
        format!("{self}.{}", random_hex::<32>())
    }
}

impl FromStr for ReplicaName {
    type Err = ReplicaNameError;

    fn from_str(name: &str) -> Result<Self, ReplicaNameError> {
        if is_valid(name) { Ok(Self(name.into())) } else { Err(ReplicaNameError(name.to_owned())) }
    }
}

impl fmt::Display for ReplicaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name that cannot be that of a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaNameError(String);

impl fmt::Display for ReplicaNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} cannot be the name of a replica\nUse 1 to {MAX_LENGTH} letters, digits, `-` and `_`.",
            self.0
        )
    }
}

impl std::error::Error for ReplicaNameError {}

fn is_valid(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_LENGTH).contains(&name.len()) && name.bytes().all(is_allowed)
}

fn random_hex<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_names_its_replica_and_cannot_be_guessed() {
        let replica: ReplicaName = "eu-1_a".parse().unwrap();
        let (one, two) = (replica.new_session_id(), replica.new_session_id());
        assert_eq!(ReplicaName::in_session_id(&one), Some("eu-1_a"));
        let (_, secret) = one.split_once('.').unwrap();
        assert!(secret.len() == 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, two);
        assert_eq!(ReplicaName::of_process(), ReplicaName::of_process());
        assert_eq!(ReplicaName::of_process().to_string().len(), 8);
    }

    #[test]
    fn a_name_has_no_character_that_ends_it() {
        for name in ["", "a.b", "a b", "a\r\nb", "é", &"a".repeat(MAX_LENGTH + 1)] {
            assert!(name.parse::<ReplicaName>().is_err(), "{name:?}");
        }
        for id in ["", "8f14e45f", ".8f14e45f", "a b.8f14e45f"] {
            assert_eq!(ReplicaName::in_session_id(id), None, "{id:?}");
        }
    }
}
