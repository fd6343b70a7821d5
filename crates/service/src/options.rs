//! What whoever serves a service may choose.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_design::{ArgumentErrors, Error, ErrorRules, OutputSchemaPolicy};
use switchboard_protocol::{CacheHints, Implementation};
use switchboard_session::StateKeys;
use switchboard_session::server::ServerLimits;

use crate::task::Tasks;
use crate::{AdapterEvent, EventFeed, StreamJson};

/// What becomes of arguments that a tool or prompt does not have, and of unknown members of nested objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum UnknownArguments {
    /// The call is refused and says which they are: a misspelled optional argument or member does not go unnoticed.
    #[default]
    Refuse,
    /// They are left out; a nested object is read by its type, which skips members it does not know.
    Ignore,
}

/// Which revision a session opens in when the client asks for one that is not served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum VersionPolicy {
    /// The newest that is served; the client decides whether to stay.
    #[default]
    Negotiate,
    /// None: the client is told which are served.
    Exact,
}

/// How much of a stream the result of its call can carry, for clients that do not get items one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamLimits {
    /// How many content items.
    pub items: usize,
    /// How many bytes of content.
    pub bytes: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { items: 1_000, bytes: 1024 * 1024 }
    }
}

impl StreamLimits {
    /// Sets how many content items a result carries.
    #[must_use]
    pub fn items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// Sets how many bytes of content a result carries.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }
}

pub(crate) type Mapper = Arc<dyn Fn(Error) -> Error + Send + Sync>;
pub(crate) type Logger = Arc<dyn Fn(&AdapterEvent) + Send + Sync>;

/// Everything that was chosen.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) logger: Option<Logger>,
    pub(crate) log_payloads: bool,
    pub(crate) mapper: Option<Mapper>,
    pub(crate) rules: ErrorRules,
    /// None is by the revision.
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
    pub(crate) reveal_scopes: bool,
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
    pub(crate) http: Option<switchboard_transport::http::server::HttpOptions>,
}

impl Options {
    /// Whether anything can publish events of the service: without, a listener would wait forever.
    pub(crate) fn publishes_events(&self) -> bool {
        !self.feeds.is_empty() || self.accept_notifications
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("rules", &self.rules)
            .field("allow", &self.allow)
            .field("deny", &self.deny)
            .finish_non_exhaustive()
    }
}
