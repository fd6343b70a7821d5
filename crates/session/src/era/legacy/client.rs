//! The client's side of the legacy era: `initialize`, `notifications/initialized`, and results as they are.

use switchboard_protocol::{
    ClientCapabilities, ErrorCode, FromRaw, Implementation, InitializeParams, InitializeResult,
    LegacyCreateTaskResult, Raw, RequestId, Revision, RpcError,
};

use crate::era::dialect::{Extras, ResultKind, SplicePoint, TaskTicket, splice};
use crate::era::{EarlyMessages, SessionInfo, has_batches, is_modern_name};
use crate::link::{Agreement, Ask, Exchange, Inbound, Life, Link, Mirror, Post};
use crate::request::CallError;

/// A session of the legacy era.
#[derive(Debug)]
pub(crate) struct LegacyClient {
    pub(crate) revision: Revision,
}

/// How a handshake ended.
pub(crate) enum HandshakeOutcome {
    /// The session is open.
    Open(Box<SessionInfo>),
    /// The server is of the modern era after all, in these revisions.
    IsModern(Vec<String>, RpcError),
    /// It names revisions that can be tried instead, perhaps in an error.
    Offers(Vec<String>, Option<RpcError>),
    /// It refused otherwise.
    Refused(RpcError),
}

/// Opens a session. What the server starts meanwhile is kept in the stash, but for pings, which are answered.
///
/// # Errors
/// When the link cannot carry it, or the answer is none.
pub(crate) async fn handshake(
    link: &dyn Link,
    id: RequestId,
    revision: Revision,
    (client_info, capabilities): (&Implementation, &ClientCapabilities),
    (inbound, early): (Option<&mut Inbound>, &mut EarlyMessages),
) -> Result<HandshakeOutcome, CallError> {
    let mut exchange = initialize(link, id, revision, client_info, capabilities)?;
    let outcome = early.collect_while(link, inbound, exchange.done()).await?;
    interpret_response(outcome)
}

/// Sends the request. Not part of what waits: many connects at once should not hold room for what is sent.
fn initialize(
    link: &dyn Link,
    id: RequestId,
    revision: Revision,
    client_info: &Implementation,
    capabilities: &ClientCapabilities,
) -> Result<Exchange, CallError> {
    let mut capabilities = capabilities.clone();
    let mut client_info = client_info.clone();
    capabilities.lower(revision);
    client_info.lower(revision);
    let params = Raw::encode(&InitializeParams::new(revision.as_str(), capabilities, client_info))?;
    Ok(link.open(Ask {
        id,
        method: "initialize",
        params: params.as_str(),
        mirror: Mirror::default(),
        life: Life::Handshake,
    }))
}

/// What the answer means.
fn interpret_response(outcome: Result<Raw, RpcError>) -> Result<HandshakeOutcome, CallError> {
    match outcome {
        Ok(result) => {
            let result: InitializeResult = InitializeResult::from_raw(&result)
                .map_err(|error| CallError::protocol("initialize", error))?;
            let Some(agreed) = result.protocol_version.parse().ok().filter(|r: &Revision| is_legacy(*r))
            else {
                return Ok(HandshakeOutcome::Offers(vec![result.protocol_version], None));
            };
            Ok(HandshakeOutcome::Open(Box::new(SessionInfo {
                revision: agreed,
                server: Some(result.server_info),
                capabilities: result.capabilities,
                instructions: result.instructions,
                hints: Default::default(),
            })))
        }
        Err(error) => Ok(interpret_error(error)),
    }
}

/// Says that the session is open.
pub(crate) fn send_initialized(link: &dyn Link, revision: Revision) -> Result<(), CallError> {
    link.agreed(Agreement { batches: has_batches(revision), revision: revision.as_str() });
    link.post(Post::Note { method: "notifications/initialized", params: None })?;
    Ok(())
}

/// What an error to `initialize` means.
fn interpret_error(error: RpcError) -> HandshakeOutcome {
    let supported = supported_revisions(&error);
    match error.code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION if supported.iter().any(|v| is_modern_name(v)) => {
            HandshakeOutcome::IsModern(supported, error)
        }
        _ if !supported.is_empty() => HandshakeOutcome::Offers(supported, Some(error)),
        _ => HandshakeOutcome::Refused(error),
    }
}

/// The revisions an error names in `data.supported`.
pub(crate) fn supported_revisions(error: &RpcError) -> Vec<String> {
    let named = error.data.as_ref().and_then(|data| data.fields().find(|(name, _)| *name == "supported"));
    named.and_then(|(_, revisions)| revisions.decode().ok()).unwrap_or_default()
}

fn is_legacy(revision: Revision) -> bool {
    revision <= Revision::LATEST_LEGACY
}

pub(crate) fn add_meta(params: &mut String, extras: &Extras<'_>) -> SplicePoint {
    splice(params, None, extras)
}

/// A result is the result, unless the request asked for a task and got one.
pub(crate) fn classify_result(result: Raw, as_task: bool) -> ResultKind {
    let created = as_task.then(|| LegacyCreateTaskResult::from_raw(&result).ok()).flatten();
    match created {
        Some(created) => ResultKind::Task(TaskTicket {
            id: created.task.task_id,
            poll_interval_ms: created.task.poll_interval,
        }),
        None => ResultKind::Done(result),
    }
}
