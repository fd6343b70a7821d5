//! The gateway of the command: settings, listeners, reload and shutdown.
//!
//! ```text
//!   flags + file ─▶ settings (valid as a whole) ─▶ host, gateway ─▶ listeners ─▶ serve until a signal ─▶ drain
//!                        ▲                                            │
//!                        └── reload: SIGHUP, a changed file ──────────┘
//! ```

mod applied_state;
mod callers;
mod digest_key;
mod gateway_host;
mod known_tool;
mod listeners;
mod metrics;
mod pinned_definitions;
mod policy_file;
mod reload;
mod restart_keys;
mod run;
mod serve;
mod service_manager;
mod settings;
mod source_files;
mod telemetry;
mod unmatched_rules;

pub(crate) use applied_state::{AppliedServer, AppliedState, AppliedView, tools_of_view};
pub(crate) use digest_key::DigestKey;
pub(crate) use gateway_host::{build_host, server_specs};
pub(crate) use known_tool::{KnownTool, KnownTools, known_tools, unmatched_rules};
pub(crate) use pinned_definitions::PinnedDefinitions;
pub(crate) use policy_file::load_policy;
pub(crate) use restart_keys::needs_restart;
pub(crate) use run::run;
pub(crate) use settings::GatewaySettings;
