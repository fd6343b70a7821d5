//! Servers: state, reconnecting, stderr, latencies, and the task that follows the events of the host.

mod host_monitor;
mod routes;
mod server_records;
mod server_snapshot;
mod server_state;
mod transport_view;

pub(super) use host_monitor::monitor_host;
pub(super) use routes::routes;
pub(super) use server_records::{MAX_STDERR_LINES, ServerRecords};
pub(super) use server_snapshot::server_snapshots;
