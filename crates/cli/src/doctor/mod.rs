//! Diagnosis of a server that does not connect: every step up to its tools, timed, until one fails.
//!
//! ```text
//!   entry ─▶ approval ─▶ variables ─▶ program, environment ─▶ start ─┐
//!                                 └─▶ address, names, connection ────┴─▶ handshake ─▶ tools
//! ```
//!
//! Invariant: no step shows the value of a variable, a header or an argument that may be secret.

mod address;
mod entry;
mod handshake;
mod program;
mod report;

pub(crate) use address::check_address;
pub(crate) use entry::check_entry;
pub(crate) use handshake::{DoctorTransport, FirstMessage, open_session};
pub(crate) use program::check_program;
pub(crate) use report::{DoctorReport, StepError, StepFailed};
