//! What a method knows of its call, the same type on both sides of the wire.
//!
//! On the server it is made for each request and talks back to the caller. A caller makes one with [`Cx::call`] to set
//! a deadline or hear progress.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_design::Error;
use switchboard_protocol::{
    ElicitAction, ElicitParams, Implementation, Level, Meta, ProgressParams, Raw, Revision,
};
use switchboard_session::answering::{self, AskError};
use switchboard_session::client::Answers;

use crate::{Answer, Form};

/// What a method knows of its call. Cheap to clone.
#[derive(Clone)]
pub struct Cx {
    inner: Arc<Inner>,
}

struct Inner {
    side: Side,
}

enum Side {
    /// A request that is being served.
    Serving(answering::Cx),
    /// A call that is being made.
    Calling(CallOptions),
}

/// How a call is made.
#[derive(Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// How long it may take in all.
    pub timeout: Option<Duration>,
    /// What else travels in `_meta`.
    pub meta: Option<Meta>,
    /// Who answers what the server asks within this call.
    pub answers: Option<Arc<dyn Answers>>,
    /// Who is told of progress.
    pub progress: Option<Arc<dyn Fn(ProgressParams) + Send + Sync>>,
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl CallOptions {
    /// How long it may take in all.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What else travels in `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Who answers what the server asks within this call.
    #[must_use]
    pub fn answers(mut self, answers: Arc<dyn Answers>) -> Self {
        self.answers = Some(answers);
        self
    }

    /// Who is told of progress.
    #[must_use]
    pub fn progress(mut self, tell: impl Fn(ProgressParams) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(tell));
        self
    }

    /// To call with.
    pub fn build(self) -> Cx {
        Cx { inner: Arc::new(Inner { side: Side::Calling(self) }) }
    }
}

impl Cx {
    /// How a call is made, to be set up.
    pub fn call() -> CallOptions {
        CallOptions::default()
    }

    /// For a request that is being served.
    pub fn serving(cx: answering::Cx) -> Self {
        Self { inner: Arc::new(Inner { side: Side::Serving(cx) }) }
    }

    /// How the call is made, when this is the caller's side.
    pub fn options(&self) -> Option<&CallOptions> {
        match &self.inner.side {
            Side::Calling(options) => Some(options),
            Side::Serving(_) => None,
        }
    }

    fn served(&self) -> Option<&answering::Cx> {
        match &self.inner.side {
            Side::Serving(cx) => Some(cx),
            Side::Calling(_) => None,
        }
    }

    /// The revision the request is served in.
    pub fn revision(&self) -> Option<Revision> {
        self.served().map(answering::Cx::revision)
    }

    /// Who the client says it is. For display only.
    pub fn client(&self) -> Option<Implementation> {
        self.served().and_then(answering::Cx::client)
    }

    /// Reports progress. Does nothing when the caller did not ask for it, or when it goes backwards.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(cx) = self.served() {
            cx.progress(progress, total, message);
        }
    }

    /// Sends a log message, if the caller wants messages of this level.
    pub fn log(&self, level: Level, data: impl Serialize) {
        if let Some(cx) = self.served() {
            cx.log(level, None, data);
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
        let cx = self.served().ok_or_else(nobody)?;
        let request = ElicitParams::form(message.to_string(), T::form());
        let result = cx.elicit(key, request).await.map_err(not_answered)?;
        Ok(match result.action {
            ElicitAction::Accept => {
                let content = Raw::encode(&result.content)?;
                Answer::Accepted(content.decode().map_err(Error::Malformed)?)
            }
            ElicitAction::Decline => Answer::Declined,
            ElicitAction::Cancel => Answer::Dismissed,
        })
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
            Some(cx) => cx.step(key, step).await.map_err(not_answered)?,
            None => step().await,
        }
    }

    /// Waits until the call is cancelled. A method itself is simply dropped then.
    pub async fn cancelled(&self) {
        match self.served() {
            Some(cx) => cx.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

fn nobody() -> Error {
    Error::MissingCapability("elicitation".into())
}

fn not_answered(error: AskError) -> Error {
    match error {
        AskError::Undeclared(capability) => Error::MissingCapability(capability.to_owned()),
        AskError::Suspended => Error::Suspended,
        AskError::TimedOut => Error::Timeout,
        AskError::Refused(error) => Error::Rpc(error),
        other => Error::internal(other),
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.inner.side {
            Side::Serving(_) => "Cx(serving)",
            Side::Calling(_) => "Cx(calling)",
        })
    }
}
