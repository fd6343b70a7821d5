//! Scopes of sessions: which of the sessions with one server a request uses, and how that session is opened.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use switchboard_http::Authorizer;
use switchboard_protocol::Root;
use switchboard_session::client::HandlerCapabilities;

/// The key of a session: a digest of any texts, such as the principal of a caller. Its size is bounded, and it names nobody.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionKey([u8; 32]);

impl SessionKey {
    /// Creates the key of these texts. Different lists of texts have different keys.
    pub fn new<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            // With the length, so that no part can be mistaken for two.
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self(digest.finalize().into())
    }

    /// Creates the key with these bytes, which [`Self::as_bytes`] has returned.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the key.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKey({:02x}{:02x}{:02x}{:02x}…)", self.0[0], self.0[1], self.0[2], self.0[3])
    }
}

/// A further session with a server, beside its main one: with a process or connection of its own, its own roots, declared
/// capabilities and credentials. Requests with the same key share it; the first one decides how it is opened.
///
/// It is opened by its first request, closed when it was not used for the [idle timeout](crate::ServerSpec::idle_timeout),
/// and opened again by the next request. It ends with its server. The catalog always shows the lists of the main session.
///
/// ```
/// use switchboard::host::{SessionKey, SessionScope};
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let ada = SessionScope::new(SessionKey::new(["ada"]));
/// let sum = host.call_tool("sums", "add", json!({ "a": 1, "b": 2 })).in_session(&ada).await?;
/// assert_eq!(sum.text(), "3");
/// assert_eq!(host.status()[0].sessions, 1);
/// # demo::done() });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionScope {
    /// The key.
    pub key: SessionKey,
    /// Whose session it is: sessions of one owner are [limited](SessionLimits::per_owner), and make room for each other.
    pub owner: Option<SessionKey>,
    /// The questions of the server that callers of this session may answer; by default those of the host.
    pub capabilities: Option<HandlerCapabilities>,
    /// The roots that the server receives; by default those of the host.
    pub roots: Option<Arc<[Root]>>,
    /// Authorizes the requests to an HTTP server, instead of the credentials of the host.
    pub authorizer: Option<Arc<dyn Authorizer>>,
}

impl SessionScope {
    /// Creates a scope with the capabilities, roots and credentials of the host.
    pub fn new(key: SessionKey) -> Self {
        Self { key, owner: None, capabilities: None, roots: None, authorizer: None }
    }

    /// Sets whose session it is.
    #[must_use]
    pub fn with_owner(mut self, owner: SessionKey) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Sets the questions that callers of this session may answer.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: HandlerCapabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Sets the roots that the server receives.
    #[must_use]
    pub fn with_roots(mut self, roots: impl Into<Arc<[Root]>>) -> Self {
        self.roots = Some(roots.into());
        self
    }

    /// Sets what authorizes the requests to an HTTP server.
    #[must_use]
    pub fn with_authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }
}

impl fmt::Debug for SessionScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionScope").field("key", &self.key).finish_non_exhaustive()
    }
}

/// How many sessions with keys a host holds at once. For a further one, the least recently used one that is not in use is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// With one server.
    pub per_server: usize,
    /// With one server, of one [owner](SessionScope::owner).
    pub per_owner: usize,
    /// With all servers.
    pub total: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { per_server: 128, per_owner: 16, total: 1_024 }
    }
}

impl SessionLimits {
    /// Sets the number of sessions with one server.
    #[must_use]
    pub fn with_per_server(mut self, sessions: usize) -> Self {
        self.per_server = sessions;
        self
    }

    /// Sets the number of sessions of one owner with one server.
    #[must_use]
    pub fn with_per_owner(mut self, sessions: usize) -> Self {
        self.per_owner = sessions;
        self
    }

    /// Sets the number of sessions with all servers.
    #[must_use]
    pub fn with_total(mut self, sessions: usize) -> Self {
        self.total = sessions;
        self
    }
}

/// The limit of sessions that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionLimit {
    /// That of one server.
    Server(usize),
    /// That of one owner with one server.
    Owner(usize),
    /// That of the host.
    Host(usize),
}

impl fmt::Display for SessionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(max) => write!(f, "one server has at most {max} sessions at once")?,
            Self::Owner(max) => write!(f, "one caller has at most {max} sessions with one server at once")?,
            Self::Host(max) => write!(f, "all servers have at most {max} sessions at once")?,
        }
        f.write_str(", and all are in use; end a call or a subscription, or try again later")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_texts_have_different_keys() {
        let key = |parts: &[&str]| SessionKey::new(parts);
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
        let all = [key(&["a", "b"]), key(&["ab"]), key(&["", "ab"]), key(&["ab", ""]), key(&[])];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
        assert!(!format!("{:?}", key(&["ada@example.org"])).contains("ada"));
    }
}
