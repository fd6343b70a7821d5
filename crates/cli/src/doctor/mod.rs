//! Why a server does not connect: every step on the way to its tools, timed, until one fails.
//!
//! ```text
//!   entry ─▶ approval ─▶ variables ─▶ program, environment ─▶ start ─┐
//!                                 └─▶ address, names, connection ────┴─▶ handshake ─▶ tools
//! ```
//!
//! Invariant: no step shows the value of a variable, a header or an argument that may be secret.

mod address;
mod entry;
mod meeting;
mod program;
mod report;

pub(crate) use address::reach_address;
pub(crate) use entry::read_entry;
pub(crate) use meeting::{Moments, Way, meet};
pub(crate) use program::find_program;
pub(crate) use report::{Report, Stop, Trouble};
