//! From what a person wrote to what will be run.
//!
//! 1. A server is written as an [`ServerConfig`], by a program or in a [`File`] of `mcpServers`.
//! 2. There are several files, each a [`Scope`]; [`Resolved`] is the one set they make, and [`Watch`] keeps it current.
//! 3. [`ServerConfig::resolve`] fills in variables and gives the [`ServerSpec`](crate::ServerSpec) that is run. A project's server first needs the user's
//!    approval of its exact entry ([`Approvals`]).
//! 4. Files of other programs are read by [`import`].
//!
//! **Invariants.** Nothing here starts a program or opens a connection. A command is never filled in. No error, warning
//! or debug text shows a secret. One bad entry harms no other, and one bad file no other file.

pub mod import;

mod approval;
pub(crate) mod canonical;
mod caution;
mod consent;
pub(crate) mod disk;
mod document;
mod edit;
mod expand;
mod fault;
mod file;
mod json_lines;
mod location;
pub(crate) mod mask;
mod prepare;
mod read;
mod scope;
mod server_config;
mod start;
pub(crate) mod update;
pub(crate) mod visible;
mod watch;

pub use approval::{Approval, Approvals, Previous};
pub use consent::{Consent, ConsentChange};
pub use document::Position;
pub use expand::{Lookup, expand_variables};
pub use fault::{Fault, Problem};
pub use file::{File, Written};
pub use location::Locations;
pub use prepare::{RESTARTS, STARTUP};
pub use read::Warning;
pub use scope::{Configured, Ground, Layer, Resolved, Scope, Shadowed};
pub use server_config::{Binding, Kind, ServerConfig, Settings};
pub use start::{Off, Restart, Start};
pub use watch::Watch;
