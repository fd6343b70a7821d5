//! The context of a request for its handler: revision, client and caller, progress, log messages, input requests,
//! cancellation.

use std::any::TypeId;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use switchboard_protocol::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Implementation,
    InputRequest, Level, ListRootsResult, LogMessage, ProgressParams, Raw, RequestId, Revision, Root,
    RpcError,
};

use crate::era::serving::{RequestEra, TaskProtocol};
use crate::era::{Questions, is_extension_note};
use crate::request::{AskError, Caller, Cancel, ReplyChannel};
use crate::server::Publisher;
use crate::server::detach::Detachment;

/// The context of one request, for its handler. Cheap to clone.
///
/// ```
/// use switchboard::protocol::{CallToolResult, Content, Implementation, Level};
/// use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
/// use switchboard::{Client, InProcess, Server, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// struct Import;
///
/// impl Handler for Import {
///     fn handle(&self, _: ServerRequest, cx: RequestContext) -> HandlerOutcome {
///         HandlerOutcome::later(async move {
///             cx.progress(1.0, Some(2.0), Some("reading"));
///             cx.log(Level::Info, Some("import"), json!({ "rows": 12 }));
///             let client = cx.client().map(|client| client.name).unwrap_or_default();
///             Ok(CallToolResult::new([Content::text(format!("12 rows for {client}"))]).into())
///         })
///     }
/// }
///
/// # let server = Server::builder(Implementation::new("import", "1.0.0"), demo::capabilities()).build(Import);
/// # let session = Client::new().with_name("editor", "1.0.0").connect(InProcess::new(&server)).await?;
/// # assert_eq!(session.call_tool("import", json!({})).await?.text(), "12 rows for editor");
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct RequestContext {
    inner: Arc<Inner>,
}

struct Inner {
    id: RequestId,
    era: RequestEra,
    questions: Questions,
    progress_token: Option<RequestId>,
    channel: Arc<dyn ReplyChannel>,
    cancel: Arc<Cancel>,
    progress: Mutex<ProgressState>,
    may_ask: bool,
    ask_within: Duration,
    logs: bool,
    of_extension: bool,
    publisher: Publisher,
    detachment: Detachment,
}

struct ProgressState {
    last: f64,
    at: Option<Instant>,
    /// Whether the handler reported progress itself.
    is_own: bool,
}

/// The options of a request context.
pub(crate) struct ContextOptions {
    pub(crate) may_ask: bool,
    pub(crate) ask_within: Duration,
    /// Whether the server declares logging.
    pub(crate) logs: bool,
    /// Whether the method belongs to an extension.
    pub(crate) of_extension: bool,
    /// The publisher of the server.
    pub(crate) publisher: Publisher,
}

/// The minimum interval between progress notifications, except for the last.
const PROGRESS_GAP: Duration = Duration::from_millis(50);

impl RequestContext {
    pub(crate) fn new(
        id: RequestId,
        era: RequestEra,
        progress_token: Option<RequestId>,
        (channel, cancel): (Arc<dyn ReplyChannel>, Arc<Cancel>),
        options: ContextOptions,
        questions: Questions,
    ) -> Self {
        let ContextOptions { may_ask, ask_within, logs, of_extension, publisher } = options;
        let progress = Mutex::new(ProgressState { last: f64::NEG_INFINITY, at: None, is_own: false });
        let inner = Inner {
            id,
            era,
            questions,
            progress_token,
            channel,
            cancel,
            progress,
            may_ask,
            ask_within,
            logs,
            of_extension,
            publisher,
            detachment: Detachment::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn era(&self) -> &RequestEra {
        &self.inner.era
    }

    pub(crate) fn detachment(&self) -> &Detachment {
        &self.inner.detachment
    }

    /// Returns the revision of this request.
    pub fn revision(&self) -> Revision {
        self.inner.era.revision()
    }

    /// Returns whether structured content may be any JSON value; where not, it is an object.
    pub fn allows_any_structured_content(&self) -> bool {
        self.inner.era.allows_any_structured_content()
    }

    /// Returns whether tools declare output schemas and results have structured content.
    pub fn has_output_schemas(&self) -> bool {
        self.inner.era.has_output_schemas()
    }

    /// Returns the id of the request.
    pub fn request_id(&self) -> &RequestId {
        &self.inner.id
    }

    /// Returns the client's own name and version. For display only.
    pub fn client(&self) -> Option<Implementation> {
        self.inner.era.client()
    }

    /// Returns the authenticated caller, where the binding knows it.
    pub fn caller(&self) -> Option<&Caller> {
        self.inner.channel.caller()
    }

    /// Returns the owner of data that outlives the request: its caller, else its session. `None` when neither is known; such
    /// data is accessible to everyone who knows its id.
    pub fn owner(&self) -> Option<String> {
        let session = || self.session_key().map(|key| format!("session {key}"));
        self.caller().map(Caller::principal).or_else(session)
    }

    /// Returns a key of the session of a legacy client, for records: random, unique, and not the id by which the client uses
    /// the session. `None` for a modern client, which has no session.
    pub fn session_key(&self) -> Option<String> {
        self.inner.era.session_key()
    }

    /// Sends a notification to the session that the request belongs to, also after the response; where the request is
    /// self-contained, or the revision has no such notification, nothing is sent.
    pub fn notify_session(&self, method: &'static str, params: Raw) {
        if let Some(session) = self.session_key() {
            self.inner.publisher.notify_session(session, method, params);
        }
    }

    /// Returns the protocol for tasks, where the revision has tasks.
    pub fn task_protocol(&self) -> Option<TaskProtocol> {
        self.inner.era.task_protocol()
    }

    /// Checks that the client declared an extension.
    ///
    /// # Errors
    /// The error to send to a client that did not.
    pub fn require_extension(&self, id: &str) -> Result<(), RpcError> {
        self.inner.era.require_extension(id)
    }

    /// Cancels the detached work of this request.
    pub fn end(&self) {
        self.inner.cancel.set();
    }

    /// Returns a typed value that the binding attached to the request.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.inner.channel.extension(TypeId::of::<T>())?.downcast_ref()
    }

    /// Returns the client's capabilities.
    pub fn capabilities(&self) -> &ClientCapabilities {
        self.inner.era.capabilities()
    }

    /// Returns whether invalid tool arguments are reported in a failed result, which the model reads; older revisions use an
    /// error.
    pub fn reports_invalid_arguments_in_results(&self) -> bool {
        self.inner.era.reports_invalid_arguments_in_results()
    }

    /// Reports progress. Does nothing when the client did not ask for it, or when it goes backwards.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if self.inner.progress_token.is_some() {
            self.inner.progress.lock().is_own = true;
            self.report(progress, total, message);
        }
    }

    fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.inner.progress_token else { return };
        {
            let mut state = self.inner.progress.lock();
            let is_too_soon = state.at.is_some_and(|at| at.elapsed() < PROGRESS_GAP);
            let is_end = total.is_some_and(|total| progress >= total);
            if progress.is_nan() || progress <= state.last || (is_too_soon && !is_end) {
                return;
            }
            (state.last, state.at) = (progress, Some(Instant::now()));
        }
        let mut params = ProgressParams::new(token.clone(), progress);
        params.total = total;
        params.message = message.map(str::to_owned);
        params.lower(self.revision());
        self.inner.cancel.record_progress();
        self.tell("notifications/progress", &params);
    }

    /// Returns whether the client requested progress.
    pub fn wants_progress(&self) -> bool {
        self.inner.progress_token.is_some()
    }

    /// Reports how many items a streaming handler has sent so far. Does nothing when the client did not ask for progress
    /// or when the handler reports progress of its own, which counts something else. The first item is not reported:
    /// a handler that reports progress has done so before its second item.
    pub fn progress_items(&self, count: u64) {
        if count < 2 || self.inner.progress.lock().is_own {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
        self.report(count as f64, None, Some(&format!("{count} items so far")));
    }

    /// Sends a log message, if the client wants messages of this level.
    pub fn log(&self, level: Level, logger: Option<&str>, data: impl Serialize) {
        if !self.inner.logs || !self.inner.era.wants_log(level) {
            return;
        }
        let Ok(data) = Raw::encode(&data) else { return };
        let mut message = LogMessage::new(level, data);
        message.logger = logger.map(str::to_owned);
        self.tell("notifications/message", &message);
    }

    fn tell<T: Serialize>(&self, method: &str, params: &T) {
        // After its response or cancellation, no notification may be sent for a request.
        if self.inner.cancel.is_over() && !self.is_detached() {
            return;
        }
        if let Ok(params) = Raw::encode(params) {
            self.note(method, Some(&params));
        }
    }

    fn note(&self, method: &str, params: Option<&Raw>) {
        // A cancelled handler may still run for a moment on another thread.
        let may = !self.is_detached() || self.inner.era.allows_notes_after_answer();
        if may && !self.is_cancelled() {
            self.inner.channel.note(method, params);
        }
    }

    /// Returns the level that the client has asked for; `None` if it has not asked for log messages.
    pub fn log_level(&self) -> Option<Level> {
        self.inner.era.log_level()
    }

    /// Returns whether a result of this revision must be read and lowered before it is sent to the client.
    pub fn must_lower(&self, from: Revision) -> bool {
        self.inner.era.must_lower(from)
    }

    /// Returns whether the handler is dropped at a question and runs again from the top with its answer.
    pub fn replays_handler(&self) -> bool {
        self.inner.era.replays_handler()
    }

    /// Checks that the client can be asked this question.
    ///
    /// # Errors
    /// When it did not declare the capability, its revision has no such question, or this request may not ask.
    pub fn check_question(&self, request: &InputRequest) -> Result<(), AskError> {
        if !self.inner.may_ask {
            return Err(AskError::NotHere);
        }
        self.inner.era.check_question(request.clone()).map(drop)
    }

    /// As [`Self::check_question`], for a question that is sent with [`Self::request`] or with the state of a task.
    ///
    /// # Errors
    /// When the client did not declare the capability, or its revision has no such question.
    pub fn check_answerable(&self, request: &InputRequest) -> Result<(), AskError> {
        self.inner.era.check_question(request.clone()).map(drop)
    }

    /// Asks the client any question and returns its answer as text. As [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn ask_raw(&self, key: &str, request: InputRequest) -> Result<Raw, AskError> {
        if !self.inner.may_ask {
            return Err(AskError::NotHere);
        }
        let Inner { era, channel, questions, .. } = &*self.inner;
        let asking = async {
            match self.inner.detachment.input_channel() {
                Some(input) => input.ask(key, era.check_question(request)?).await,
                None => era.ask(&**channel, questions, key, request).await,
            }
        };
        tokio::time::timeout(self.inner.ask_within, asking).await.map_err(|_| AskError::TimedOut)?
    }

    /// Returns whether the client accepts form elicitation.
    pub fn can_elicit(&self) -> bool {
        self.inner.may_ask
            && self.capabilities().elicitation.as_ref().is_some_and(|elicitation| elicitation.allows_form())
    }

    /// Asks the user. `key` names the question within this request.
    ///
    /// **Code before a question may run more than once**: in the modern era the request is answered with the
    /// question, and the handler runs again from the top when the answer comes. Use [`Self::step`] for what must
    /// happen once.
    ///
    /// # Errors
    /// When the client cannot be asked, or its answer is invalid.
    ///
    /// # Examples
    /// ```
    /// use switchboard::protocol::{CallToolResult, Content, ElicitAction, ElicitParams, FormSchema, Implementation};
    /// use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
    /// # use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
    /// # use switchboard::transport::link::BoxFuture;
    /// # use switchboard::{Client, InProcess, Server, json};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// struct Delete;
    ///
    /// impl Handler for Delete {
    ///     fn handle(&self, _: ServerRequest, cx: RequestContext) -> HandlerOutcome {
    ///         HandlerOutcome::later(async move {
    ///             let answer = cx.elicit("confirm", ElicitParams::form("Delete the file?", FormSchema::new())).await?;
    ///             let text = if answer.action == ElicitAction::Accept { "deleted" } else { "kept" };
    ///             Ok(CallToolResult::new([Content::text(text)]).into())
    ///         })
    ///     }
    /// }
    ///
    /// # struct Decline;
    /// # impl ClientHandler for Decline {
    /// #     fn capabilities(&self) -> HandlerCapabilities { HandlerCapabilities::none().with_forms() }
    /// #     fn elicit<'a>(&'a self, _: ElicitParams, _: &'a RequestingServer) -> BoxFuture<'a, Result<switchboard::protocol::ElicitResult, HandlerError>> {
    /// #         Box::pin(async { Ok(switchboard::protocol::ElicitResult::new(ElicitAction::Decline)) })
    /// #     }
    /// # }
    /// # let server = Server::builder(Implementation::new("files", "1.0.0"), demo::capabilities()).build(Delete);
    /// # let session = Client::new().with_answers(Decline).connect(InProcess::new(&server)).await?;
    /// # assert_eq!(session.call_tool("delete", json!({})).await?.text(), "kept");
    /// # demo::done() });
    /// ```
    pub async fn elicit(&self, key: &str, request: ElicitParams) -> Result<ElicitResult, AskError> {
        self.ask(key, InputRequest::from(request)).await
    }

    /// Asks the client's model. As [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn sample(
        &self,
        key: &str,
        request: CreateMessageParams,
    ) -> Result<CreateMessageResult, AskError> {
        self.ask(key, InputRequest::from(request)).await
    }

    /// Asks for the client's roots. As [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, AskError> {
        let result: ListRootsResult = self.ask(key, InputRequest::Roots(Default::default())).await?;
        Ok(result.roots)
    }

    async fn ask<T: DeserializeOwned>(&self, key: &str, request: InputRequest) -> Result<T, AskError> {
        let answer = self.ask_raw(key, request).await?;
        answer.decode().map_err(|error| AskError::Invalid(error.to_string()))
    }

    /// Sends any request that the revision allows to the client, e.g. `ping`. In the modern era there is none.
    ///
    /// # Errors
    /// When the revision has no such request, the client did not declare it, or its answer is none.
    pub async fn request(&self, method: &str, params: &Raw) -> Result<Raw, AskError> {
        let asking = self.inner.era.request(&*self.inner.channel, method, params);
        tokio::time::timeout(self.inner.ask_within, asking).await.map_err(|_| AskError::TimedOut)?
    }

    /// Sends any notification that belongs to this request, where the revision has it.
    ///
    /// One of an extension, `notifications/<prefix>/…`, is sent where the client declared an extension with that prefix;
    /// in answer to a request of an extension always. Its parameters say by `requestId` whose it is.
    pub fn notify(&self, method: &str, params: Option<&Raw>) {
        if self.may_notify(method) {
            self.note(method, params);
        }
    }

    /// Sends a notification of an extension that the request itself asked for, whatever its session declared. Its
    /// parameters say by `requestId` whose it is.
    pub fn notify_requested(&self, method: &str, params: &Raw) {
        if is_extension_note(method) {
            self.note(method, Some(params));
        }
    }

    /// Returns whether [`Self::notify`] sends a notification of this name.
    pub fn may_notify(&self, method: &str) -> bool {
        (self.inner.of_extension && is_extension_note(method)) || self.inner.era.allows_message(method)
    }

    /// Runs a step once: when the handler runs again after a question, returns the result of the first run.
    ///
    /// # Errors
    /// When the result cannot be encoded or decoded; the inner result is that of the step.
    ///
    /// # Examples
    /// ```
    /// use switchboard::protocol::{CallToolResult, Content, Implementation, RpcError};
    /// use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
    /// # use switchboard::{Client, InProcess, Server, json};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// struct Order;
    ///
    /// impl Handler for Order {
    ///     fn handle(&self, _: ServerRequest, cx: RequestContext) -> HandlerOutcome {
    ///         HandlerOutcome::later(async move {
    ///             // Reserved once, even if a question afterwards runs the handler again.
    ///             let number = cx.step("reserve", || async { Ok::<u64, RpcError>(17) }).await??;
    ///             Ok(CallToolResult::new([Content::text(format!("order {number}"))]).into())
    ///         })
    ///     }
    /// }
    ///
    /// # let server = Server::builder(Implementation::new("shop", "1.0.0"), demo::capabilities()).build(Order);
    /// # let session = Client::new().connect(InProcess::new(&server)).await?;
    /// # assert_eq!(session.call_tool("order", json!({})).await?.text(), "order 17");
    /// # demo::done() });
    /// ```
    pub async fn step<T, E, F>(&self, key: &str, step: impl FnOnce() -> F) -> Result<Result<T, E>, AskError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, E>>,
    {
        if let Some(cached) = self.inner.era.step(&self.inner.questions, key).filter(|_| !self.is_detached())
        {
            return cached.decode().map(Ok).map_err(|error| AskError::Invalid(error.to_string()));
        }
        match step().await {
            Ok(result) => {
                let cached = Raw::encode(&result).map_err(|error| AskError::Invalid(error.to_string()))?;
                self.inner.era.remember(&self.inner.questions, key, cached);
                Ok(Ok(result))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Returns whether the client reads so slowly that notifications should wait.
    pub fn is_behind(&self) -> bool {
        self.inner.channel.is_behind()
    }

    /// Returns whether the request was answered or cancelled.
    pub fn is_over(&self) -> bool {
        self.inner.cancel.is_over()
    }

    /// Closes the stream and lets the client reconnect for the response after `retry`, where the binding supports that: long
    /// work need not hold a connection.
    pub fn hang_up(&self, retry: Duration) {
        self.inner.channel.hang_up(retry);
    }

    /// Waits until the session of the request has ended; forever where it belongs to none.
    pub async fn session_ended(&self) {
        self.inner.era.session_ended().await;
    }

    /// Waits until the request is cancelled. For work that outlives its handler; a handler itself is simply dropped.
    pub async fn cancelled(&self) {
        self.inner.cancel.wait().await;
    }

    /// Returns whether the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancel.is_set()
    }
}

impl AsRef<Questions> for RequestContext {
    fn as_ref(&self) -> &Questions {
        &self.inner.questions
    }
}

impl std::fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestContext")
            .field("id", &self.inner.id)
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}
