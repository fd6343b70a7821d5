//! Routes of this area.

use std::sync::Arc;

use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::{ApiError, PolicyTest};
use crate::providers::PolicyProvider;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::get("/api/policy", snapshot), ApiRoute::post("/api/policy/test", test)]
}

async fn snapshot(state: Arc<ConsoleState>, _: ApiRequest) -> Result<ApiResponse, ApiError> {
    let mut snapshot = provider(&state)?.snapshot().await;
    snapshot.denials = state.denials.newest_first();
    ApiResponse::ok(&snapshot)
}

async fn test(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let test: PolicyTest = request.json()?;
    ApiResponse::ok(&provider(&state)?.test(&test).await?)
}

fn provider(state: &ConsoleState) -> Result<Arc<dyn PolicyProvider>, ApiError> {
    let provider = state.providers.policy.clone();
    provider.ok_or_else(|| ApiError::not_found("not_available", "there is no policy"))
}

/// Records denials as they happen, until there are no more.
pub(in crate::api) async fn follow_denials(state: Arc<ConsoleState>) {
    let Some(provider) = state.providers.policy.clone() else { return };
    while let Some(denial) = provider.next_denial().await {
        state.denials.record(denial, &state.events);
    }
}
