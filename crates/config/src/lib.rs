//! Configuration files of MCP servers: from what a person wrote to what will be run.
//!
//! ```text
//!   files ──▶ File ──▶ Layer (one scope) ──▶ Resolved ──▶ ServerPlan, for each server
//!                       ServerConfig            │ approval, ${VAR}, names, rules
//!   other programs' files ──▶ import ───────────┘
//! ```
//!
//! 1. A server is written as a [`ServerConfig`], by a program or in a [`File`] of `mcpServers`.
//! 2. There are several files, each a [`Scope`]; [`Resolved`] is the one set they make.
//! 3. [`ServerConfig::resolve`] fills in variables and gives the [`ServerPlan`] of what is run. A project's server first
//!    needs the user's approval of its exact entry ([`Approvals`]), given on a screen that shows it ([`Consent`]).
//! 4. Files of other programs are read by [`import`].
//!
//! **Invariants.** Nothing here starts a program, opens a connection or waits on an async runtime. A command is never
//! filled in. No error, warning or debug text shows a secret. One bad entry harms no other, and one bad file no other
//! file. A file is changed by [`update`](update::update) only.

pub mod canonical;
pub mod disk;
pub mod glob;
pub mod import;
pub mod mask;
pub mod name;
pub mod update;
pub mod visible;

mod approval;
mod caution;
mod consent;
mod document;
mod edit;
mod expand;
mod fault;
mod file;
mod json_lines;
mod location;
mod plan;
mod read;
mod resolve;
mod rule;
mod scope;
mod server_config;
mod start;

pub use approval::{Approval, Approvals, Previous};
pub use consent::{Consent, ConsentChange};
pub use document::Position;
pub use expand::{Lookup, expand_variables};
pub use fault::{Fault, Problem};
pub use file::{File, Written};
pub use location::Locations;
pub use plan::{RESTARTS, STARTUP, ServerPlan};
pub use read::Warning;
pub use resolve::{Configured, Layer, ResolveContext, Resolved, Shadowed};
pub use rule::{Found, Rule, RuleError, Rules, Verdict};
pub use scope::Scope;
pub use server_config::{Binding, Kind, ServerConfig, Settings};
pub use start::{Off, Restart, Start};
