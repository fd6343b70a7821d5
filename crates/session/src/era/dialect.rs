//! The client's dialect: the operations that differ between the eras once a session is open, one match for each.

use switchboard_protocol::{ClientCapabilities, Level, Meta, Raw, RequestId, Revision, Task};

use crate::era::{EraHint, TaskProtocol, legacy, modern};
use crate::request::CallError;

/// The era of an open client session, with its state.
#[derive(Debug)]
pub(crate) enum ClientDialect {
    Legacy(legacy::LegacyClient),
    Modern(modern::ModernClient),
}

/// Members added to the parameters of one request.
#[derive(Debug, Default)]
pub(crate) struct Extras<'a> {
    /// The progress token; the id of the request.
    pub(crate) progress: Option<&'a RequestId>,
    /// The caller's members of `_meta`.
    pub(crate) meta: Option<&'a Meta>,
    /// The capabilities of this request, instead of those of the session (modern era).
    pub(crate) capabilities: Option<&'a ClientCapabilities>,
    /// The responses of a round of input, and the state to send back.
    pub(crate) round: Option<&'a Round>,
}

/// The members of a retry after a round of input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    pub(crate) responses: Option<Raw>,
    pub(crate) state: Option<String>,
}

/// The kind of a result.
#[derive(Debug)]
pub(crate) enum ResultKind {
    /// The final result.
    Done(Raw),
    /// The server requires input first.
    InputRequired(switchboard_protocol::InputRequired),
    /// The server created a task, which has to be polled.
    Task(TaskTicket),
}

/// A task to poll until its result.
#[derive(Debug, Clone)]
pub(crate) struct TaskTicket {
    pub(crate) id: String,
    pub(crate) poll_interval_ms: Option<u64>,
    /// The state of the task when it was created.
    pub(crate) state: Task,
}

impl ClientDialect {
    /// Adds `_meta` and the members of a retry to the parameters, in place. `params` is the text of an object without
    /// `_meta`.
    pub(crate) fn add_meta(&self, params: &mut String, extras: &Extras<'_>) -> SplicePoint {
        match self {
            Self::Legacy(_) => splice(params, None, extras),
            Self::Modern(modern) => modern.add_meta(params, extras),
        }
    }

    /// Returns the revision that every request names, in the modern era.
    pub(crate) fn revision_per_request(&self) -> Option<&'static str> {
        match self {
            Self::Legacy(_) => None,
            Self::Modern(modern) => Some(modern.revision()),
        }
    }

    /// Classifies the result of a request with this method.
    pub(crate) fn classify_result(
        &self,
        method: &str,
        result: Raw,
        as_task: bool,
    ) -> Result<ResultKind, CallError> {
        match self {
            Self::Legacy(_) => Ok(legacy::classify_result(result, as_task)),
            Self::Modern(modern) => modern.classify_result(method, result),
        }
    }

    /// Returns whether the server may send requests.
    pub(crate) fn accepts_server_requests(&self) -> bool {
        matches!(self, Self::Legacy(_))
    }

    /// Sets the minimum level of log messages; returns the method of the request to send for it, where there is one.
    pub(crate) fn set_log_level(&self, level: Level) -> Option<&'static str> {
        match self {
            Self::Legacy(_) => Some("logging/setLevel"),
            Self::Modern(modern) => {
                modern.stamp_log_level(level);
                None
            }
        }
    }

    /// Returns the era of the server, as a hint for the next session.
    pub(crate) fn era_hint(&self) -> EraHint {
        match self {
            Self::Legacy(_) => EraHint::Legacy,
            Self::Modern(_) => EraHint::Modern,
        }
    }

    /// Returns how the server announces changes.
    pub(crate) fn change_delivery(&self) -> ChangeDelivery {
        match self {
            Self::Legacy(_) => ChangeDelivery::Unsolicited,
            Self::Modern(_) => ChangeDelivery::OnRequest,
        }
    }

    /// Returns the method that checks whether the server responds.
    pub(crate) fn ping_method(&self) -> &'static str {
        match self {
            Self::Legacy(_) => "ping",
            Self::Modern(_) => "server/discover",
        }
    }

    /// Returns whether the server is notified when the roots change.
    pub(crate) fn announces_roots(&self) -> bool {
        matches!(self, Self::Legacy(_))
    }

    /// Returns the protocol of tasks.
    pub(crate) fn task_protocol(&self) -> TaskProtocol {
        match self {
            Self::Legacy(_) => TaskProtocol::Core,
            Self::Modern(_) => TaskProtocol::Extension,
        }
    }

    /// Returns whether the revision has a capability for completions.
    pub(crate) fn has_completions_capability(&self) -> bool {
        match self {
            Self::Legacy(legacy) => legacy.revision > Revision::V2024_11_05,
            Self::Modern(_) => true,
        }
    }
}

/// How a server announces changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeDelivery {
    /// Unsolicited for lists; for resources after a subscription to each.
    Unsolicited,
    /// On listen streams only.
    OnRequest,
}

/// The length of the parameters before members were added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplicePoint(usize);

impl SplicePoint {
    /// Removes the added members.
    pub(crate) fn undo(self, params: &mut String) {
        params.truncate(self.0);
        params.push('}');
    }
}

/// Appends `,"_meta":{…}` and the members of a round to the text of an object.
pub(crate) fn splice(out: &mut String, stamp: Option<&str>, extras: &Extras<'_>) -> SplicePoint {
    let inner = out.trim_end().strip_suffix('}').map_or(0, str::len);
    out.truncate(inner);
    if inner == 0 {
        out.push('{');
    }
    let bare = SplicePoint(out.len());
    let mut comma = !out.trim_end().ends_with('{');
    out.reserve(stamp.map_or(0, str::len) + 64);
    if let Some(round) = extras.round {
        if let Some(responses) = &round.responses {
            separate(out, &mut comma);
            out.push_str("\"inputResponses\":");
            out.push_str(responses.as_str());
        }
        if let Some(state) = &round.state {
            separate(out, &mut comma);
            out.push_str("\"requestState\":");
            push_string(out, state);
        }
    }
    if stamp.is_some() || extras.progress.is_some() || extras.meta.is_some_and(|meta| !meta.is_empty()) {
        separate(out, &mut comma);
        out.push_str("\"_meta\":{");
        push_meta(out, stamp, extras);
        out.push('}');
    }
    out.push('}');
    bare
}

/// Appends the members of `_meta`: the stamp of every request, the progress token, then the caller's members.
fn push_meta(out: &mut String, stamp: Option<&str>, extras: &Extras<'_>) {
    let mut comma = stamp.is_some();
    out.push_str(stamp.unwrap_or_default());
    if let Some(token) = extras.progress {
        separate(out, &mut comma);
        out.push_str("\"progressToken\":");
        match token {
            RequestId::Number(number) => out.push_str(itoa::Buffer::new().format(*number)),
            RequestId::String(text) => push_string(out, text),
        }
    }
    for (key, value) in extras.meta.into_iter().flat_map(Meta::iter) {
        // The caller cannot override the keys that describe this connection.
        if key != Meta::PROGRESS_TOKEN && !(stamp.is_some() && Meta::PER_REQUEST.contains(&key)) {
            separate(out, &mut comma);
            push_string(out, key);
            out.push(':');
            out.push_str(value.as_str());
        }
    }
}

fn separate(out: &mut String, comma: &mut bool) {
    if std::mem::replace(comma, true) {
        out.push(',');
    }
}

fn push_string(out: &mut String, text: &str) {
    Raw::write(out, text).expect("a string is always JSON");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_and_rounds_are_spliced_into_the_text() {
        let spliced = |body: &str, stamp, extras: &Extras<'_>| {
            let mut text = body.to_owned();
            let splice_point = splice(&mut text, stamp, extras);
            let whole = text.clone();
            splice_point.undo(&mut text);
            assert_eq!(text, body, "and removed again");
            whole
        };
        let id = RequestId::Number(7);
        let extras = Extras { progress: Some(&id), ..Extras::default() };
        assert_eq!(spliced("{}", None, &Extras::default()), "{}");
        assert_eq!(spliced("{}", None, &extras), r#"{"_meta":{"progressToken":7}}"#);
        assert_eq!(
            spliced(r#"{"name":"a"}"#, Some(r#""v":1"#), &extras),
            r#"{"name":"a","_meta":{"v":1,"progressToken":7}}"#
        );
        let round = Round { responses: Some(Raw::parse(r#"{"k":{}}"#).unwrap()), state: Some("s\"".into()) };
        let extras = Extras { round: Some(&round), ..Extras::default() };
        assert_eq!(
            spliced(r#"{"name":"a"}"#, None, &extras),
            r#"{"name":"a","inputResponses":{"k":{}},"requestState":"s\""}"#
        );
    }
}
