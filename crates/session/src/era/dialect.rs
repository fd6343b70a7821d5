//! The client's dialect: what differs between the eras once a session is open, one match for each verb.

use switchboard_protocol::{Level, Meta, Raw, RequestId, Revision};

use crate::era::{EraHint, TaskProtocol, legacy, modern};
use crate::request::CallError;

/// How this session speaks.
#[derive(Debug)]
pub(crate) enum ClientDialect {
    Legacy(legacy::LegacyClient),
    Modern(modern::ModernClient),
}

/// What rides along with the parameters of one request.
#[derive(Debug, Default)]
pub(crate) struct Extras<'a> {
    /// The progress token; the id of the request.
    pub(crate) progress: Option<&'a RequestId>,
    /// What the caller put into `_meta`.
    pub(crate) meta: Option<&'a Meta>,
    /// The answers of a round of input, and the state to hand back.
    pub(crate) round: Option<&'a Round>,
}

/// What a retry carries after a round of input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    pub(crate) responses: Option<Raw>,
    pub(crate) state: Option<String>,
}

/// What a result turned out to be.
#[derive(Debug)]
pub(crate) enum ResultKind {
    /// The result.
    Done(Raw),
    /// The server wants input first.
    Ask(switchboard_protocol::InputRequired),
    /// The server works on it and is to be asked again.
    Task(TaskTicket),
}

/// A task to follow to its result.
#[derive(Debug, Clone)]
pub(crate) struct TaskTicket {
    pub(crate) id: String,
    pub(crate) poll_interval_ms: Option<u64>,
}

impl ClientDialect {
    /// Completes the parameters of a request where they stand. `params` is the text of an object without `_meta`.
    pub(crate) fn add_meta(&self, params: &mut String, extras: &Extras<'_>) -> SplicePoint {
        match self {
            Self::Legacy(_) => legacy::add_meta(params, extras),
            Self::Modern(modern) => modern.add_meta(params, extras),
        }
    }

    /// The revision that every request says for itself, where it does.
    pub(crate) fn revision_per_request(&self) -> Option<&'static str> {
        match self {
            Self::Legacy(_) => None,
            Self::Modern(modern) => Some(modern.revision()),
        }
    }

    /// Says what a result is. `method` is what was asked.
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

    /// Whether a request of the server is in order at all.
    pub(crate) fn accepts_server_requests(&self) -> bool {
        match self {
            Self::Legacy(_) => true,
            Self::Modern(_) => false,
        }
    }

    /// Sets the least level of log messages wanted; gives back the request this takes, where it takes one.
    pub(crate) fn set_log_level(&self, level: Level) -> Option<&'static str> {
        match self {
            Self::Legacy(_) => Some("logging/setLevel"),
            Self::Modern(modern) => {
                modern.stamp_log_level(level);
                None
            }
        }
    }

    /// What this session says about its server.
    pub(crate) fn era_hint(&self) -> EraHint {
        match self {
            Self::Legacy(_) => EraHint::Legacy,
            Self::Modern(_) => EraHint::Modern,
        }
    }

    /// How this session hears of changes.
    pub(crate) fn change_delivery(&self) -> ChangeDelivery {
        match self {
            Self::Legacy(_) => ChangeDelivery::Unsolicited,
            Self::Modern(_) => ChangeDelivery::OnRequest,
        }
    }

    /// The method that asks whether the server is alive.
    pub(crate) fn ping_method(&self) -> &'static str {
        match self {
            Self::Legacy(_) => "ping",
            Self::Modern(_) => "server/discover",
        }
    }

    /// Whether the server is told when the roots change.
    pub(crate) fn announces_roots(&self) -> bool {
        match self {
            Self::Legacy(_) => true,
            Self::Modern(_) => false,
        }
    }

    /// How tasks are followed here.
    pub(crate) fn task_protocol(&self) -> TaskProtocol {
        match self {
            Self::Legacy(_) => TaskProtocol::Core,
            Self::Modern(_) => TaskProtocol::Extension,
        }
    }

    /// Whether the capability that guards this method exists in the revision spoken.
    pub(crate) fn has_completions_capability(&self) -> bool {
        match self {
            Self::Legacy(legacy) => legacy.revision > Revision::V2024_11_05,
            Self::Modern(_) => true,
        }
    }
}

/// How a session hears of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeDelivery {
    /// The server tells without being asked, and is asked for each resource.
    Unsolicited,
    /// The server tells who listens.
    OnRequest,
}

/// Where the parameters ended before they were completed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplicePoint(usize);

impl SplicePoint {
    /// Makes them what they were, to be completed anew.
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

/// The members of `_meta`: what every request says, the progress token, then what the caller put there.
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
        // The keys of the hop are ours to set.
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
            assert_eq!(text, body, "and out of it again");
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
