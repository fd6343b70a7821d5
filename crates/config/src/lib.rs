//! Configuration files of MCP servers: reading, merging, approval, editing and import.
//!
//! ```text
//!   files ──▶ File ──▶ Layer (one scope) ──▶ Resolved ──▶ ServerPlan, for each server
//!                       ServerConfig            │ approval, ${VAR}, names, rules
//!   other programs' files ──▶ import ───────────┘
//! ```
//!
//! 1. A server is written as a [`ServerConfig`], by a program or in a [`ConfigFile`] of `mcpServers`.
//! 2. There are several files, one per [`Scope`]; [`ResolvedConfig`] is their merged set of servers.
//! 3. [`ServerConfig::resolve`] substitutes variables and returns the [`ServerPlan`] that is run. A project's server first
//!    needs the user's approval of its exact entry ([`Approvals`]), given on a screen that shows all of it ([`ConsentScreen`]).
//! 4. Files of other programs are read by [`import`].
//!
//! **Invariants.** Nothing here starts a program, opens a connection or waits on an async runtime. Variables are
//! never substituted in a command. No error, warning or debug text shows a secret. An invalid entry does not affect other entries, nor an
//! invalid file other files. A file is changed by [`update`](update::update) only.

pub mod canonical;
pub mod disk;
pub mod escape;
pub mod glob;
pub mod import;
pub mod mask;
pub mod name;
pub mod update;

mod approval;
mod consent;
mod document;
mod edit;
mod error;
mod expand;
mod expand_oauth;
mod field_reader;
mod file;
mod headers_helper;
mod json_lines;
mod location;
mod oauth;
mod plan;
mod read;
mod read_oauth;
mod resolve;
mod risk;
mod rule;
mod scope;
mod server_config;
mod source_location;
mod start;
mod warning;

pub use approval::{Approval, Approvals, PreviousApproval};
pub use consent::{ConsentLine, ConsentScreen};
pub use document::Position;
pub use error::{ConfigError, ConfigErrorKind};
pub use expand::{VariableLookup, expand_variables};
pub use file::{ConfigFile, ServerEntry};
pub use headers_helper::HeadersHelperConfig;
pub use location::Locations;
pub use oauth::{EnterpriseConfig, EnterpriseSecrets, GrantConfig, OAuthConfig, ResourceConfig};
pub use plan::{DEFAULT_MAX_FAILURES, DEFAULT_STARTUP_TIMEOUT, ServerPlan};
pub use resolve::{ConfiguredServer, Layer, ResolveContext, ResolvedConfig, ShadowedServer};
pub use rule::{MatchingRules, Rule, RuleError, Rules, Verdict};
pub use scope::Scope;
pub use server_config::{Binding, ServerConfig, Settings, TransportConfig};
pub use start::{OffReason, RestartPolicy, SharePolicy, StartPolicy};
pub use warning::Warning;
