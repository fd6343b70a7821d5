//! One slot for each server: a task that keeps it running, and what everybody else may see of it.
//!
//! ```text
//!   ServerSpec ── reach ──▶ Dial ──▶ session ──▶ lists ──▶ registry
//!             ▲          task           │
//!           retry ◀──── failure ◀───────┘
//! ```

mod reach;
mod refresh;
mod resume;
mod retry;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod slot;
mod task;
mod turns;

pub use reach::{Logins, TokenSource};
pub(crate) use reach::{Sight, Ways};
pub(crate) use resume::Sentinel;
pub(crate) use slot::{Outset, Running, Slot, Switch};
pub(crate) use task::Surroundings;
