//! Gateway: its state, and the search of its audit log.

mod routes;

pub(super) use routes::{follow_gateway, routes};
