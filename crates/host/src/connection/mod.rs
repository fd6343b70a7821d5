//! Connection tasks, one per server: connect, list tools, reconnect with backoff.
//!
//! ```text
//!   ServerSpec ── connectors ──▶ Dial ──▶ session ──▶ lists ──▶ registry
//!             ▲             task             │
//!           retry ◀─────── failure ◀─────────┘
//! ```

mod connectors;
mod kept_lists;
mod open;
mod refresh;
mod retry;
mod sent_credentials;
mod session_clock;
mod shared_state;
mod sleep_watcher;
mod task;

pub(crate) use connectors::{Connectors, DialOptions};
pub use connectors::{CredentialProvider, TokenSource};
pub(crate) use sent_credentials::SentCredentials;
pub(crate) use shared_state::SharedState;
pub(crate) use sleep_watcher::SleepWatcher;
pub(crate) use task::spawn;
