//! The traffic of a host: shows the messages of all its sessions to one observer.

use std::fmt;
use std::sync::Arc;

use switchboard_protocol::Raw;
use switchboard_session::client::CallOptions;
use switchboard_session::link::{CallNumber, Dial, ObservedDial, Tap, TrafficObserver, TrafficTap};
use switchboard_transport::stdio::Stdio;

/// The observer of a host's traffic; none by default, and then no link is decorated.
#[derive(Clone, Default)]
pub(crate) struct Traffic {
    observer: Option<Arc<dyn TrafficObserver>>,
}

impl Traffic {
    pub(crate) fn new(observer: Arc<dyn TrafficObserver>) -> Self {
        Self { observer: Some(observer) }
    }

    /// Returns the tap of a new session with this server.
    pub(crate) fn tap(&self, server: &str) -> Option<TrafficTap> {
        Some(TrafficTap::new(Arc::clone(self.observer.as_ref()?), server))
    }

    /// Numbers a call that has no number yet, if somebody watches.
    pub(crate) fn number_call(&self, options: &mut CallOptions) {
        if let Some(observer) = &self.observer
            && options.number.is_none()
            && observer.is_watching()
        {
            options.number = Some(CallNumber::next());
        }
    }
}

/// Shows the messages of the links of `dial`.
pub(crate) fn observe_dial(dial: Arc<dyn Dial>, tap: Option<&TrafficTap>) -> Arc<dyn Dial> {
    match tap {
        Some(tap) => Arc::new(ObservedDial::new(dial, tap.clone())),
        None => dial,
    }
}

/// Shows the lines that a program writes to stdout and that are no messages, unless it has a tap of its own.
pub(crate) fn observe_invalid_lines(stdio: Stdio, tap: Option<&TrafficTap>) -> Stdio {
    let Some(tap) = tap.filter(|_| !stdio.has_tap()).cloned() else { return stdio };
    stdio.tap(Tap::inbound(move |line| {
        if tap.is_watching() && !is_json_message(line) {
            tap.show_invalid(line);
        }
    }))
}

/// Returns whether a line is a JSON object, or an array of them.
fn is_json_message(line: &[u8]) -> bool {
    let text = std::str::from_utf8(line).ok().map(str::trim).unwrap_or_default();
    text.starts_with(['{', '[']) && Raw::parse(text.to_owned()).is_ok()
}

impl fmt::Debug for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traffic").field("is_observed", &self.observer.is_some()).finish()
    }
}
