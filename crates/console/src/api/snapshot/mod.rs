//! The snapshot: everything that is small, with the number of the last event that it includes.

mod console_snapshot;
mod routes;

pub(super) use routes::routes;
