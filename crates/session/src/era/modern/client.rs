//! The client side of the modern era: the probe, the `_meta` of every request, and the three kinds of result.

use parking_lot::RwLock;
use switchboard_protocol::{
    ClientCapabilities, CreateTaskResult, DecodeError, DiscoverResult, ErrorCode, FromRaw, Implementation,
    InputRequired, Level, Meta, Raw, RequestId, ResultType, Revision, RpcError,
};

use crate::era::dialect::{Extras, ResultKind, SplicePoint, TaskTicket, splice};
use crate::era::legacy::supported_revisions;
use crate::era::{SessionInfo, is_modern_name, may_require_input};
use crate::link::{Exchange, ExchangeKind, Link, Mirror, OutgoingRequest};
use crate::request::CallError;

/// The state of a client session of the modern era: the `_meta` of every request.
#[derive(Debug)]
pub(crate) struct ModernClient {
    revision: Revision,
    // Written when the log level changes, read for every request; never held across an await.
    stamp: RwLock<Stamp>,
    /// The version and the client info.
    identity: String,
    /// The declared capabilities, as text.
    capabilities: String,
}

/// The members of `_meta` that every request has.
#[derive(Debug)]
struct Stamp {
    /// All of them.
    text: String,
    /// The member with the log level, or nothing.
    log_level: String,
}

impl ModernClient {
    pub(crate) fn new(
        revision: Revision,
        client_info: &Implementation,
        capabilities: &ClientCapabilities,
    ) -> Result<Self, CallError> {
        let (mut client_info, mut capabilities) = (client_info.clone(), capabilities.clone());
        client_info.lower(revision);
        capabilities.lower(revision);
        let identity = format!(
            r#""{}":"{revision}","{}":{}"#,
            Meta::PROTOCOL_VERSION,
            Meta::CLIENT_INFO,
            Raw::encode(&client_info)?.as_str(),
        );
        let capabilities = Raw::encode(&capabilities)?.as_str().to_owned();
        let text = stamp_text(&identity, &capabilities, "");
        let stamp = RwLock::new(Stamp { text, log_level: String::new() });
        Ok(Self { revision, stamp, identity, capabilities })
    }

    pub(crate) fn revision(&self) -> &'static str {
        self.revision.as_str()
    }

    pub(crate) fn add_meta(&self, params: &mut String, extras: &Extras<'_>) -> SplicePoint {
        let own = extras.capabilities.and_then(|capabilities| {
            let mut capabilities = capabilities.clone();
            capabilities.lower(self.revision);
            Raw::encode(&capabilities).ok()
        });
        let stamp = self.stamp.read();
        match own {
            None => splice(params, Some(&stamp.text), extras),
            Some(own) => {
                let text = stamp_text(&self.identity, own.as_str(), &stamp.log_level);
                drop(stamp);
                splice(params, Some(&text), extras)
            }
        }
    }

    pub(crate) fn stamp_log_level(&self, level: Level) {
        let log_level = format!(r#","{}":"{}""#, Meta::LOG_LEVEL, level.as_str());
        let text = stamp_text(&self.identity, &self.capabilities, &log_level);
        *self.stamp.write() = Stamp { text, log_level };
    }

    pub(crate) fn classify_result(&self, method: &str, result: Raw) -> Result<ResultKind, CallError> {
        let invalid =
            |reason: String| CallError::protocol(method, DecodeError::mismatch("resultType", reason));
        match ResultType::of(&result) {
            ResultType::Complete => Ok(ResultKind::Done(result)),
            // Some servers answer `tasks/get` with the result type of a task.
            ResultType::Task if method == "tasks/get" => Ok(ResultKind::Done(result)),
            ResultType::InputRequired if may_require_input(method) => {
                let input =
                    InputRequired::from_raw(&result).map_err(|error| CallError::protocol(method, error))?;
                if input.input_requests.is_none() && input.request_state.is_none() {
                    return Err(invalid(
                        "input is required, but neither requests nor state are given".into(),
                    ));
                }
                Ok(ResultKind::InputRequired(input))
            }
            ResultType::Task if method == "tools/call" => {
                let created = CreateTaskResult::from_raw(&result)
                    .map_err(|error| CallError::protocol(method, error))?;
                Ok(ResultKind::Task(TaskTicket {
                    id: created.task.task_id.clone(),
                    poll_interval_ms: created.task.poll_interval_ms,
                    state: created.task,
                }))
            }
            other => Err(invalid(format!("{:?} is not a result of this method", other.as_str()))),
        }
    }
}

fn stamp_text(identity: &str, capabilities: &str, log_level: &str) -> String {
    format!(r#"{identity},"{}":{capabilities}{log_level}"#, Meta::CLIENT_CAPABILITIES)
}

/// The outcome of a probe.
#[derive(Debug)]
pub(crate) enum ProbeOutcome {
    /// A modern server, with this session info.
    Modern(Box<SessionInfo>),
    /// A modern server that requires another revision: probe again with this one.
    Again(Revision),
    /// A legacy server, which needs a handshake; the revisions it named, if any.
    Legacy(Vec<String>),
    /// A modern server without a common revision.
    Foreign(Vec<String>),
    /// A modern server that rejected the probe.
    Refused(RpcError),
}

/// Sends the probe.
pub(crate) fn discover(
    link: &dyn Link,
    id: RequestId,
    revision: Revision,
    client_info: &Implementation,
    capabilities: &ClientCapabilities,
) -> Result<Exchange, CallError> {
    let mut params = "{}".to_owned();
    ModernClient::new(revision, client_info, capabilities)?.add_meta(&mut params, &Extras::default());
    let mirror = Mirror { revision: Some(revision.as_str()), ..Mirror::default() };
    Ok(link.open(OutgoingRequest {
        id,
        method: "server/discover",
        params: &params,
        mirror,
        kind: ExchangeKind::Call,
        call: None,
    }))
}

/// Interprets the response to a probe.
pub(crate) fn interpret_probe(outcome: Result<Raw, RpcError>, ours: &[Revision]) -> ProbeOutcome {
    match outcome {
        Ok(result) => {
            let Ok(discovered) = DiscoverResult::from_raw(&result) else {
                return ProbeOutcome::Legacy(Vec::new());
            };
            match match_versions(&discovered.supported_versions, ours) {
                VersionMatch::Mutual(revision) => ProbeOutcome::Modern(Box::new(SessionInfo {
                    revision,
                    server: discovered.server_info(),
                    hints: discovered.hints(),
                    capabilities: discovered.capabilities,
                    instructions: discovered.instructions,
                })),
                VersionMatch::LegacyOnly => ProbeOutcome::Legacy(discovered.supported_versions),
                VersionMatch::Foreign => ProbeOutcome::Foreign(discovered.supported_versions),
            }
        }
        Err(error) if error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
            let named = supported_revisions(&error);
            match match_versions(&named, ours) {
                VersionMatch::Mutual(revision) => ProbeOutcome::Again(revision),
                VersionMatch::LegacyOnly => ProbeOutcome::Legacy(named),
                VersionMatch::Foreign => ProbeOutcome::Foreign(named),
            }
        }
        Err(error) if is_modern_only(error.code) => ProbeOutcome::Refused(error),
        // The fallback does not depend on one code: legacy servers respond with various errors.
        Err(_) => ProbeOutcome::Legacy(Vec::new()),
    }
}

/// Returns whether only modern servers use this code.
fn is_modern_only(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_CLIENT_CAPABILITY)
}

/// How the versions of a server relate to ours.
enum VersionMatch {
    Mutual(Revision),
    LegacyOnly,
    Foreign,
}

fn match_versions(named: &[String], ours: &[Revision]) -> VersionMatch {
    match ours.iter().find(|revision| named.iter().any(|name| name == revision.as_str())) {
        Some(revision) => VersionMatch::Mutual(*revision),
        // A server that names a legacy revision may be opened with a handshake.
        None if named.is_empty() || named.iter().any(|name| !is_modern_name(name)) => {
            VersionMatch::LegacyOnly
        }
        None => VersionMatch::Foreign,
    }
}
