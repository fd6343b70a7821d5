//! Doctor: diagnosis of servers, step by step.
//!
//! Invariant: at most one diagnosis per server runs, and a limited number in all.

mod routes;
mod runs;

pub(super) use routes::routes;
pub(crate) use runs::DoctorRuns;
