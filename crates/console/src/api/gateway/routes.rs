//! Routes of this area.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::{ApiError, ConsoleEvent};
use crate::providers::{AuditQuery, GatewayProvider};

/// Records of a page, unless fewer are asked for.
const MAX_RECORDS: usize = 500;
const DEFAULT_RECORDS: usize = 100;
/// Words of a search.
const MAX_WORDS: usize = 32;
/// At most one event in this time: a busy gateway changes all the time.
const EVENT_INTERVAL: Duration = Duration::from_millis(500);

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::get("/api/gateway", snapshot), ApiRoute::get("/api/audit", search)]
}

async fn snapshot(state: Arc<ConsoleState>, _: ApiRequest) -> Result<ApiResponse, ApiError> {
    ApiResponse::ok(&provider(&state)?.snapshot().await)
}

async fn search(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let provider = provider(&state)?;
    let limit = request.parsed_query("limit")?.unwrap_or(DEFAULT_RECORDS).clamp(1, MAX_RECORDS);
    let words = request.query("q").unwrap_or_default().split_whitespace().map(str::to_owned);
    let words: Vec<String> = words.collect();
    if words.len() > MAX_WORDS {
        let message = format!("the search has {} words; {MAX_WORDS} are allowed", words.len());
        return Err(ApiError::bad_request("invalid_request", message));
    }
    let query = AuditQuery { words, before: request.query("before").map(str::to_owned), limit };
    ApiResponse::ok(&provider.search_audit(&query).await?)
}

fn provider(state: &ConsoleState) -> Result<Arc<dyn GatewayProvider>, ApiError> {
    let provider = state.providers.gateway.clone();
    provider.ok_or_else(|| ApiError::not_found("no_gateway", "this console shows a host, not a gateway"))
}

/// Announces changes of the gateway, for as long as it is polled.
pub(in crate::api) async fn follow_gateway(state: Arc<ConsoleState>) {
    let Some(provider) = state.providers.gateway.clone() else { return };
    loop {
        provider.changed().await;
        state.events.publish(ConsoleEvent::GatewayChanged);
        tokio::time::sleep(EVENT_INTERVAL).await;
    }
}
