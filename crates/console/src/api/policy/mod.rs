//! The policy: rules, denials, test decisions.

mod routes;

pub(super) use routes::routes;
