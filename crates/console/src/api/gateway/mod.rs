//! The gateway: its state, and the audit log.

mod routes;

pub(super) use routes::routes;
