//! What a client accepts, and what it is answered with.

use http::HeaderMap;
use http::header::ACCEPT;

/// What nearly every client sends.
const BOTH: &[u8] = b"application/json, text/event-stream";

/// How the answer follows what the client accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcceptPolicy {
    /// As the specification has it: either type alone will do, `*/*` is both, and an answer is an event stream only when
    /// there is something to say before it. What accepts neither is refused.
    #[default]
    Specification,
    /// An event stream where `text/event-stream` is named, and then for every tool call; otherwise JSON with the final
    /// result only, whatever else is accepted.
    Named,
}

/// What the `Accept` header allows. Either type alone will do: asking for both is what most clients forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accept {
    /// One JSON document.
    pub(crate) json: bool,
    /// An event stream, whether named or by wildcard.
    pub(crate) events: bool,
    /// An event stream, by name.
    pub(crate) names_events: bool,
    /// A tool call is answered by an event stream wherever that is named.
    pub(crate) at_once: bool,
}

impl Accept {
    /// Reads all `Accept` headers; none at all allows anything.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(ACCEPT).iter();
        let Some(first) = values.next() else {
            return Self { json: true, events: true, names_events: false, at_once: false };
        };
        let mut accept = Self { json: false, events: false, names_events: false, at_once: false };
        let mut any = false;
        if first.as_bytes() == BOTH {
            (accept, any) = (Self { json: true, events: true, names_events: true, at_once: false }, true);
        } else {
            values = headers.get_all(ACCEPT).iter();
        }
        for value in values {
            for range in value.to_str().unwrap_or_default().split(',') {
                any |= !range.trim().is_empty();
                accept.allow(range);
            }
        }
        if any { accept } else { Self { json: true, events: true, names_events: false, at_once: false } }
    }

    /// What it allows under a policy.
    pub(crate) fn under(self, policy: AcceptPolicy) -> Self {
        match policy {
            AcceptPolicy::Named if !self.names_events => {
                Self { json: true, events: false, names_events: false, at_once: false }
            }
            AcceptPolicy::Named => Self { at_once: true, ..self },
            AcceptPolicy::Specification => self,
        }
    }

    fn allow(&mut self, range: &str) {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let refused = parts.any(|parameter| {
            let quality = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
            quality.and_then(|quality| quality.trim().parse::<f32>().ok()) == Some(0.0)
        });
        if refused {
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

    /// Whether nothing we have is allowed.
    pub(crate) fn is_nothing(self) -> bool {
        !self.json && !self.events
    }

    /// Whether an answer that needs no stream is still sent as one.
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
            let Accept { json, events, names_events, .. } = Accept::read(&headers).under(AcceptPolicy::Named);
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
