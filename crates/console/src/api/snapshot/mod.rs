//! The snapshot: everything that is small, with the number of the last event that it includes.

mod routes;

pub(super) use routes::routes;
