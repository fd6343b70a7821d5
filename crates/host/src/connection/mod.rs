//! Connection tasks: one for each server. Connects, lists tools, reconnects with backoff.
//!
//! ```text
//!   ServerSpec ── connectors ──▶ Dial ──▶ session ──▶ lists ──▶ registry
//!             ▲             task             │
//!           retry ◀─────── failure ◀─────────┘
//! ```

mod connectors;
mod refresh;
mod resume;
mod retry;
mod running;
mod shared_state;
mod task;

pub(crate) use connectors::Connectors;
pub use connectors::{CredentialProvider, TokenSource};
pub(crate) use resume::Sentinel;
pub(crate) use running::Running;
pub(crate) use shared_state::SharedState;
