//! What a server makes of the first words of a session: which versions it lets in, and what comes too early or twice.

use switchboard_protocol::{ErrorCode, Revision, RpcError, UnknownRevision};

use crate::era::ServerProfile;

/// What a server makes of the first words of a session. The default is the specification's.
///
/// It concerns revisions that open with a handshake. In the others every request names its version, and one that is not
/// served is refused with the versions that are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpeningPolicy {
    /// Which version a session is opened with.
    pub version: VersionPolicy,
    /// Whether a session is opened once: a second `initialize` on it is refused as invalid parameters. Unless set, it is
    /// refused as an invalid request; over HTTP it opens another session.
    pub once: bool,
    /// The code of the error for a request that comes before `initialize`.
    pub too_early: ErrorCode,
}

/// Which version a session is opened with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum VersionPolicy {
    /// The one the client names, where it is served; otherwise the one this server prefers, and the client decides
    /// whether to stay.
    #[default]
    Negotiate,
    /// This one: a client that names another is refused, and told which it is.
    Exact(Revision),
}

impl VersionPolicy {
    /// Only the version of this name.
    ///
    /// # Errors
    /// When there is no such version.
    pub fn exact(name: &str) -> Result<Self, UnknownRevision> {
        name.parse().map(Self::Exact)
    }
}

impl Default for OpeningPolicy {
    fn default() -> Self {
        Self { version: VersionPolicy::default(), once: false, too_early: ErrorCode::INVALID_PARAMS }
    }
}

impl OpeningPolicy {
    /// The specification's.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which version a session is opened with.
    #[must_use]
    pub fn with_version(mut self, version: VersionPolicy) -> Self {
        self.version = version;
        self
    }

    /// A session is opened once.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// The code of the error for a request that comes before `initialize`.
    #[must_use]
    pub fn with_too_early(mut self, code: ErrorCode) -> Self {
        self.too_early = code;
        self
    }

    /// For a session that is open already.
    pub(crate) fn already_initialized_error(&self) -> RpcError {
        if self.once {
            RpcError::invalid_params("Already initialized: a session is opened once")
        } else {
            RpcError::invalid_request("the session is initialized already; open another connection")
        }
    }

    /// For a request that comes before `initialize`.
    pub(crate) fn not_initialized_error(&self) -> RpcError {
        RpcError::new(self.too_early, "Not initialized: send initialize first")
    }

    /// The version to open with when the client names this one.
    ///
    /// # Errors
    /// What the client is told when there is none.
    pub(crate) fn negotiate(&self, server: &ServerProfile, named: &str) -> Result<Revision, RpcError> {
        let offer = server.revisions.legacy();
        match self.version {
            VersionPolicy::Negotiate => {
                let wanted = offer.iter().copied().find(|revision| revision.as_str() == named);
                wanted
                    .or(offer.first().copied())
                    .ok_or_else(|| super::serving::unsupported_version(server, named))
            }
            VersionPolicy::Exact(only) if named == only.as_str() && offer.contains(&only) => Ok(only),
            VersionPolicy::Exact(only) => {
                let served = offer.contains(&only).then_some(only.as_str());
                let data = serde_json::json!({
                    "supported": served.into_iter().collect::<Vec<_>>(),
                    "requested": named,
                });
                let only = served.unwrap_or("no version that opens with initialize");
                let text = format!("Unsupported protocol version {named:?}: this server speaks {only}");
                Err(RpcError::invalid_params(text).with_data(data))
            }
        }
    }
}
