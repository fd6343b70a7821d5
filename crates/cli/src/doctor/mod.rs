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
mod examine;
mod handshake;
mod headers;
mod login;
mod program;
mod report;

pub(crate) use examine::{
    ConfiguredSubject, RemoteSubject, examine_configured, examine_program, examine_remote, examine_server,
    examine_spec, login_subject,
};
pub(crate) use report::{DoctorReport, ReportOutput, Step};
