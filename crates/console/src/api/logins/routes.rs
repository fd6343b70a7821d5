//! Routes of this area.

use std::sync::Arc;

use serde::Serialize;

use super::attempts::{cancel_attempt, start_attempt};
use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::{ApiError, ConsoleEvent, ForgetLogin, LoginRequest, Logins};
use crate::providers::LoginProvider;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::get("/api/logins", list),
        ApiRoute::write("/api/logins", start),
        ApiRoute::write("/api/logins/{attempt}/cancel", cancel),
        ApiRoute::write("/api/logins/forget", forget),
    ]
}

/// The number of an attempt that was started.
#[derive(Serialize)]
struct AttemptStarted {
    attempt: u64,
}

async fn list(state: Arc<ConsoleState>, _: ApiRequest) -> Result<ApiResponse, ApiError> {
    let logins = match &state.providers.logins {
        Some(provider) => provider.logins().await,
        None => Logins { logins: Vec::new(), store_error: None },
    };
    ApiResponse::ok(&logins)
}

async fn start(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let request: LoginRequest = request.json()?;
    let provider = provider(&state)?;
    if state.host.state(&request.server).is_err() {
        let message = format!("no server is named `{}`", request.server);
        return Err(ApiError::not_found("unknown_server", message));
    }
    let attempt = start_attempt(&state, provider, request)?;
    ApiResponse::ok(&AttemptStarted { attempt })
}

async fn cancel(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    cancel_attempt(&state, request.number("attempt")?)?;
    ApiResponse::ok(&serde_json::json!({}))
}

async fn forget(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let login: ForgetLogin = request.json()?;
    provider(&state)?.forget(&login).await?;
    state.events.publish(ConsoleEvent::LoginsChanged);
    ApiResponse::ok(&serde_json::json!({}))
}

fn provider(state: &ConsoleState) -> Result<Arc<dyn LoginProvider>, ApiError> {
    let provider = state.providers.logins.clone();
    provider.ok_or_else(|| ApiError::not_found("not_available", "this console has no logins"))
}

/// Announces that stored logins have changed, for as long as it is polled.
pub(in crate::api) async fn follow_logins(state: Arc<ConsoleState>) {
    let Some(provider) = state.providers.logins.clone() else { return };
    loop {
        provider.changed().await;
        state.events.publish(ConsoleEvent::LoginsChanged);
    }
}
