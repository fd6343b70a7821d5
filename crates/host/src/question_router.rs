//! Routes questions of servers to the caller whose call is running on them.
//!
//! Invariant: a question never reaches a caller whose call it cannot belong to. A modern server asks within a call, and
//! its caller answers. A legacy server does not say which call it asks for: where calls of several callers run on it at
//! once it cannot be told whose question it is, and it is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_protocol::{CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;

/// Routes the questions of one server.
pub(crate) struct QuestionRouter {
    /// The configured name of the server.
    server: Arc<str>,
    abilities: HandlerCapabilities,
    next: AtomicU64,
    // Held to push, remove or look, never across an await.
    callers: Mutex<Vec<Caller>>,
}

struct Caller {
    call: u64,
    /// The run its call belongs to.
    run: u64,
    answers: Option<Arc<dyn ClientHandler>>,
}

impl QuestionRouter {
    pub(crate) fn new(server: Arc<str>, abilities: HandlerCapabilities) -> Self {
        Self { server, abilities, next: AtomicU64::new(0), callers: Mutex::default() }
    }

    /// Registers a call of this run; it ends when the returned value is dropped.
    pub(crate) fn register_call(
        &self,
        run: u64,
        answers: Option<&Arc<dyn ClientHandler>>,
    ) -> Option<ActiveCall<'_>> {
        // Nothing was declared, so nothing can be asked.
        if self.abilities == HandlerCapabilities::none() {
            return None;
        }
        let call = self.next.fetch_add(1, Ordering::Relaxed);
        self.callers.lock().push(Caller { call, run, answers: answers.cloned() });
        Some(ActiveCall { questions: self, call })
    }

    fn current_caller(&self) -> Result<Arc<dyn ClientHandler>, HandlerError> {
        let callers = self.callers.lock();
        let Some(first) = callers.first() else {
            return Err(HandlerError::new("no call is running that this question could belong to"));
        };
        if callers.iter().any(|caller| caller.run != first.run) {
            return Err(HandlerError::new(
                "calls of several callers are running; whose question this is cannot be told",
            ));
        }
        first.answers.clone().ok_or_else(Silent::refusal)
    }
}

impl ClientHandler for QuestionRouter {
    fn capabilities(&self) -> HandlerCapabilities {
        self.abilities
    }

    fn server_name(&self) -> Option<&str> {
        Some(&self.server)
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move { self.current_caller()?.elicit(request, asker).await })
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async move { self.current_caller()?.sample(request, asker).await })
    }
}

/// ClientHandler for a caller that answers nothing.
pub(crate) struct Silent;

impl Silent {
    fn refusal() -> HandlerError {
        HandlerError::new("whoever made the call answers no questions")
    }
}

impl ClientHandler for Silent {
    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async { Err(Self::refusal()) })
    }

    fn sample<'a>(
        &'a self,
        _: CreateMessageParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async { Err(Self::refusal()) })
    }
}

/// A call that is running.
pub(crate) struct ActiveCall<'a> {
    questions: &'a QuestionRouter,
    call: u64,
}

impl Drop for ActiveCall<'_> {
    fn drop(&mut self) {
        self.questions.callers.lock().retain(|caller| caller.call != self.call);
    }
}

impl std::fmt::Debug for QuestionRouter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuestionRouter").field("callers", &self.callers.lock().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::{ElicitAction, FormSchema};

    use super::*;

    struct Accepts;
    impl ClientHandler for Accepts {
        fn elicit<'a>(
            &'a self,
            _: ElicitParams,
            _: &'a RequestingServer,
        ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
            Box::pin(async { Ok(ElicitResult::new(ElicitAction::Accept)) })
        }
    }

    #[tokio::test]
    async fn a_question_reaches_the_caller_whose_call_is_running_and_nobody_else() {
        let questions = QuestionRouter::new("s".into(), HandlerCapabilities::none().with_forms());
        let asker = RequestingServer::new(None);
        let ask = async || questions.elicit(ElicitParams::form("?", FormSchema::new()), &asker).await;
        let accepts: Arc<dyn ClientHandler> = Arc::new(Accepts);
        assert!(ask().await.is_err(), "no call is running");
        let first = questions.register_call(1, Some(&accepts));
        assert!(ask().await.is_ok());
        let second = questions.register_call(1, Some(&accepts));
        assert!(ask().await.is_ok(), "two calls of one run");
        let other = questions.register_call(2, None);
        assert!(ask().await.is_err(), "whose it is cannot be told");
        drop(other);
        assert!(ask().await.is_ok());
        drop((first, second));
        assert!(ask().await.is_err());
        assert!(
            QuestionRouter::new("s".into(), HandlerCapabilities::none()).register_call(1, None).is_none()
        );
    }
}
