//! Diagnosis of a server that does not connect: every step up to its tools, timed, until one fails.
//!
//! ```text
//!   entry ─▶ approval ─▶ variables ─▶ program, environment ─▶ start ───────┐
//!                                 └─▶ address, names, connection ─▶ login ─┴─▶ handshake ─▶ tools
//! ```
//!
//! Invariants: nothing is changed, no client is registered and no token refreshed; no step shows the value of a variable, a header or an argument that may be secret.

mod address;
mod entry;
mod handshake;
mod headers;
mod login;
mod program;
mod report;

pub(crate) use address::check_address;
pub(crate) use entry::check_entry;
pub(crate) use handshake::{DoctorTransport, FirstMessage, open_session};
pub(crate) use headers::check_headers;
pub(crate) use login::{LoginSubject, check_login};
pub(crate) use program::check_program;
pub(crate) use report::{DoctorReport, ReportOutput, Step, StepError, StepFailed};
