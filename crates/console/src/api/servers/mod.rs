//! Servers: state, reconnecting, stderr, diagnosis.

mod routes;

pub(super) use routes::routes;
