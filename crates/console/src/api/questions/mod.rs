//! Questions of servers.

mod routes;

pub(super) use routes::routes;
