//! A record of the audit log.

use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use switchboard_protocol::Raw;

use super::timestamp::format_timestamp;
use crate::policy::{Decision, DenyReason, Subject, Target};

/// The maximum length of a text that a client or server chose.
const MAX_TEXT_BYTES: usize = 1024;
/// The maximum number of resources of one record.
const MAX_URIS: usize = 32;

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditOutcome {
    /// With a result.
    Ok,
    /// With an error, or with a result that says that the tool failed.
    Error,
    /// Denied by the policy; nothing was sent.
    Denied,
    /// Refused until the caller has further scopes; nothing was sent.
    MissingScope,
    /// Refused because of its rate; nothing was sent.
    RateLimited,
    /// The target is unknown; nothing was sent.
    Unknown,
    /// With a question to the client, which sends the request again with the answer.
    InputRequired,
    /// Not answered: cancelled by the client, or the connection was lost.
    #[default]
    Cancelled,
}

impl AuditOutcome {
    /// Returns the word of the outcome in records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::MissingScope => "missing_scope",
            Self::RateLimited => "rate_limited",
            Self::Unknown => "unknown",
            Self::InputRequired => "input_required",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the outcome of a decision; `None` if the request is allowed.
    pub(crate) fn of_decision(decision: &Decision) -> Option<Self> {
        match decision {
            Decision::Allow { .. } => None,
            Decision::Deny { .. } => Some(Self::Denied),
            Decision::MissingScope { .. } => Some(Self::MissingScope),
        }
    }
}

impl Serialize for AuditOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One line of the audit log. Absent members are left out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// When the request arrived.
    #[serde(serialize_with = "write_time")]
    pub time: SystemTime,
    /// The method, such as `tools/call`.
    pub method: String,
    /// The subject of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The issuer of the caller's identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// How the caller was authenticated, such as `oauth` or `api-key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<String>,
    /// The client's own name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The address of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// The server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The kind of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The server's own name of the tool or prompt, or the URI without its query; of an unknown target, the name that
    /// was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// How the request ended.
    pub outcome: AuditOutcome,
    /// The resources that a stream of notifications is asked for, without their queries; at most 32.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uris: Vec<String>,
    /// The rule that decided; absent by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why the policy denied it, or the limit that refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The code of the error response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The time until the response.
    #[serde(rename = "duration_ms", serialize_with = "write_milliseconds")]
    pub duration: Duration,
    /// A key of the session of a legacy client. It is not the id by which the client uses the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The id of the trace (W3C).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// The arguments, where a rule says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Raw>,
    /// The result, where a rule says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Raw>,
}

impl AuditRecord {
    /// Creates the record of a request that arrives now.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            time: SystemTime::now(),
            method: cut(method.into()),
            principal: None,
            issuer: None,
            auth_method: None,
            client: None,
            address: None,
            view: None,
            server: None,
            kind: None,
            identifier: None,
            outcome: AuditOutcome::Cancelled,
            uris: Vec::new(),
            rule: None,
            reason: None,
            code: None,
            duration: Duration::ZERO,
            session: None,
            trace_id: None,
            arguments: None,
            result: None,
        }
    }

    /// Sets the caller.
    #[must_use]
    pub fn with_subject(mut self, subject: &Subject<'_>) -> Self {
        let text = |text: Option<&str>| text.map(|text| cut(text.to_owned()));
        self.principal = text(subject.principal);
        self.issuer = text(subject.issuer);
        self.view = text(subject.view);
        self
    }

    /// Sets the target. The query of a URI holds arguments, and its user a password: neither is an identifier.
    #[must_use]
    pub fn with_target(mut self, target: &Target<'_>) -> Self {
        self.server = Some(cut(target.server.to_owned()));
        self.kind = Some(target.kind.as_str());
        let is_uri = target.kind.is_uri();
        self.with_identifier(&if is_uri { strip_secrets(target.name) } else { target.name.to_owned() })
    }

    /// Sets the name that was asked for.
    #[must_use]
    pub fn with_identifier(mut self, identifier: &str) -> Self {
        self.identifier = Some(cut(identifier.to_owned()));
        self
    }

    /// Sets the resources that a stream of notifications is asked for.
    #[must_use]
    pub fn with_uris<'u>(mut self, uris: impl IntoIterator<Item = &'u str>) -> Self {
        self.uris = uris.into_iter().take(MAX_URIS).map(|uri| cut(strip_secrets(uri))).collect();
        self
    }

    /// Sets how the caller was authenticated.
    #[must_use]
    pub fn with_auth_method(mut self, method: Option<&str>) -> Self {
        self.auth_method = method.map(|method| cut(method.to_owned()));
        self
    }

    /// Sets the client's own name and version.
    #[must_use]
    pub fn with_client(mut self, client: Option<String>) -> Self {
        self.client = client.map(cut);
        self
    }

    /// Sets the session of the client.
    #[must_use]
    pub fn with_session(mut self, session: Option<String>) -> Self {
        self.session = session.map(cut);
        self
    }

    /// Sets the trace, from the value of `traceparent`. A value of another form is ignored.
    #[must_use]
    pub fn with_trace_parent(mut self, header: Option<&str>) -> Self {
        let id = header.and_then(|header| header.split('-').nth(1));
        self.trace_id = id
            .filter(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(str::to_owned);
        self
    }

    /// Sets rule, reason and, unless it is allowed, the outcome of a decision.
    pub fn set_decision(&mut self, decision: &Decision) {
        self.rule = decision.rule().map(ToString::to_string);
        if let Some(outcome) = AuditOutcome::of_decision(decision) {
            self.outcome = outcome;
        }
        match decision {
            Decision::Allow { .. } => {}
            Decision::Deny { reason, .. } => self.reason = Some(DenyReason::as_str(*reason).to_owned()),
            Decision::MissingScope { scopes, .. } => self.reason = Some(cut(scopes.join(" "))),
        }
    }

    /// Encodes the record as one line.
    pub(super) fn encode(&self) -> Vec<u8> {
        // Cannot fail: all members are texts, numbers and checked JSON.
        let mut line = Raw::encode(self).map(|raw| raw.as_str().as_bytes().to_vec()).unwrap_or_default();
        // JSON of a peer may be spread over lines.
        line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        line.push(b'\n');
        line
    }
}

/// Removes the query, the fragment and the user of a URI.
pub(crate) fn strip_secrets(uri: &str) -> String {
    let base = uri.split(['?', '#']).next().unwrap_or_default();
    match base.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => base.to_owned(),
    }
}

/// Cuts a long text at a character.
fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        let end = (0..=MAX_TEXT_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

fn write_time<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format_timestamp(*time))
}

fn write_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    // Microseconds are precise enough, and short.
    #[expect(clippy::cast_precision_loss, reason = "2^53 microseconds are 285 years")]
    serializer.serialize_f64(duration.as_micros() as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_without_absent_members() {
        let mut record = AuditRecord::new("tools/call")
            .with_subject(&Subject::new("ada"))
            .with_target(&Target::tool("files", "read"));
        record.time = SystemTime::UNIX_EPOCH;
        record.duration = Duration::from_micros(1500);
        record.outcome = AuditOutcome::Ok;
        record.arguments = Some(Raw::parse("{\n\"a\": 1\n}").unwrap());
        let line = String::from_utf8(record.encode()).unwrap();
        assert_eq!(
            line,
            "{\"time\":\"1970-01-01T00:00:00.000Z\",\"method\":\"tools/call\",\"principal\":\"ada\",\"server\":\"files\",\
             \"kind\":\"tool\",\"identifier\":\"read\",\"outcome\":\"ok\",\"duration_ms\":1.5,\"arguments\":{ \"a\": 1 }}\n"
        );
    }

    #[test]
    fn identifiers_hold_no_secrets_and_are_cut() {
        let uri = "https://me:pw@example.com/a?token=s3cret#x";
        let record = AuditRecord::new("resources/read").with_target(&Target::resource("web", uri));
        assert_eq!(record.identifier.as_deref(), Some("https://example.com/a"));
        let long = AuditRecord::new("tools/call").with_identifier(&"é".repeat(5_000));
        assert!(long.identifier.unwrap().len() <= MAX_TEXT_BYTES + 3);
        let forged = AuditRecord::new("x\n{\"forged\":1}").with_identifier("a\nb");
        assert_eq!(forged.encode().iter().filter(|byte| **byte == b'\n').count(), 1);
    }

    #[test]
    fn only_a_trace_id_is_taken_from_the_header() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        let record = AuditRecord::new("m").with_trace_parent(Some(&format!("00-{id}-00f067aa0ba902b7-01")));
        assert_eq!(record.trace_id.as_deref(), Some(id));
        assert_eq!(AuditRecord::new("m").with_trace_parent(Some("00-secret-x")).trace_id, None);
    }
}
