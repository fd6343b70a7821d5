//! The `Accept` header: which reply formats a client accepts, and the policy that selects one.

use http::HeaderMap;
use http::header::ACCEPT;

/// The value that nearly every client sends; recognized without parsing.
const JSON_AND_EVENTS: &[u8] = b"application/json, text/event-stream";

/// How the reply format is selected from the `Accept` header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcceptPolicy {
    /// Follows the specification: either type alone is enough, `*/*` is both, and an answer is an event stream only when
    /// notifications precede it. A request that accepts neither is rejected.
    #[default]
    Specification,
    /// An event stream where `text/event-stream` is named, and then for every tool call; otherwise JSON with the final
    /// result only, whatever else is accepted.
    Named,
}

/// The reply formats that an `Accept` header allows. Either type alone is enough: many clients do not send both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accept {
    /// One JSON document.
    pub(crate) json: bool,
    /// An event stream, whether named or by wildcard.
    pub(crate) events: bool,
    /// An event stream, by name.
    pub(crate) names_events: bool,
    /// Whether every tool call is answered with an event stream if the header names that type.
    pub(crate) stream_tool_calls: bool,
}

impl Accept {
    const ANY: Self = Self { json: true, events: true, names_events: false, stream_tool_calls: false };
    pub(crate) const JSON: Self = Self { events: false, ..Self::ANY };

    /// Parses all `Accept` headers. A request without one accepts everything.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(ACCEPT).iter();
        if values.next().is_some_and(|value| value.as_bytes() == JSON_AND_EVENTS) && values.next().is_none() {
            return Self { names_events: true, ..Self::ANY };
        }
        let mut accept = Self::default();
        let mut is_empty = true;
        for value in headers.get_all(ACCEPT) {
            for range in value.to_str().unwrap_or_default().split(',') {
                is_empty &= range.trim().is_empty();
                accept.allow(range);
            }
        }
        if is_empty { Self::ANY } else { accept }
    }

    /// Returns the formats that remain under a policy.
    pub(crate) fn with_policy(self, policy: AcceptPolicy) -> Self {
        match policy {
            AcceptPolicy::Named if !self.names_events => Self::JSON,
            AcceptPolicy::Named => Self { stream_tool_calls: true, ..self },
            AcceptPolicy::Specification => self,
        }
    }

    fn allow(&mut self, range: &str) {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let excluded = parts.any(|parameter| {
            let quality = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
            quality.and_then(|quality| quality.trim().parse::<f32>().ok()) == Some(0.0)
        });
        if excluded {
            return;
        }
        let is = |known: &str| media.eq_ignore_ascii_case(known);
        if is("*/*") {
            (self.json, self.events) = (true, true);
        } else if is("application/*") || is("application/json") {
            self.json = true;
        } else if is("text/*") {
            self.events = true;
        } else if is("text/event-stream") {
            (self.events, self.names_events) = (true, true);
        }
    }

    /// Returns whether an event stream is accepted by name, not only by a wildcard.
    pub fn names_events(self) -> bool {
        self.names_events
    }

    /// Returns whether neither format is accepted.
    pub(crate) fn accepts_nothing(self) -> bool {
        !self.json && !self.events
    }

    /// Returns whether only event streams are accepted, so that even a single response is sent as one.
    pub(crate) fn only_events(self) -> bool {
        self.events && !self.json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: Option<&str>) -> (bool, bool, bool) {
        let mut headers = HeaderMap::new();
        if let Some(text) = text {
            headers.insert(ACCEPT, text.parse().unwrap());
        }
        let Accept { json, events, names_events, .. } = Accept::read(&headers);
        (json, events, names_events)
    }

    #[test]
    fn under_the_policy_of_names_only_a_name_is_a_stream() {
        for (text, expected) in [
            ("*/*", (true, false, false)),
            ("text/*", (true, false, false)),
            ("text/html", (true, false, false)),
            ("text/event-stream", (false, true, true)),
            ("application/json, text/event-stream", (true, true, true)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, text.parse().unwrap());
            let Accept { json, events, names_events, .. } =
                Accept::read(&headers).with_policy(AcceptPolicy::Named);
            assert_eq!((json, events, names_events), expected, "{text:?}");
        }
    }

    #[test]
    fn either_type_will_do() {
        for (text, expected) in [
            (None, (true, true, false)),
            (Some(""), (true, true, false)),
            (Some("*/*"), (true, true, false)),
            (Some("application/json"), (true, false, false)),
            (Some("text/event-stream"), (false, true, true)),
            (Some("application/json, text/event-stream"), (true, true, true)),
            (Some("Application/JSON;charset=utf-8 , TEXT/Event-Stream;q=0.5"), (true, true, true)),
            (Some("application/json;q=0, text/event-stream"), (false, true, true)),
            (Some("text/html"), (false, false, false)),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }
}
