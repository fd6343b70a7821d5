//! From what a person wrote to what will be run.
//!
//! A server is written as an [`Entry`], in a file or by a program. [`Entry::plan`] fills in its variables and gives the
//! [`Plan`] that is run.
//!
//! **Invariants.** Nothing here starts a program or opens a connection. A command is never filled in. No error, warning
//! or debug text shows a secret.

mod document;
mod entry;
mod expand;
mod fault;
mod mask;
mod plan;
mod prepare;
mod read;

pub use document::Position;
pub use entry::{Binding, Entry, Kind, Settings};
pub use expand::Lookup;
pub use fault::{Fault, Problem};
pub use plan::{Off, Plan, Reach, Restart, Start};
pub use prepare::{RESTARTS, STARTUP};
pub use read::Warning;
