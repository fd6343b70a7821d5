//! Adding servers: plans, configuration, demo servers.

mod routes;

pub(super) use routes::routes;
