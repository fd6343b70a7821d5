//! Routes of subscriptions.

use std::sync::Arc;

use http::StatusCode;
use serde::Deserialize;

use super::follow::follow;
use super::subscription_table::MAX_SUBSCRIPTIONS;
use crate::api::host_failure::{api_error, check_server};
use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::ApiError;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::write("/api/subscriptions", subscribe),
        ApiRoute::write("/api/subscriptions/end", unsubscribe),
    ]
}

/// `POST /api/subscriptions` and `POST /api/subscriptions/end`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubscriptionRequest {
    server: String,
    uri: String,
}

async fn subscribe(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let SubscriptionRequest { server, uri } = request.json()?;
    check_server(&state.host, &server)?;
    let (table, key) = (&state.live.subscriptions, (server, uri));
    if table.has(&key) {
        return Ok(ApiResponse::empty(StatusCode::OK));
    }
    if table.len() >= MAX_SUBSCRIPTIONS {
        let message = format!("the console has {MAX_SUBSCRIPTIONS} subscriptions already");
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_subscriptions", message)
            .with_next_step("end a subscription first"));
    }
    let subscription = state.host.subscribe(&key.0, &key.1).await.map_err(|error| api_error(&error))?;
    // Another request may have subscribed meanwhile; this subscription ends then.
    if table.insert(&key) {
        let task = state.tasks.spawn(follow(Arc::clone(&state), key.clone(), subscription));
        table.set_task(&key, task);
    }
    Ok(ApiResponse::empty(StatusCode::OK))
}

async fn unsubscribe(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let SubscriptionRequest { server, uri } = request.json()?;
    let message = format!("there is no subscription to `{uri}` of server `{server}`");
    match state.live.subscriptions.remove(&(server, uri)) {
        true => Ok(ApiResponse::empty(StatusCode::OK)),
        false => Err(ApiError::not_found("unknown_subscription", message)),
    }
}
