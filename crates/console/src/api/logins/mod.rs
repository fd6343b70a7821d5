//! Logins: stored ones, attempts.

mod routes;

pub(super) use routes::routes;
