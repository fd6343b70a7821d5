//! Connection tasks, one per server: connect, list tools, reconnect with backoff.
//!
//! ```text
//!   ServerSpec ── connectors ──▶ Dial ──▶ session ──▶ lists ──▶ registry
//!             ▲             task             │
//!           retry ◀─────── failure ◀─────────┘
//! ```

mod connectors;
mod handle;
mod kept_lists;
mod refresh;
mod retry;
mod shared_state;
mod sleep_watcher;
mod task;

pub(crate) use connectors::Connectors;
pub use connectors::{CredentialProvider, TokenSource};
pub(crate) use handle::ConnectionHandle;
pub(crate) use shared_state::SharedState;
pub(crate) use sleep_watcher::SleepWatcher;
