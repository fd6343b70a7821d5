//! Subscriptions to resources.

mod routes;

pub(super) use routes::routes;
