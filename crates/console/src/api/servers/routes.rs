//! Routes of servers.

use std::sync::Arc;

use switchboard_host::HostError;

use super::host_monitor::publish_stderr;
use crate::api::host_failure::check_server;
use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::ApiError;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::write("/api/servers/{name}/reconnect", reconnect),
        ApiRoute::write("/api/servers/{name}/enable", enable),
        ApiRoute::write("/api/servers/{name}/disable", disable),
        ApiRoute::write("/api/servers/{name}/disconnect", disconnect),
        ApiRoute::get("/api/servers/{name}/stderr", stderr),
    ]
}

async fn reconnect(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    change(&state, &request, |state, name| async move { state.host.reconnect(&name).await })
}

async fn enable(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    change(&state, &request, |state, name| async move { state.host.toggle(&name, true).await })
}

async fn disable(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    change(&state, &request, |state, name| async move { state.host.toggle(&name, false).await })
}

async fn disconnect(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    change(&state, &request, |state, name| async move { state.host.stop(&name).await })
}

async fn stderr(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let name = request.parameter("name");
    check_server(&state.host, name)?;
    publish_stderr(&state, name);
    ApiResponse::ok(&state.live.servers.stderr_tail(name))
}

/// Starts a change of a server. Its outcome is an event: the status of the server.
fn change<F>(
    state: &Arc<ConsoleState>,
    request: &ApiRequest,
    operation: impl FnOnce(Arc<ConsoleState>, String) -> F,
) -> Result<ApiResponse, ApiError>
where
    F: Future<Output = Result<(), HostError>> + Send + 'static,
{
    let name = request.parameter("name").to_owned();
    check_server(&state.host, &name)?;
    let changing = operation(Arc::clone(state), name.clone());
    state.tasks.spawn(async move {
        if let Err(error) = changing.await {
            tracing::debug!(server = name, %error, "the server did not change as requested");
        }
    });
    Ok(ApiResponse::accepted())
}
