//! Subscriptions to resources.

mod follow;
mod routes;
mod subscription_table;

pub(super) use routes::routes;
pub(super) use subscription_table::SubscriptionTable;
