//! Handlers of this area.

use std::sync::Arc;

use http::StatusCode;
use serde::Deserialize;
use switchboard_protocol::Revision;

use crate::api::{ApiRequest, ApiResponse, ConsoleState};
use crate::contract::{ApiError, ConsoleEvent};
use crate::traffic::{self, PayloadError};

/// Frames of one page.
const MAX_PAGE: usize = 2_000;

type Response = Result<ApiResponse, ApiError>;

/// `GET /api/traffic?after=FRAME&limit=N`
pub(super) async fn list_frames(state: Arc<ConsoleState>, request: ApiRequest) -> Response {
    // Somebody looks.
    state.traffic.start_recording();
    state.update_secrets();
    let after = request.parsed_query("after")?.unwrap_or(0);
    let limit = request.parsed_query("limit")?.unwrap_or(MAX_PAGE).min(MAX_PAGE);
    ApiResponse::ok(&state.traffic.page(after, limit))
}

/// `GET /api/traffic/{frame}?full=1`
pub(super) async fn payload(state: Arc<ConsoleState>, request: ApiRequest) -> Response {
    let number = request.number("frame")?;
    state.update_secrets();
    match state.traffic.payload(number, request.flag("full")) {
        Ok(payload) => ApiResponse::ok(&payload),
        Err(PayloadError::Dropped) => {
            let message = format!("frame {number} is not kept any more");
            let error = ApiError::new(StatusCode::GONE, "dropped", message);
            Err(error
                .with_next_step("the log keeps the last 10,000 frames with at most 64 MB; export it earlier"))
        }
        Err(PayloadError::Unknown) => {
            Err(ApiError::not_found("not_found", format!("there is no frame {number} yet")))
        }
    }
}

/// `POST /api/traffic/clear`
pub(super) async fn clear(state: Arc<ConsoleState>, _request: ApiRequest) -> Response {
    let totals = state.traffic.clear();
    state.events.publish(ConsoleEvent::TrafficCleared { totals });
    Ok(ApiResponse::empty(StatusCode::OK))
}

#[derive(Deserialize)]
struct ExportRequest {
    /// All of them if `None`.
    frames: Option<Vec<u64>>,
}

/// `POST /api/traffic/export`
pub(super) async fn export(state: Arc<ConsoleState>, request: ApiRequest) -> Response {
    let ExportRequest { frames } = request.json()?;
    state.update_secrets();
    let revisions: Vec<_> =
        state.host.servers().into_iter().filter_map(|name| revision_of(&state, name)).collect();
    let file = run_blocking(move || state.traffic.export(frames.as_deref(), &revisions)).await?;
    Ok(ApiResponse::bytes(file))
}

fn revision_of(state: &ConsoleState, name: String) -> Option<(String, Revision)> {
    let status = state.host.state(&name).ok()?;
    Some((name, status.session_info()?.revision))
}

/// `POST /api/recordings?name=…`
pub(super) async fn open_recording(state: Arc<ConsoleState>, request: ApiRequest) -> Response {
    let name = request.query("name").unwrap_or("recording").to_owned();
    state.update_secrets();
    let opened = run_blocking(move || traffic::open_recording(&state.traffic, &name, request.body())).await?;
    match opened {
        Ok(recording) => run_blocking(move || ApiResponse::ok(&recording)).await?,
        Err(error) => {
            let text = error.to_string();
            let (message, next_step) = text
                .split_once('\n')
                .unwrap_or((&text, "export the traffic of a console, or record a command with --record"));
            Err(ApiError::bad_request("invalid_recording", message).with_next_step(next_step))
        }
    }
}

/// Runs work on up to 64 MB of text without holding up other tasks.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", format!("the work has failed: {error}"))
    })
}
