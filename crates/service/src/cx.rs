//! What a method knows of its call, the same type on both sides of the wire.
//!
//! On the server it is made for each request and talks back to the caller. A caller makes one with [`Cx::call`] to set
//! a deadline or hear progress, a test with [`Cx::test`]. Nothing here says in which era the call is made.

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

use crate::{Answer, Form};

/// What a method knows of its call. Cheap to clone.
#[derive(Clone)]
pub struct Cx {
    side: Side,
    meta: Option<Meta>,
    deadline: Option<Instant>,
}

#[derive(Clone)]
enum Side {
    /// A request that is being served.
    Serving(server::RequestContext),
    /// A call that is being made, or is made directly.
    Calling(Arc<CallCx>),
    /// Work for nobody in particular, such as watching a resource.
    Alone,
}

impl Cx {
    fn of(side: Side) -> Self {
        Self { side, meta: None, deadline: None }
    }

    /// Starts the context of a call.
    pub fn call() -> CallCx {
        CallCx::default()
    }

    /// For a test of a method.
    pub fn test() -> TestCx {
        TestCx::default()
    }

    /// For a request that is being served.
    pub fn serving(cx: server::RequestContext) -> Self {
        Self::of(Side::Serving(cx))
    }

    /// For work that no request asked for.
    pub(crate) fn alone() -> Self {
        Self::of(Side::Alone)
    }

    pub(crate) fn with_meta(mut self, meta: Option<Meta>) -> Self {
        self.meta = meta;
        self
    }

    pub(crate) fn within(mut self, timeout: Option<Duration>) -> Self {
        self.deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self
    }

    /// Returns the options of the call, when this is the caller's side.
    pub fn options(&self) -> Option<&CallOptions> {
        match &self.side {
            Side::Calling(call) => Some(call.call_options()),
            Side::Serving(_) | Side::Alone => None,
        }
    }

    pub(crate) fn served(&self) -> Option<&server::RequestContext> {
        match &self.side {
            Side::Serving(cx) => Some(cx),
            Side::Calling(_) | Side::Alone => None,
        }
    }

    /// The revision the request is served in.
    pub fn revision(&self) -> Option<Revision> {
        self.served().map(server::RequestContext::revision)
    }

    /// Who the client says it is. For display only.
    pub fn client(&self) -> Option<Implementation> {
        self.served().and_then(server::RequestContext::client)
    }

    /// What the client declared it can be asked.
    pub fn capabilities(&self) -> &ClientCapabilities {
        static NONE: LazyLock<ClientCapabilities> = LazyLock::new(ClientCapabilities::new);
        self.served().map_or(&NONE, server::RequestContext::capabilities)
    }

    /// The id of the request.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.served().map(server::RequestContext::request_id)
    }

    /// What else the caller said of the request.
    pub fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref().or_else(|| self.options()?.meta.as_ref())
    }

    /// The W3C trace context that the caller sent along.
    pub fn trace(&self) -> TraceContext {
        let text = |key| self.meta()?.decode::<String>(key).ok().flatten();
        TraceContext {
            parent: text(Meta::TRACEPARENT),
            state: text(Meta::TRACESTATE),
            baggage: text(Meta::BAGGAGE),
        }
    }

    /// Takes something out of the context by its type.
    ///
    /// # Errors
    /// When it is not there.
    pub fn extract<T: FromCx>(&self) -> Result<T, Error> {
        T::from_cx(self)
    }

    /// On whose behalf the call is made, where that was found out.
    pub fn caller(&self) -> Option<&Caller> {
        self.extension()
    }

    /// What the binding or a layer before it put beside the request, by its type.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        match &self.side {
            Side::Serving(cx) => cx.extension(),
            Side::Calling(options) => options.extensions.get(),
            Side::Alone => None,
        }
    }

    /// When the call must be done; nothing once it goes on as a task.
    pub fn deadline(&self) -> Option<Instant> {
        let is_task = self.served().is_some_and(server::RequestContext::is_detached);
        self.deadline.filter(|_| !is_task)
    }

    /// Tells how far the call is, out of so much.
    pub fn progress(&self, total: impl Into<Option<f64>>) -> Progress {
        Progress { cx: self.clone(), total: total.into() }
    }

    /// Reports progress once. Does nothing when the caller did not ask for it, or when it goes backwards.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        match &self.side {
            Side::Serving(cx) => cx.progress(progress, total, message),
            Side::Calling(options) => options.report(progress, total, message),
            Side::Alone => {}
        }
    }

    /// Sends a log message, if the caller wants messages of this level.
    pub fn log(&self, level: Level, data: impl Serialize) {
        if let Some(cx) = self.served() {
            cx.log(level, None, data);
        }
    }

    /// Whether the user can be asked to fill in a form.
    pub fn can_elicit(&self) -> bool {
        match &self.side {
            Side::Serving(cx) => cx.can_elicit(),
            Side::Calling(options) => options.capabilities().forms,
            Side::Alone => false,
        }
    }

    /// Asks the user to fill in a form. `key` names the question within this call.
    ///
    /// **Code before a question may run more than once**; use [`Self::step`] for what must happen once. A question must
    /// be the same each time: no clocks and no random numbers in it.
    ///
    /// # Errors
    /// When the client cannot be asked, or its answer is none.
    pub async fn elicit<T: Form>(&self, key: &str, message: impl fmt::Display) -> Result<Answer<T>, Error> {
        let request = ElicitParams::form(message.to_string(), T::form());
        let result = self.ask(key, request).await?;
        Ok(match result.action {
            ElicitAction::Accept => {
                let content = Raw::encode(&result.content)?;
                let unfit = |error| {
                    let reason = format!("The answer to {key:?} does not fit the form: {error}");
                    Error::tool("invalid_answer", reason)
                };
                Answer::Accepted(content.decode().map_err(unfit)?)
            }
            ElicitAction::Decline => Answer::Declined,
            ElicitAction::Cancel => Answer::Dismissed,
        })
    }

    /// Asks the user to visit a URL, such as one to log in at. As [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn elicit_url(
        &self,
        key: &str,
        message: impl fmt::Display,
        url: impl Into<String>,
    ) -> Result<Answer<()>, Error> {
        let result = self.ask(key, ElicitParams::url(message.to_string(), url)).await?;
        Ok(match result.action {
            ElicitAction::Accept => Answer::Accepted(()),
            ElicitAction::Decline => Answer::Declined,
            ElicitAction::Cancel => Answer::Dismissed,
        })
    }

    async fn ask(&self, key: &str, request: ElicitParams) -> Result<ElicitResult, Error> {
        match &self.side {
            Side::Serving(cx) => cx.elicit(key, request).await.map_err(|error| not_answered(error, key)),
            Side::Calling(options) => options.elicit(key, request).await,
            Side::Alone => Err(not_answered(AskError::NotHere, key)),
        }
    }

    /// Asks the client's model. As [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn sample(
        &self,
        key: &str,
        request: CreateMessageParams,
    ) -> Result<CreateMessageResult, Error> {
        match &self.side {
            Side::Serving(cx) => cx.sample(key, request).await.map_err(|error| not_answered(error, key)),
            Side::Calling(options) => options.sample(key, request).await,
            Side::Alone => Err(not_answered(AskError::NotHere, key)),
        }
    }

    /// Asks for the client's roots. As [`Self::elicit`].
    ///
    /// # Errors
    /// As [`Self::elicit`].
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, Error> {
        match self.served() {
            Some(cx) => cx.roots(key).await.map_err(|error| not_answered(error, key)),
            None => Err(nobody("roots", key)),
        }
    }

    /// Takes a step once: when the method runs again after a question, the result of the first time is given.
    ///
    /// # Errors
    /// What the step itself gives, or that its result cannot be kept.
    pub async fn step<T, F>(&self, key: &str, step: impl FnOnce() -> F) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, Error>>,
    {
        match self.served() {
            Some(cx) => cx.step(key, step).await.map_err(|error| not_answered(error, key))?,
            None => step().await,
        }
    }

    /// Hangs up and lets the caller come back for the answer after `retry`, where the transport has a way to: work that
    /// takes long need not hold a connection.
    pub fn hang_up(&self, retry: Duration) {
        if let Some(cx) = self.served() {
            cx.hang_up(retry);
        }
    }

    /// Makes the call of a tool a task, which outlives its request, where the tool and its caller have that. Says whether
    /// it does. Before, the method may ask as any other.
    pub async fn become_task(&self) -> bool {
        match self.served() {
            Some(cx) => cx.detach().await,
            None => false,
        }
    }

    /// Waits until the call is cancelled. A method itself is simply dropped then.
    pub async fn cancelled(&self) {
        match self.served() {
            Some(cx) => cx.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Whether the call was cancelled, for work that goes on elsewhere.
    pub fn is_cancelled(&self) -> bool {
        self.served().is_some_and(server::RequestContext::is_cancelled)
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

/// Nobody can be asked. What would help is for the author of the method or of the call, so it is logged.
fn nobody(capability: &str, key: &str) -> Error {
    tracing::warn!(
        capability,
        question = key,
        "nobody can answer a question: give the call `answers`, or ask only when `can_elicit()`"
    );
    Error::MissingCapability(capability.to_owned())
}

fn not_answered(error: AskError, key: &str) -> Error {
    match error {
        AskError::Undeclared(capability) => nobody(capability, key),
        AskError::Unavailable => nobody("elicitation", key),
        AskError::Suspended => Error::Suspended,
        AskError::TimedOut => Error::Timeout,
        AskError::Refused(error) => Error::Rpc(error),
        AskError::Gone => Error::Transport(Box::new(AskError::Gone)),
        other => Error::internal(format!("the question {key:?} cannot be asked: {other}")),
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.side {
            Side::Serving(_) => "Cx(serving)",
            Side::Calling(_) => "Cx(calling)",
            Side::Alone => "Cx(alone)",
        })
    }
}
