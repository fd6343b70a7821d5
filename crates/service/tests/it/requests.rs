//! Handwritten requests, without a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use switchboard_protocol::Raw;
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_session::link::Exchange;
use switchboard_session::server::{AnswerOutcome, Caller, Extensions, ReplyChannel, Server};

use crate::sessions::MODERN;

/// Reply channel of a handwritten request: records notifications.
#[derive(Default)]
pub(crate) struct RecordingChannel {
    extensions: Extensions,
    pub(crate) behind: AtomicBool,
    pub(crate) notes: parking_lot::Mutex<Vec<(String, Value)>>,
}

impl ReplyChannel for RecordingChannel {
    fn is_behind(&self) -> bool {
        self.behind.load(Ordering::SeqCst)
    }

    fn note(&self, method: &str, params: Option<&Raw>) {
        let params = params.map_or(Value::Null, |params| params.decode().unwrap());
        self.notes.lock().push((method.to_owned(), params));
    }

    fn ask(&self, _: &str, _: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        self.extensions.get()
    }

    fn extension(&self, of: std::any::TypeId) -> Option<&(dyn std::any::Any + Send + Sync)> {
        self.extensions.find(of)
    }
}

/// Sends a handwritten modern request of a client with all capabilities; returns the response and the notifications.
pub(crate) async fn send_request(
    server: &Arc<Server>,
    caller: Option<&str>,
    params: Value,
) -> (Vec<(String, Value)>, Result<Value, (i32, String)>) {
    let mut back = RecordingChannel::default();
    if let Some(caller) = caller {
        back.extensions = Extensions::new().with(Caller::new(caller));
    }
    let back = Arc::new(back);
    let outcome = match begin(server, &back, "tools/call", params) {
        AnswerOutcome::Later(response) => response.await,
        AnswerOutcome::Now(outcome) => outcome,
        AnswerOutcome::Refused(error) => Err(error),
    };
    let notes = std::mem::take(&mut *back.notes.lock());
    (notes, outcome.map(|result| result.decode().unwrap()).map_err(|error| (error.code.0, error.message)))
}

/// Starts a modern request.
pub(crate) fn begin(
    server: &Arc<Server>,
    back: &Arc<RecordingChannel>,
    method: &str,
    mut params: Value,
) -> AnswerOutcome {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN.revision.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "progressToken": "p",
    });
    begin_text(server, back, method, &params.to_string())
}

/// As [`begin`], with the parameters as text, which includes `_meta`.
pub(crate) fn begin_text(
    server: &Arc<Server>,
    back: &Arc<RecordingChannel>,
    method: &str,
    params: &str,
) -> AnswerOutcome {
    let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.clone().into()) else {
        panic!("{frame} is no request")
    };
    let says = server.classify(&request);
    server.answer(&Arc::default(), request, says, Arc::clone(back) as Arc<dyn ReplyChannel>)
}
