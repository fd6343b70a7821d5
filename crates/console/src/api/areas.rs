//! The list of areas.

use std::sync::Arc;

use super::{
    add, calls, catalog, doctor, gateway, logins, policy, questions, servers, snapshot, subscriptions, tasks,
    traffic,
};
use crate::api::{ApiRoute, ConsoleState};
use crate::providers::BoxFuture;

/// Returns the routes of all areas.
pub(crate) fn routes() -> Vec<ApiRoute> {
    [
        snapshot::routes(),
        servers::routes(),
        doctor::routes(),
        add::routes(),
        catalog::routes(),
        calls::routes(),
        questions::routes(),
        tasks::routes(),
        subscriptions::routes(),
        traffic::routes(),
        logins::routes(),
        policy::routes(),
        gateway::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns what runs while the console is served, such as forwarding events of the host. Dropping a future ends it.
pub(crate) fn background(state: &Arc<ConsoleState>) -> Vec<BoxFuture<'static, ()>> {
    vec![
        Box::pin(servers::monitor_host(Arc::clone(state))),
        Box::pin(traffic::publish_frames(Arc::clone(state))),
        Box::pin(logins::follow_logins(Arc::clone(state))),
        Box::pin(policy::follow_denials(Arc::clone(state))),
        Box::pin(gateway::follow_gateway(Arc::clone(state))),
    ]
}
