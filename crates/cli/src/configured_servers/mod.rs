//! Configured servers: the configuration files, and a host that runs their servers for one command.
//!
//! Invariant: reading the files starts nothing; started servers are stopped before the command ends, as in `connect`.

pub(crate) mod approver;
pub(crate) mod call_permission;
mod consent;
mod entry_summary;
mod files;
mod hosted_servers;
mod import_sources;
mod login_target;
pub(crate) mod manifests;
pub(crate) mod pins;
mod prepared_entry;
mod transport_secrets;

pub(crate) use consent::render_consent;
pub(crate) use entry_summary::{EntryState, command_or_url};
pub(crate) use files::{ConfigFiles, NO_SERVERS_HINT, split_server};
pub(crate) use hosted_servers::{HostRequest, HostedServers, with_host};
pub(crate) use import_sources::{find_sources, standard_paths};
pub(crate) use login_target::LoginTarget;
pub(crate) use prepared_entry::PreparedEntry;
pub(crate) use transport_secrets::transport_secrets;
