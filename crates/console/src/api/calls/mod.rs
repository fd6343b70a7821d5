//! Calls: starting, cancelling, results, completion.

mod routes;

pub(super) use routes::routes;
