//! The client's side of the modern era: the probe, the stamp on every request, and the three kinds of result.

use parking_lot::RwLock;
use switchboard_protocol::{
    ClientCapabilities, CreateTaskResult, DecodeError, DiscoverResult, ErrorCode, FromRaw, Implementation,
    InputRequired, Level, Meta, Raw, RequestId, ResultType, Revision, RpcError,
};

use crate::era::dialect::{Dressed, Extras, Settled, TaskTicket, splice};
use crate::era::legacy::supported;
use crate::era::{SessionInfo, is_modern_name, may_ask};
use crate::link::{Ask, Exchange, Life, Link, Mirror};
use crate::request::CallError;

/// A session of the modern era: nothing is held but what every request says.
#[derive(Debug)]
pub(crate) struct Client {
    revision: Revision,
    // Written when the log level changes, read for every request; never held across an await.
    stamp: RwLock<String>,
    base: String,
}

impl Client {
    pub(crate) fn new(
        revision: Revision,
        who: &Implementation,
        capabilities: &ClientCapabilities,
    ) -> Result<Self, CallError> {
        let (mut who, mut capabilities) = (who.clone(), capabilities.clone());
        who.lower(revision);
        capabilities.lower(revision);
        let base = format!(
            r#""{}":"{revision}","{}":{},"{}":{}"#,
            Meta::PROTOCOL_VERSION,
            Meta::CLIENT_INFO,
            Raw::encode(&who)?.as_str(),
            Meta::CLIENT_CAPABILITIES,
            Raw::encode(&capabilities)?.as_str(),
        );
        Ok(Self { revision, stamp: RwLock::new(base.clone()), base })
    }

    pub(crate) fn revision(&self) -> &'static str {
        self.revision.as_str()
    }

    pub(crate) fn dress(&self, params: &mut String, extras: &Extras<'_>) -> Dressed {
        splice(params, Some(&self.stamp.read()), extras)
    }

    pub(crate) fn stamp_log_level(&self, level: Level) {
        *self.stamp.write() = format!(r#"{},"{}":"{}""#, self.base, Meta::LOG_LEVEL, level.as_str());
    }

    pub(crate) fn settle(&self, method: &str, result: Raw) -> Result<Settled, CallError> {
        let invalid =
            |reason: String| CallError::protocol(method, DecodeError::mismatch("resultType", reason));
        match ResultType::of(&result) {
            ResultType::Complete => Ok(Settled::Done(result)),
            // Some servers answer a question about a task with the type of what it is about.
            ResultType::Task if method == "tasks/get" => Ok(Settled::Done(result)),
            ResultType::InputRequired if may_ask(method) => {
                let input =
                    InputRequired::from_raw(&result).map_err(|error| CallError::protocol(method, error))?;
                if input.input_requests.is_none() && input.request_state.is_none() {
                    return Err(invalid(
                        "input is required, but neither requests nor state are given".into(),
                    ));
                }
                Ok(Settled::Ask(input))
            }
            ResultType::Task if method == "tools/call" => {
                let created = CreateTaskResult::from_raw(&result)
                    .map_err(|error| CallError::protocol(method, error))?;
                Ok(Settled::Task(TaskTicket {
                    id: created.task.task_id,
                    poll_interval_ms: created.task.poll_interval_ms,
                }))
            }
            other => Err(invalid(format!("{:?} is not a result of this method", other.as_str()))),
        }
    }
}

/// What the answer to a probe means.
#[derive(Debug)]
pub(crate) enum Probed {
    /// Modern, with these terms.
    Modern(Box<SessionInfo>),
    /// Modern, but it wants the request in this revision.
    Again(Revision),
    /// It needs a handshake; the revisions it named, if any.
    Legacy(Vec<String>),
    /// Modern, but in revisions we do not speak.
    Foreign(Vec<String>),
    /// Modern, and it finds fault with the request.
    Refused(RpcError),
}

/// Sends the probe.
pub(crate) fn discover(
    link: &dyn Link,
    id: RequestId,
    revision: Revision,
    who: &Implementation,
    capabilities: &ClientCapabilities,
) -> Result<Exchange, CallError> {
    let mut params = "{}".to_owned();
    Client::new(revision, who, capabilities)?.dress(&mut params, &Extras::default());
    let mirror = Mirror { revision: Some(revision.as_str()), ..Mirror::default() };
    Ok(link.open(Ask { id, method: "server/discover", params: &params, mirror, life: Life::Call }))
}

/// Reads the answer to a probe.
pub(crate) fn judge(outcome: Result<Raw, RpcError>, offer: &[Revision]) -> Probed {
    match outcome {
        Ok(result) => {
            let Ok(found) = DiscoverResult::from_raw(&result) else { return Probed::Legacy(Vec::new()) };
            match mutual(&found.supported_versions, offer) {
                Named::Mutual(revision) => Probed::Modern(Box::new(SessionInfo {
                    revision,
                    server: found.server_info(),
                    hints: found.hints(),
                    capabilities: found.capabilities,
                    instructions: found.instructions,
                })),
                Named::LegacyOnly => Probed::Legacy(found.supported_versions),
                Named::Foreign => Probed::Foreign(found.supported_versions),
            }
        }
        Err(error) if error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
            let named = supported(&error);
            match mutual(&named, offer) {
                Named::Mutual(revision) => Probed::Again(revision),
                Named::LegacyOnly => Probed::Legacy(named),
                Named::Foreign => Probed::Foreign(named),
            }
        }
        Err(error) if is_modern_only(error.code) => Probed::Refused(error),
        // Falling back is keyed to no one code: legacy servers answer with whatever they have.
        Err(_) => Probed::Legacy(Vec::new()),
    }
}

/// Codes that no legacy server has.
fn is_modern_only(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_CLIENT_CAPABILITY)
}

enum Named {
    Mutual(Revision),
    LegacyOnly,
    Foreign,
}

fn mutual(named: &[String], offer: &[Revision]) -> Named {
    match offer.iter().find(|revision| named.iter().any(|name| name == revision.as_str())) {
        Some(revision) => Named::Mutual(*revision),
        // What it speaks beside revisions we do not know may still be one we do.
        None if named.is_empty() || named.iter().any(|name| !is_modern_name(name)) => Named::LegacyOnly,
        None => Named::Foreign,
    }
}
