//! Options of a served service.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_design::{ArgumentErrors, Error, ErrorRules, OutputSchemaPolicy};
use switchboard_protocol::{CacheHints, Implementation};
use switchboard_session::StateKeys;
use switchboard_session::server::ServerLimits;
use switchboard_session::server::layer::{AccessLog, Layer};

use crate::task::Tasks;
use crate::{EventFeed, StreamJson};

/// How unknown arguments of tools and prompts, and unknown members of nested objects, are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum UnknownArguments {
    /// Rejects the call and names them, so that a misspelled optional argument is noticed.
    #[default]
    Refuse,
    /// Ignores them; nested objects are decoded by their type, which skips unknown members.
    Ignore,
}

/// How a session is opened when the client requests an unsupported protocol revision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum VersionPolicy {
    /// Responds with the newest supported revision; the client decides whether to continue.
    #[default]
    Negotiate,
    /// Rejects the session and lists the supported revisions.
    Exact,
}

/// Limits on the stream items that a tool result carries for clients without the stream extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamLimits {
    /// Maximum number of content items.
    pub items: usize,
    /// Maximum number of content bytes.
    pub bytes: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { items: 1_000, bytes: 1024 * 1024 }
    }
}

impl StreamLimits {
    /// Sets the maximum number of content items in a result.
    #[must_use]
    pub fn items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// Sets the maximum number of content bytes in a result.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }
}

pub(crate) type ErrorMapper = Arc<dyn Fn(Error) -> Error + Send + Sync>;

/// Options set on a [`ServiceBuilder`](crate::ServiceBuilder).
#[derive(Clone, Default)]
pub(crate) struct BuilderOptions {
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) log_payloads: bool,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
    pub(crate) mapper: Option<ErrorMapper>,
    pub(crate) rules: ErrorRules,
    /// `None` selects the default of the protocol revision.
    pub(crate) argument_errors: Option<ArgumentErrors>,
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) stream_json: StreamJson,
    pub(crate) stream_limits: StreamLimits,
    pub(crate) unknown: UnknownArguments,
    pub(crate) outputs: OutputSchemaPolicy,
    pub(crate) page_size: Option<usize>,
    pub(crate) hints: Option<CacheHints>,
    pub(crate) list_changed: Option<bool>,
    pub(crate) reveal_scopes: Option<bool>,
    pub(crate) anonymous_scopes: BTreeSet<String>,
    pub(crate) accept_notifications: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) tasks: Option<Tasks>,
    pub(crate) version_policy: VersionPolicy,
    pub(crate) version_override: Option<String>,
    pub(crate) state_keys: Option<StateKeys>,
    pub(crate) limits: Option<ServerLimits>,
    pub(crate) instructions: Option<String>,
    pub(crate) info: Option<Implementation>,
    pub(crate) feeds: Vec<EventFeed>,
    #[cfg(feature = "http")]
    pub(crate) http: Option<switchboard_transport::http::server::HttpServerOptions>,
}

impl BuilderOptions {
    /// Returns the access log, with payloads if they are logged.
    pub(crate) fn access_log(&self) -> Option<AccessLog> {
        self.access_log.clone().map(|log| log.with_payloads(self.log_payloads))
    }

    /// Returns whether anything can publish events of the service. If not, a listener would wait forever.
    pub(crate) fn publishes_events(&self) -> bool {
        !self.feeds.is_empty() || self.accept_notifications
    }
}

impl fmt::Debug for BuilderOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuilderOptions")
            .field("rules", &self.rules)
            .field("allow", &self.allow)
            .field("deny", &self.deny)
            .finish_non_exhaustive()
    }
}
