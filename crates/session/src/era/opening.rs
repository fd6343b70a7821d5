//! The server's policy for opening a session: accepted versions, requests before `initialize`, a second `initialize`.

use switchboard_protocol::{ErrorCode, Revision, RpcError, UnknownRevision};

use crate::era::ServerProfile;

/// The server's policy for opening a session. The default is that of the specification.
///
/// It concerns revisions that open with a handshake. In the others every request names its version, and a request with an
/// unsupported version is rejected with the list of supported ones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpeningPolicy {
    /// Which version a session is opened with.
    pub version: VersionPolicy,
    /// Whether a second `initialize` on a session is rejected as invalid parameters. Unless set, it is rejected as an
    /// invalid request; over HTTP it opens another session.
    pub reject_repeated: bool,
    /// The error code for a request before `initialize`.
    pub too_early: ErrorCode,
}

/// Which version a session is opened with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum VersionPolicy {
    /// The version that the client names, if it is supported; otherwise the one that the server prefers, which the client may
    /// decline.
    #[default]
    Negotiate,
    /// Exactly this version: a client that names another is rejected, with this one in the error.
    Exact(Revision),
}

impl VersionPolicy {
    /// Creates a policy for exactly the version of this name.
    ///
    /// # Errors
    /// When there is no such version.
    pub fn exact(name: &str) -> Result<Self, UnknownRevision> {
        name.parse().map(Self::Exact)
    }
}

impl Default for OpeningPolicy {
    fn default() -> Self {
        Self {
            version: VersionPolicy::default(),
            reject_repeated: false,
            too_early: ErrorCode::INVALID_PARAMS,
        }
    }
}

impl OpeningPolicy {
    /// Creates the policy of the specification.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the version policy.
    #[must_use]
    pub fn with_version(mut self, version: VersionPolicy) -> Self {
        self.version = version;
        self
    }

    /// Rejects a second `initialize` as invalid parameters.
    #[must_use]
    pub fn reject_repeated(mut self) -> Self {
        self.reject_repeated = true;
        self
    }

    /// Sets the error code for a request before `initialize`.
    #[must_use]
    pub fn with_too_early(mut self, code: ErrorCode) -> Self {
        self.too_early = code;
        self
    }

    /// Creates the error for a second `initialize`.
    pub(crate) fn already_initialized_error(&self) -> RpcError {
        if self.reject_repeated {
            RpcError::invalid_params("Already initialized: a session is opened once")
        } else {
            RpcError::invalid_request("the session is initialized already; open another connection")
        }
    }

    /// Creates the error for a request before `initialize`.
    pub(crate) fn not_initialized_error(&self) -> RpcError {
        RpcError::new(self.too_early, "Not initialized: send initialize first")
    }

    /// Returns the version to open with when the client names this one.
    ///
    /// # Errors
    /// When there is none: the error for the client.
    pub(crate) fn negotiate(&self, server: &ServerProfile, named: &str) -> Result<Revision, RpcError> {
        let legacy = server.revisions.legacy();
        match self.version {
            VersionPolicy::Negotiate => {
                let wanted = legacy.iter().copied().find(|revision| revision.as_str() == named);
                wanted
                    .or(legacy.first().copied())
                    .ok_or_else(|| super::serving::unsupported_version(server, named))
            }
            VersionPolicy::Exact(only) if named == only.as_str() && legacy.contains(&only) => Ok(only),
            VersionPolicy::Exact(only) => {
                let served = legacy.contains(&only).then_some(only.as_str());
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
