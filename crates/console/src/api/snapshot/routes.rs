//! ApiRoute of the snapshot.

use std::sync::Arc;

use super::console_snapshot::console_snapshot;
use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::ApiError;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::get("/api/snapshot", snapshot)]
}

async fn snapshot(state: Arc<ConsoleState>, _: ApiRequest) -> Result<ApiResponse, ApiError> {
    ApiResponse::ok(&console_snapshot(&state))
}
