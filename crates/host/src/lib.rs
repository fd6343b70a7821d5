//! Many servers at once: a desired set of servers goes in, one live catalogue of what they offer comes out.
//!
//! The way of a server: what a person wrote (`config::Entry`) becomes what will be run ([`config::Plan`]), which a
//! slot keeps running; what the slot's server lists goes into the catalogue; a call is resolved there, permitted, and
//! sent through the slot.

pub mod config;
pub mod permission;

mod answers;
mod apply;
mod builder;
mod builtin;
mod call;
mod desired;
mod error;
mod event;
mod handle;
mod host;
mod registry;
mod report;
mod resources;
mod slot;
mod telemetry;

pub use builder::HostBuilder;
pub use call::{
    OwnTool, Permit, Permitted, Proposed, Replay, Run, Spill, ToolCall, TraceContext, Traced, Validation,
};
pub use desired::Desired;
pub use error::HostError;
pub use event::{Event, Events, ToolsChanged};
pub use handle::ToolHandle;
pub use host::Host;
pub use registry::{Catalog, Drift, Found, Listed, OnDrift, Pins, ToolEffects, ToolInfo, Why, Withheld};
pub use registry::{name, profile};
pub use report::{ServerInfo, ServerStatus, SetServers, Tools, Written};
pub use resources::{Gathered, Of};
pub use slot::{Failure, Logins, Manifest, Status, TokenSource, Word};
pub use telemetry::Readings;
