//! The client side of the legacy era: `initialize`, `notifications/initialized`, plain results.

use switchboard_protocol::{
    ClientCapabilities, ErrorCode, FromRaw, Implementation, InitializeParams, InitializeResult,
    LegacyCreateTaskResult, Raw, RequestId, Revision, RpcError,
};

use crate::era::dialect::{ResultKind, TaskTicket};
use crate::era::{EarlyMessages, SessionInfo, has_batches, is_modern_name};
use crate::link::{Agreement, Exchange, ExchangeKind, Inbound, Link, Mirror, OneWayMessage, OutgoingRequest};
use crate::request::CallError;

/// The state of a client session of the legacy era.
#[derive(Debug)]
pub(crate) struct LegacyClient {
    pub(crate) revision: Revision,
}

/// The outcome of a handshake.
pub(crate) enum HandshakeOutcome {
    /// The session is open.
    Open(Box<SessionInfo>),
    /// The server is modern after all, with these revisions.
    IsModern(Vec<String>, RpcError),
    /// The server names other revisions, perhaps in an error.
    Offers(Vec<String>, Option<RpcError>),
    /// Any other error.
    Refused(RpcError),
}

/// Opens a session. Collects the messages that the server sends meanwhile, except pings, which are answered.
///
/// # Errors
/// When the link fails, or the response cannot be decoded.
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

/// Sends the request. Not async: many concurrent connects should not hold its parameters while they wait.
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
    Ok(link.open(OutgoingRequest {
        id,
        method: "initialize",
        params: params.as_str(),
        mirror: Mirror::default(),
        kind: ExchangeKind::Handshake,
        call: None,
    }))
}

/// Interprets the response to `initialize`.
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

/// Sends `notifications/initialized`.
pub(crate) fn send_initialized(link: &dyn Link, revision: Revision) -> Result<(), CallError> {
    link.agreed(Agreement { batches: has_batches(revision), revision: revision.as_str() });
    link.post(OneWayMessage::Notification { method: "notifications/initialized", params: None })?;
    Ok(())
}

/// Interprets an error response to `initialize`.
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

/// Returns the revisions that an error names in `data.supported`.
pub(crate) fn supported_revisions(error: &RpcError) -> Vec<String> {
    let named = error.data.as_ref().and_then(|data| data.fields().find(|(name, _)| *name == "supported"));
    named.and_then(|(_, revisions)| revisions.decode().ok()).unwrap_or_default()
}

fn is_legacy(revision: Revision) -> bool {
    revision <= Revision::LATEST_LEGACY
}

/// Classifies a result: final, unless the request asked for a task and got one.
pub(crate) fn classify_result(result: Raw, as_task: bool) -> ResultKind {
    let created = as_task.then(|| LegacyCreateTaskResult::from_raw(&result).ok()).flatten();
    match created {
        Some(created) => ResultKind::Task(TaskTicket {
            id: created.task.task_id.clone(),
            poll_interval_ms: created.task.poll_interval,
            state: created.task.into(),
        }),
        None => ResultKind::Done(result),
    }
}
