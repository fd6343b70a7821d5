//! Configuration files, and [`ConfigWatcher`], which rereads them when they change.
//!
//! A server is written as a [`ServerConfig`]; [`ResolvedConfig`] is the merged set of all files; a
//! [`ServerSpec`](crate::ServerSpec) is created from the [`ServerPlan`] of each server.

mod file_watcher;
mod watch;

pub use file_watcher::FileWatcher;
pub use switchboard_config::{
    Approval, Approvals, Binding, ConfigError, ConfigErrorKind, ConfigFile, ConfiguredServer, ConsentLine,
    ConsentScreen, DEFAULT_MAX_FAILURES, DEFAULT_STARTUP_TIMEOUT, EnterpriseConfig, EnterpriseSecrets,
    GrantConfig, HeadersHelperConfig, Layer, Locations, OAuthConfig, OffReason, Position, PreviousApproval,
    ResolveContext, ResolvedConfig, ResourceConfig, RestartPolicy, Scope, ServerConfig, ServerEntry,
    ServerPlan, Settings, ShadowedServer, SharePolicy, StartPolicy, TransportConfig, VariableLookup, Warning,
    canonical, disk, expand_variables, import, update,
};
pub(crate) use switchboard_config::{escape, mask};
pub use watch::ConfigWatcher;
