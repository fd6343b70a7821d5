//! Routes of questions.

use std::sync::Arc;

use http::StatusCode;

use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::ApiError;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::write("/api/questions/{question}", answer)]
}

async fn answer(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    state.live.questions.answer(request.number("question")?, request.json()?)?;
    Ok(ApiResponse::empty(StatusCode::OK))
}
