//! The access log: every request when it arrives and when it is answered. Payloads only if enabled.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_protocol::{ErrorCode, Implementation, Raw, RpcError, ServerResult, surface};

use crate::request::Caller;
use crate::server::{HandlerOutcome, IncomingRequest, Layer, Next};

/// Reports every request twice: when it arrives, and when it is answered. A cancelled request is reported once.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use switchboard::protocol::Implementation;
/// use switchboard::server::layer::{AccessEventKind, AccessLog};
/// use switchboard::{Client, InProcess, Server, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let calls = Arc::new(Mutex::new(Vec::new()));
/// let log = Arc::clone(&calls);
/// let access_log = AccessLog::new(move |event| {
///     if event.method == "tools/call" && event.kind == AccessEventKind::Request {
///         log.lock().unwrap().push(event.name.clone().unwrap_or_default());
///     }
/// });
/// # let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities()).layer(access_log).build(demo::Demo);
/// # let session = Client::new().connect(InProcess::new(&server)).await?;
/// session.call_tool("add", json!({ "a": 1, "b": 2 })).await?;
/// assert_eq!(*calls.lock().unwrap(), ["add"]);
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct AccessLog {
    sink: Arc<dyn Fn(&AccessEvent) + Send + Sync>,
    payloads: bool,
}

/// An event of the access log: a request arrived, or was answered.
///
/// Contains names and URIs; arguments, results and error messages only if payloads are logged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AccessEvent {
    /// The kind of event.
    pub kind: AccessEventKind,
    /// The method of the request.
    pub method: String,
    /// The name of the tool or prompt.
    pub name: Option<String>,
    /// The URI of the resource, without its query.
    pub uri: Option<String>,
    /// The authenticated caller, where the binding knows it.
    pub caller: Option<Caller>,
    /// The client's own name and version. For display only.
    pub client: Option<Implementation>,
    /// The time until the response; `None` when the request arrives.
    pub duration: Option<Duration>,
    /// The code of the error response.
    pub code: Option<ErrorCode>,
    /// The arguments, the result or the error, if payloads are logged.
    pub payload: Option<Raw>,
}

/// The kind of an [`AccessEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessEventKind {
    /// A request arrived.
    Request,
    /// It was answered with a result.
    Response,
    /// It was answered with an error, or with a result that says that the tool failed.
    Error,
}

impl AccessLog {
    /// Reports events to this function. It must not block.
    pub fn new(sink: impl Fn(&AccessEvent) + Send + Sync + 'static) -> Self {
        Self { sink: Arc::new(sink), payloads: false }
    }

    /// Sets whether events carry arguments, results and errors, which are often secret.
    #[must_use]
    pub fn with_payloads(mut self, yes: bool) -> Self {
        self.payloads = yes;
        self
    }

    /// Reports that a request arrived, for one that does not pass the layers, such as a notification or a call over another
    /// protocol.
    pub fn begin(&self, mut event: AccessEvent) -> AccessRecord {
        event.payload = event.payload.filter(|_| self.payloads);
        (self.sink)(&event);
        event.payload = None;
        AccessRecord { log: self.clone(), event, since: Instant::now(), is_over: false }
    }
}

impl Layer for AccessLog {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let record = self.begin(AccessEvent::of(&request));
        next.call(request).inspect(move |reply| record.end(reply))
    }
}

impl AccessEvent {
    /// Creates the event of a request that arrived.
    pub fn request(method: impl Into<String>) -> Self {
        Self {
            kind: AccessEventKind::Request,
            method: method.into(),
            name: None,
            uri: None,
            caller: None,
            client: None,
            duration: None,
            code: None,
            payload: None,
        }
    }

    fn of(request: &IncomingRequest) -> Self {
        let mut event = Self::request(request.method());
        (event.caller, event.client) = (request.caller().cloned(), request.client());
        let text = |name: &str| request.param(name)?.decode::<String>().ok();
        match request.method() {
            "tools/call" | "prompts/get" => {
                (event.name, event.payload) = (text("name"), request.param("arguments"));
            }
            "resources/read" => {
                // A query holds arguments, which are payload.
                let base = |uri: String| uri.split(['?', '#']).next().unwrap_or_default().to_owned();
                event.uri = text("uri").map(base);
            }
            method if surface::find(method).next().is_none() => event.payload = request.params().cloned(),
            _ => {}
        }
        event
    }
}

/// A request that was reported, until its response is.
pub struct AccessRecord {
    log: AccessLog,
    event: AccessEvent,
    since: Instant,
    is_over: bool,
}

impl AccessRecord {
    /// Reports the reply.
    pub fn end(mut self, reply: Result<&ServerResult, &RpcError>) {
        let failed = matches!(reply, Ok(ServerResult::CallTool(result)) if result.is_error);
        self.report(failed, reply.err(), || Raw::encode(reply.ok()?).ok());
    }

    /// Reports an encoded result, or an error.
    pub fn end_raw(mut self, outcome: Result<&Raw, &RpcError>) {
        self.report(false, outcome.err(), || outcome.ok().cloned());
    }

    fn report(&mut self, failed: bool, error: Option<&RpcError>, result: impl FnOnce() -> Option<Raw>) {
        self.is_over = true;
        let is_error = failed || error.is_some();
        self.event.kind = if is_error { AccessEventKind::Error } else { AccessEventKind::Response };
        self.event.code = error.map(|error| error.code);
        self.event.duration = Some(self.since.elapsed());
        if self.log.payloads {
            self.event.payload = match error {
                Some(error) => Raw::encode(error).ok(),
                None => result(),
            };
        }
        (self.log.sink)(&self.event);
    }
}

impl Drop for AccessRecord {
    fn drop(&mut self) {
        // A panic is answered further outside; a cancelled request is not answered.
        if !self.is_over && std::thread::panicking() {
            self.report(false, Some(&RpcError::new(ErrorCode::INTERNAL_ERROR, "panicked")), || None);
        }
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessLog").field("payloads", &self.payloads).finish_non_exhaustive()
    }
}

impl fmt::Debug for AccessRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AccessRecord").field(&self.event).finish()
    }
}
