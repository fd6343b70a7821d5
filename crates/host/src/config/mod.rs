//! Configuration files, from the crate `switchboard_config`, and [`Watch`], which follows them while they change.
//!
//! A server is written as a [`ServerConfig`]; [`Resolved`] is the set that all files make; a
//! [`ServerSpec`](crate::ServerSpec) is made from the [`ServerPlan`] of each of its servers.

mod watch;

pub use switchboard_config::{
    Approval, Approvals, Binding, Configured, Consent, ConsentChange, Fault, File, Kind, Layer, Locations,
    Lookup, Off, Position, Previous, Problem, RESTARTS, ResolveContext, Resolved, Restart, STARTUP, Scope,
    ServerConfig, ServerPlan, Settings, Shadowed, Start, Warning, Written, expand_variables, import,
};
pub(crate) use switchboard_config::{canonical, disk, mask, update, visible};
pub use watch::Watch;
