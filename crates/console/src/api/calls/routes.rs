//! Routes of calls.

use std::sync::Arc;

use http::StatusCode;
use switchboard_host::CallNumber;

use super::call_record::CallRecord;
use super::call_runner::run_call;
use super::complete::complete;
use super::prepared_call::PreparedCall;
use crate::api::clock::unix_ms_now;
use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::{ApiError, CallRequest, CallResult, CallStarted, Denial, DenialOutcome};

/// The bytes of a result that are sent unless the whole is requested.
pub(in crate::api) const PREVIEW_BYTES: usize = 64 << 10;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::write("/api/calls", start),
        ApiRoute::get("/api/calls/{call}/result", result),
        ApiRoute::write("/api/calls/{call}/cancel", cancel),
        ApiRoute::write("/api/complete", complete),
    ]
}

async fn start(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let request: CallRequest = request.json()?;
    let call =
        PreparedCall::new(&state, &request).inspect_err(|error| record_denial(&state, &request, error))?;
    // The number of all frames of the call.
    let number = CallNumber::next();
    let roots = state.host.roots().unwrap_or_default();
    let record = CallRecord::new(number.get(), request, &state.live.questions, roots);
    state.live.calls.insert(Arc::clone(&record))?;
    state.tasks.spawn(run_call(Arc::clone(&state), record, number, call));
    ApiResponse::json(StatusCode::ACCEPTED, &CallStarted { call: number.get() })
}

/// Records a refused call of a tool among the denials.
fn record_denial(state: &ConsoleState, request: &CallRequest, error: &ApiError) {
    let CallRequest::Tool { server, name, .. } = request else { return };
    if error.status != StatusCode::FORBIDDEN {
        return;
    }
    let denial = Denial {
        at_ms: unix_ms_now(),
        principal: None,
        server: Some(server.clone()),
        kind: "tool".to_owned(),
        name: name.clone(),
        outcome: DenialOutcome::Denied,
        rule: None,
        reason: error.message.clone(),
    };
    state.denials.record(denial, &state.events);
}

async fn result(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let call = request.number("call")?;
    let record = state.live.calls.get(call)?;
    if !record.is_finished() {
        return Err(ApiError::conflict("not_finished", format!("call {call} has not finished"))
            .with_next_step("wait for the event that tells its outcome"));
    }
    let Some(result) = record.result() else {
        return Err(ApiError::not_found("unknown_call", format!("call {call} has no result")));
    };
    let (text, bytes) = (result.as_str(), result.len() as u64);
    let shown = match request.flag("full") {
        true => text,
        false => &text[..text.floor_char_boundary(PREVIEW_BYTES)],
    };
    let truncated = shown.len() < text.len();
    ApiResponse::ok(&CallResult { call, result_json: shown.to_owned(), truncated, bytes })
}

async fn cancel(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    state.live.calls.get(request.number("call")?)?.run.cancel();
    Ok(ApiResponse::accepted())
}
