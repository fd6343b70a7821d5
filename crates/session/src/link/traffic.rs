//! Traffic: what observers of links and servers see of each message.
//!
//! A frame borrows the message that is on its way. An observer that keeps it makes the text, which costs a copy; one that
//! only counts does not.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_protocol::{Raw, RequestId, RpcError};

use crate::link::{Direction, LinkError};

/// The number of a call, unique in this process. The request of the call, its retries, the questions of the server within it
/// and the polls of its task carry the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallNumber(NonZeroU64);

impl CallNumber {
    /// Returns the next number, which no other call has.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NonZeroU64::new(NEXT.fetch_add(1, Ordering::Relaxed)).unwrap_or(NonZeroU64::MIN))
    }

    /// Returns the number.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for CallNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Observes the messages of links and servers.
///
/// Called on the message path, from any task: both methods must return quickly and must not block.
pub trait TrafficObserver: Send + Sync + 'static {
    /// Returns whether anybody looks. While nobody does, no frame is built: this is the whole cost of a message, so it should be
    /// one atomic load.
    fn is_watching(&self) -> bool;

    /// Observes one frame. Called only while somebody watches.
    fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>);
}

/// Whose frame it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrafficSource<'a> {
    /// The configured name of the server that a host is connected to; `None` for frames between a served server and its
    /// clients.
    pub server: Option<&'a str>,
    /// The number of the session or connection, unique in this process among those of its kind. Requests over HTTP without a
    /// session have none.
    pub session: Option<u64>,
    /// The principal of the client, where a served server knows it.
    pub principal: Option<&'a str>,
}

/// One frame: a message, or an event that is no message.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ObservedFrame<'a> {
    /// Whether it is sent or received.
    pub direction: Direction,
    /// The frame itself.
    pub body: FrameBody<'a>,
    /// The call it belongs to, where that is known.
    pub call: Option<CallNumber>,
    /// The time since the request: of a response, a cancellation and a failure.
    pub elapsed: Option<Duration>,
}

/// The content of a frame.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum FrameBody<'a> {
    /// A request.
    Request {
        /// Its id, unique for the requests of one direction in one session.
        id: &'a RequestId,
        /// The method.
        method: &'a str,
        /// The parameters, as JSON text.
        params: Option<&'a str>,
    },
    /// A notification.
    Notification {
        /// The method.
        method: &'a str,
        /// The parameters, as JSON text.
        params: Option<&'a str>,
    },
    /// A response.
    Response {
        /// The id of its request.
        id: &'a RequestId,
        /// The method of its request.
        method: &'a str,
        /// The result or the error.
        outcome: Result<&'a Raw, &'a RpcError>,
    },
    /// No message: a request was cancelled, and nobody waits for its response.
    Cancelled {
        /// The id of the request.
        id: &'a RequestId,
        /// Its method.
        method: &'a str,
    },
    /// No message: the link failed, for one request or when it was opened.
    Failed {
        /// The id and the method of the request.
        request: Option<(&'a RequestId, &'a str)>,
        /// The error.
        error: &'a LinkError,
    },
    /// No message: text that was received in place of one.
    Invalid {
        /// The text.
        text: &'a [u8],
    },
}

impl<'a> ObservedFrame<'a> {
    /// Creates a frame that belongs to no call.
    pub fn new(direction: Direction, body: FrameBody<'a>) -> Self {
        Self { direction, body, call: None, elapsed: None }
    }

    /// Sets the call it belongs to.
    #[must_use]
    pub fn with_call(mut self, call: Option<CallNumber>) -> Self {
        self.call = call;
        self
    }

    /// Sets the time since the request.
    #[must_use]
    pub fn with_elapsed(mut self, elapsed: Duration) -> Self {
        self.elapsed = Some(elapsed);
        self
    }

    /// Returns the text of the frame: the JSON of a message, with parameters and result as they are on the wire, or else a
    /// sentence in parentheses.
    pub fn text(&self) -> String {
        let mut message = MessageText::default();
        match &self.body {
            FrameBody::Request { id, method, params } => {
                message.id(id);
                message.call(method, *params);
            }
            FrameBody::Notification { method, params } => message.call(method, *params),
            FrameBody::Response { id, outcome, .. } => {
                message.id(id);
                match outcome {
                    Ok(result) => message.member("result", result.as_str()),
                    Err(error) => message.member("error", encode(error).as_str()),
                }
            }
            FrameBody::Cancelled { id, .. } => return format!("(request {id} was cancelled)"),
            FrameBody::Failed { error, .. } => return format!("({error})"),
            FrameBody::Invalid { text } => return String::from_utf8_lossy(text).into_owned(),
        }
        message.finish()
    }
}

/// The text of a message while it is being written.
struct MessageText(String);

impl Default for MessageText {
    fn default() -> Self {
        Self(r#"{"jsonrpc":"2.0""#.to_owned())
    }
}

impl MessageText {
    fn member(&mut self, name: &str, value: &str) {
        self.0.extend([",\"", name, "\":", value]);
    }

    fn id(&mut self, id: &RequestId) {
        self.member("id", encode(id).as_str());
    }

    fn call(&mut self, method: &str, params: Option<&str>) {
        self.member("method", encode(method).as_str());
        if let Some(params) = params {
            self.member("params", params);
        }
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn encode(value: &(impl serde_core::Serialize + ?Sized)) -> Raw {
    // Ids, methods and errors have no parts that cannot be encoded.
    Raw::encode(value).unwrap_or_else(|_| Raw::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_message_is_its_json() -> Result<(), Box<dyn std::error::Error>> {
        let (id, result) = (RequestId::Number(7), Raw::parse(r#"{"n":1.00}"#.to_owned())?);
        let text = |body| ObservedFrame::new(Direction::Out, body).text();
        let request = FrameBody::Request { id: &id, method: "tools/call", params: Some(r#"{"a": 1e2}"#) };
        assert_eq!(text(request), r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a": 1e2}}"#);
        let response = FrameBody::Response { id: &id, method: "tools/call", outcome: Ok(&result) };
        assert_eq!(text(response), r#"{"jsonrpc":"2.0","id":7,"result":{"n":1.00}}"#);
        let error = RpcError::invalid_params("no \"a\"");
        let response = FrameBody::Response { id: &id, method: "tools/call", outcome: Err(&error) };
        assert_eq!(
            text(response),
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no \"a\""}}"#
        );
        let note = FrameBody::Notification { method: "a\"b", params: None };
        assert_eq!(text(note), r#"{"jsonrpc":"2.0","method":"a\"b"}"#);
        assert_eq!(text(FrameBody::Cancelled { id: &id, method: "x" }), "(request 7 was cancelled)");
        Ok(())
    }
}
