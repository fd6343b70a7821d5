//! Logins: stored ones, attempts.
//!
//! Invariants: at most one attempt per server runs; an attempt ends with exactly one last step; cancelling it drops the work.

mod attempts;
mod routes;

pub(crate) use attempts::LoginAttempts;
pub(super) use routes::{follow_logins, routes};
