//! Adding servers: the plan, the change, demo servers.

mod routes;

pub(super) use routes::routes;
