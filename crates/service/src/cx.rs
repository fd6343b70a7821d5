//! The context of a call, the same type for servers and clients.
//!
//! On the server it is created for each request and communicates with the client. A client creates one with
//! [`Cx::call`] to set a timeout or receive progress, a test with [`Cx::test`]. The protocol era is not visible here.

mod calling;
mod extract;
mod progress;
mod test;

pub use calling::CallCx;
pub use extract::FromCx;
pub use progress::Progress;
pub use test::TestCx;

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_design::Error;
use switchboard_protocol::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult,
    Implementation, Level, Meta, Raw, RequestId, Revision, Root,
};
use switchboard_session::client::CallOptions;
use switchboard_session::server::{self, AskError, Caller};

use crate::{ElicitOutcome, Form};

/// The context of a call. Cheap to clone.
///
/// ```
/// use switchboard::service::{Cx, Result};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// /// Imports tables.
/// #[switchboard::service(name = "import", version = "1.0.0")]
/// pub trait Import {
///     /// Imports rows.
///     #[tool]
///     async fn import(&self, cx: &Cx, rows: u32) -> Result<String>;
/// }
///
/// struct Table;
///
/// impl Import for Table {
///     async fn import(&self, cx: &Cx, rows: u32) -> Result<String> {
///         let progress = cx.progress(f64::from(rows));
///         progress.report_with_message(1.0, "reading");
///         Ok(format!("{rows} rows"))
///     }
/// }
///
/// let cx = Cx::test().build(); // a unit test calls the method directly
/// assert_eq!(Table.import(&cx, 12).await?, "12 rows");
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct Cx {
    side: CallSide,
    meta: Option<Meta>,
    deadline: Option<Instant>,
}

/// The origin of a context: a served request, a client's call, or background work.
#[derive(Clone)]
enum CallSide {
    /// A request that is served.
    Server(server::RequestContext),
    /// A call by a client, or a direct call of a method.
    Client(Arc<CallCx>),
    /// Background work without a request, such as a watcher.
    Detached,
}

impl Cx {
    fn from_side(side: CallSide) -> Self {
        Self { side, meta: None, deadline: None }
    }

    /// Returns a builder for the context of a call.
    pub fn call() -> CallCx {
        CallCx::default()
    }

    /// Returns a builder for the context of a unit test.
    pub fn test() -> TestCx {
        TestCx::default()
    }

    /// Creates the context of a request that is served.
    pub fn from_request(cx: server::RequestContext) -> Self {
        Self::from_side(CallSide::Server(cx))
    }

    /// Creates a context for work without a request.
    pub(crate) fn detached() -> Self {
        Self::from_side(CallSide::Detached)
    }

    pub(crate) fn with_meta(mut self, meta: Option<Meta>) -> Self {
        self.meta = meta;
        self
    }

    pub(crate) fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self
    }

    /// Returns the options of the call, on the client side.
    pub fn options(&self) -> Option<&CallOptions> {
        match &self.side {
            CallSide::Client(call) => Some(call.call_options()),
            CallSide::Server(_) | CallSide::Detached => None,
        }
    }

    pub(crate) fn request_context(&self) -> Option<&server::RequestContext> {
        match &self.side {
            CallSide::Server(cx) => Some(cx),
            CallSide::Client(_) | CallSide::Detached => None,
        }
    }

    /// Returns the protocol revision of the request.
    pub fn revision(&self) -> Option<Revision> {
        self.request_context().map(server::RequestContext::revision)
    }

    /// Returns the name and version that the client claims. For display only.
    pub fn client(&self) -> Option<Implementation> {
        self.request_context().and_then(server::RequestContext::client)
    }

    /// Returns the capabilities that the client declared.
    pub fn capabilities(&self) -> &ClientCapabilities {
        static NONE: LazyLock<ClientCapabilities> = LazyLock::new(ClientCapabilities::new);
        self.request_context().map_or(&NONE, server::RequestContext::capabilities)
    }

    /// Returns the id of the request.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.request_context().map(server::RequestContext::request_id)
    }

    /// Returns the `_meta` of the request.
    pub fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref().or_else(|| self.options()?.meta.as_ref())
    }

    /// Returns the W3C trace context of the request.
    pub fn trace(&self) -> TraceContext {
        let text = |key| self.meta()?.decode::<String>(key).ok().flatten();
        TraceContext {
            parent: text(Meta::TRACEPARENT),
            state: text(Meta::TRACESTATE),
            baggage: text(Meta::BAGGAGE),
        }
    }

    /// Extracts a value of type `T` from the context.
    ///
    /// # Errors
    /// When the context does not contain it.
    pub fn extract<T: FromCx>(&self) -> Result<T, Error> {
        T::from_cx(self)
    }

    /// Returns the authenticated caller, if there is one.
    pub fn caller(&self) -> Option<&Caller> {
        self.extension()
    }

    /// Returns a value that the transport or a layer attached to the request, by its type.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        match &self.side {
            CallSide::Server(cx) => cx.extension(),
            CallSide::Client(options) => options.extensions.get(),
            CallSide::Detached => None,
        }
    }

    /// Returns the deadline of the call; `None` once it continues as a task.
    pub fn deadline(&self) -> Option<Instant> {
        let is_task = self.request_context().is_some_and(server::RequestContext::is_detached);
        self.deadline.filter(|_| !is_task)
    }

    /// Returns a reporter of progress towards `total`.
    pub fn progress(&self, total: impl Into<Option<f64>>) -> Progress {
        Progress { cx: self.clone(), total: total.into() }
    }

    /// Reports progress. Ignored when the caller did not request progress, or when the value decreases.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        match &self.side {
            CallSide::Server(cx) => cx.progress(progress, total, message),
            CallSide::Client(options) => options.report(progress, total, message),
            CallSide::Detached => {}
        }
    }

    /// Sends a log message, if the client enabled this level.
    pub fn log(&self, level: Level, data: impl Serialize) {
        if let Some(cx) = self.request_context() {
            cx.log(level, None, data);
        }
    }

    /// Returns whether the client supports form elicitation.
    pub fn can_elicit(&self) -> bool {
        match &self.side {
            CallSide::Server(cx) => cx.can_elicit(),
            CallSide::Client(options) => options.capabilities().forms,
            CallSide::Detached => false,
        }
    }

    /// Asks the user to fill in a form. `key` identifies the request within this call.
    ///
    /// **Code before an input request may run more than once**; use [`Self::step`] for side effects. The request must
    /// be deterministic: no clocks and no random numbers in it.
    ///
    /// # Errors
    /// When the client does not support elicitation, or its response does not match the form.
    ///
    /// # Examples
    /// ```
    /// use switchboard::json;
    /// use switchboard::service::{Cx, Deserialize, Form};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// #[derive(Deserialize, Form)]
    /// struct Consent {
    ///     /// Really delete it?
    ///     ok: bool,
    /// }
    ///
    /// # let cx = Cx::test().answer("consent", json!({ "ok": true })).build();
    /// let consent: Consent = cx.elicit("consent", "Delete 3 files?").await?.into_result()?;
    /// assert!(consent.ok);
    /// # demo::done() });
    /// ```
    pub async fn elicit<T: Form>(
        &self,
        key: &str,
        message: impl fmt::Display,
    ) -> Result<ElicitOutcome<T>, Error> {
        let request = ElicitParams::form(message.to_string(), T::form());
        let result = self.ask(key, request).await?;
        Ok(match result.action {
            ElicitAction::Accept => {
                let content = Raw::encode(&result.content)?;
                let mismatch = |error| {
                    let reason = format!("The answer to {key:?} does not match the form: {error}");
                    Error::tool("invalid_answer", reason)
                };
                ElicitOutcome::Accepted(content.decode().map_err(mismatch)?)
            }
            ElicitAction::Decline => ElicitOutcome::Declined,
            ElicitAction::Cancel => ElicitOutcome::Dismissed,
        })
    }

    /// Asks the user to visit a URL, for example to log in. See [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn elicit_url(
        &self,
        key: &str,
        message: impl fmt::Display,
        url: impl Into<String>,
    ) -> Result<ElicitOutcome<()>, Error> {
        let result = self.ask(key, ElicitParams::url(message.to_string(), url)).await?;
        Ok(match result.action {
            ElicitAction::Accept => ElicitOutcome::Accepted(()),
            ElicitAction::Decline => ElicitOutcome::Declined,
            ElicitAction::Cancel => ElicitOutcome::Dismissed,
        })
    }

    async fn ask(&self, key: &str, request: ElicitParams) -> Result<ElicitResult, Error> {
        match &self.side {
            CallSide::Server(cx) => cx.elicit(key, request).await.map_err(|error| input_error(error, key)),
            CallSide::Client(options) => options.elicit(key, request).await,
            CallSide::Detached => Err(input_error(AskError::NotHere, key)),
        }
    }

    /// Samples the client's model. See [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn sample(
        &self,
        key: &str,
        request: CreateMessageParams,
    ) -> Result<CreateMessageResult, Error> {
        match &self.side {
            CallSide::Server(cx) => cx.sample(key, request).await.map_err(|error| input_error(error, key)),
            CallSide::Client(options) => options.sample(key, request).await,
            CallSide::Detached => Err(input_error(AskError::NotHere, key)),
        }
    }

    /// Requests the client's roots. See [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, Error> {
        match self.request_context() {
            Some(cx) => cx.roots(key).await.map_err(|error| input_error(error, key)),
            None => Err(missing_handler("roots", key)),
        }
    }

    /// Runs a step once: when the method runs again after an input request, the recorded result is returned.
    ///
    /// # Errors
    /// The error of the step, or a result that cannot be recorded.
    ///
    /// # Examples
    /// ```
    /// use switchboard::service::Cx;
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let cx = Cx::test().build();
    /// // Reserved once, even if an input request afterwards runs the method again.
    /// let number: u64 = cx.step("reserve", || async { Ok(17) }).await?;
    /// assert_eq!(number, 17);
    /// # demo::done() });
    /// ```
    pub async fn step<T, F>(&self, key: &str, step: impl FnOnce() -> F) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, Error>>,
    {
        match self.request_context() {
            Some(cx) => cx.step(key, step).await.map_err(|error| input_error(error, key))?,
            None => step().await,
        }
    }

    /// Closes the response stream and lets the caller reconnect for the result after `retry`, where the transport
    /// supports it: long work need not hold a connection.
    pub fn hang_up(&self, retry: Duration) {
        if let Some(cx) = self.request_context() {
            cx.hang_up(retry);
        }
    }

    /// Turns the call of a tool into a task, which outlives its request. Returns `false` when the tool or the client
    /// does not support that. Until then the method may request input as usual.
    pub async fn become_task(&self) -> bool {
        match self.request_context() {
            Some(cx) => cx.detach().await,
            None => false,
        }
    }

    /// Waits until the call is cancelled. The method itself is dropped on cancellation.
    pub async fn cancelled(&self) {
        match self.request_context() {
            Some(cx) => cx.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Returns whether the call was cancelled, for work that runs elsewhere.
    pub fn is_cancelled(&self) -> bool {
        self.request_context().is_some_and(server::RequestContext::is_cancelled)
    }
}

/// The W3C trace context of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// `traceparent`.
    pub parent: Option<String>,
    /// `tracestate`.
    pub state: Option<String>,
    /// `baggage`.
    pub baggage: Option<String>,
}

/// Creates the error for an input request that no handler can answer. Logs advice for the author of the method or
/// call.
fn missing_handler(capability: &str, key: &str) -> Error {
    tracing::warn!(
        capability,
        key,
        "input request without a handler: give the call `answers`, or request input only if `can_elicit()`"
    );
    Error::MissingCapability(capability.to_owned())
}

fn input_error(error: AskError, key: &str) -> Error {
    match error {
        AskError::Undeclared(capability) => missing_handler(capability, key),
        AskError::Unavailable => missing_handler("elicitation", key),
        AskError::Suspended => Error::Suspended,
        AskError::TimedOut => Error::Timeout,
        AskError::Refused(error) => Error::Rpc(error),
        AskError::Gone => Error::Transport(Box::new(AskError::Gone)),
        other => Error::internal(format!("input request {key:?} failed: {other}")),
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.side {
            CallSide::Server(_) => "Cx(server)",
            CallSide::Client(_) => "Cx(client)",
            CallSide::Detached => "Cx(detached)",
        })
    }
}
