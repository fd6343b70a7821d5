//! Routes of tasks.

use std::sync::Arc;

use serde::Deserialize;
use switchboard_json::Raw;
use switchboard_protocol::TaskIdParams;

use crate::api::host_failure::{api_error, check_server};
use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::ApiError;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::write("/api/tasks/cancel", cancel)]
}

/// `POST /api/tasks/cancel`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelTask {
    server: String,
    task_id: String,
}

/// Asks the server to cancel a task. The call that waits for it ends when the server says that the task is cancelled.
async fn cancel(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let CancelTask { server, task_id } = request.json()?;
    check_server(&state.host, &server)?;
    if !state.live.tasks.has(&server, &task_id) {
        return Err(ApiError::not_found(
            "unknown_task",
            format!("server `{server}` has no task `{task_id}`"),
        ));
    }
    let params = Raw::encode(&TaskIdParams::new(task_id)).unwrap_or_else(|_| Raw::empty_object());
    let answer = state.host.request(&server, "tasks/cancel", params).await;
    let answer = answer.map_err(|error| api_error(&error))?;
    // 2025-11-25 answers with the state of the task, the extension with nothing.
    state.live.tasks.note_change(&server, &state.mask_json(answer));
    Ok(ApiResponse::accepted())
}
