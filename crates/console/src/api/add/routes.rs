//! Routes of this area.

use std::sync::Arc;

use http::StatusCode;
use serde::Deserialize;

use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::{AddRequest, ApiError};
use crate::providers::ConfigEditor;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::write("/api/servers/plan", plan),
        ApiRoute::write("/api/servers", add),
        ApiRoute::write("/api/demo", add_demo),
    ]
}

/// The body of `POST /api/demo`.
#[derive(Deserialize)]
struct DemoRequest {
    name: String,
}

async fn plan(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let request: AddRequest = request.json()?;
    ApiResponse::ok(&editor(&state)?.plan(&request).await?)
}

async fn add(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let request: AddRequest = request.json()?;
    editor(&state)?.add(&request).await?;
    Ok(ApiResponse::empty(StatusCode::CREATED))
}

async fn add_demo(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let DemoRequest { name } = request.json()?;
    editor(&state)?.add_demo(&name).await?;
    Ok(ApiResponse::empty(StatusCode::CREATED))
}

fn editor(state: &ConsoleState) -> Result<Arc<dyn ConfigEditor>, ApiError> {
    let editor = state.providers.config.clone();
    editor.ok_or_else(|| {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "config_edit_off",
            "this console does not edit the configuration",
        )
    })
}
