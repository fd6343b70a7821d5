//! Routes requests of a server (elicitation, sampling) to the caller whose call is running on it.
//!
//! Invariant: a request never reaches a caller whose call it cannot belong to. A modern server asks within a call, so its
//! caller answers. A legacy server does not say which call it asks for: if calls of several runs are active, the request is
//! rejected as ambiguous, unless the host has a handler for requests without a known call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_protocol::{CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;

/// Routes the requests of one server.
pub(crate) struct QuestionRouter {
    /// The configured name of the server.
    server: Arc<str>,
    abilities: HandlerCapabilities,
    /// Answers what belongs to no call that is known.
    fallback: Option<Arc<dyn ClientHandler>>,
    next: AtomicU64,
    // Held for a lookup or a change, never across an await.
    calls: Mutex<Vec<RegisteredCall>>,
}

struct RegisteredCall {
    id: u64,
    /// The run its call belongs to.
    run: u64,
    handler: Option<Arc<dyn ClientHandler>>,
}

impl QuestionRouter {
    pub(crate) fn new(server: Arc<str>, abilities: HandlerCapabilities) -> Self {
        Self { server, abilities, fallback: None, next: AtomicU64::new(0), calls: Mutex::default() }
    }

    /// Sets the handler of requests that belong to no known call, or to one without a handler.
    pub(crate) fn with_fallback(mut self, fallback: Option<Arc<dyn ClientHandler>>) -> Self {
        self.fallback = fallback;
        self
    }

    /// Returns the handler of a call whose run has none.
    pub(crate) fn fallback(&self) -> Arc<dyn ClientHandler> {
        self.fallback.clone().unwrap_or_else(|| Arc::new(RejectingHandler))
    }

    /// Registers a call of this run until the returned guard is dropped.
    pub(crate) fn register_call(
        &self,
        run: u64,
        handler: Option<&Arc<dyn ClientHandler>>,
    ) -> Option<ActiveCall<'_>> {
        // Without declared capabilities the server cannot ask.
        if self.abilities == HandlerCapabilities::none() {
            return None;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.calls.lock().push(RegisteredCall { id, run, handler: handler.cloned() });
        Some(ActiveCall { router: self, id })
    }

    fn current_caller(&self) -> Result<Arc<dyn ClientHandler>, HandlerError> {
        let caller = match self.active_caller() {
            Ok(Some(caller)) => Ok(caller),
            Ok(None) => Err(HandlerError::new("no active call that this request could belong to")),
            Err(error) => Err(error),
        };
        caller.or_else(|error| self.fallback.clone().ok_or(error))
    }

    /// Returns the handler of the active call; `None` without one.
    fn active_caller(&self) -> Result<Option<Arc<dyn ClientHandler>>, HandlerError> {
        let calls = self.calls.lock();
        let Some(first) = calls.first() else { return Ok(None) };
        if calls.iter().any(|call| call.run != first.run) {
            return Err(HandlerError::ambiguous_caller(
                "calls of several callers are running, so the request is ambiguous\nAsk on the response stream of the call, or \
                 give each caller a session of its own.",
            ));
        }
        first.handler.clone().ok_or_else(RejectingHandler::error).map(Some)
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
        server: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move { self.current_caller()?.elicit(request, server).await })
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        server: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async move { self.current_caller()?.sample(request, server).await })
    }

    /// Outside of calls a server gets the roots of the host.
    fn roots<'a>(
        &'a self,
        server: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<Option<Vec<Root>>, HandlerError>> {
        Box::pin(async move {
            match self.active_caller()? {
                Some(caller) => caller.roots(server).await,
                None => Ok(None),
            }
        })
    }
}

/// Rejects every request: the handler of a call without one.
pub(crate) struct RejectingHandler;

impl RejectingHandler {
    fn error() -> HandlerError {
        HandlerError::new("the caller does not answer requests")
    }
}

impl ClientHandler for RejectingHandler {
    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async { Err(Self::error()) })
    }

    fn sample<'a>(
        &'a self,
        _: CreateMessageParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async { Err(Self::error()) })
    }
}

/// Unregisters an active call on drop.
pub(crate) struct ActiveCall<'a> {
    router: &'a QuestionRouter,
    id: u64,
}

impl Drop for ActiveCall<'_> {
    fn drop(&mut self) {
        self.router.calls.lock().retain(|call| call.id != self.id);
    }
}

impl std::fmt::Debug for QuestionRouter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuestionRouter").field("calls", &self.calls.lock().len()).finish_non_exhaustive()
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
    async fn a_request_reaches_only_the_caller_whose_call_is_running() {
        let questions = QuestionRouter::new("s".into(), HandlerCapabilities::none().with_forms());
        let server = RequestingServer::new(None);
        let ask = async || questions.elicit(ElicitParams::form("?", FormSchema::new()), &server).await;
        let accepts: Arc<dyn ClientHandler> = Arc::new(Accepts);
        assert!(ask().await.is_err(), "no call is active");
        let first = questions.register_call(1, Some(&accepts));
        assert!(ask().await.is_ok());
        let second = questions.register_call(1, Some(&accepts));
        assert!(ask().await.is_ok(), "two calls of one run");
        let other = questions.register_call(2, None);
        let refused = ask().await.unwrap_err();
        assert_eq!(refused.data().unwrap().as_str(), r#"{"reason":"ambiguous_caller"}"#);
        drop(other);
        assert!(ask().await.is_ok());
        drop((first, second));
        assert!(ask().await.is_err());
        let fallback = Some(Arc::new(Accepts) as Arc<dyn ClientHandler>);
        let questions =
            QuestionRouter::new("s".into(), HandlerCapabilities::none().with_forms()).with_fallback(fallback);
        let ask = async || questions.elicit(ElicitParams::form("?", FormSchema::new()), &server).await;
        assert!(ask().await.is_ok(), "no call is active, and the host answers");
        let calls = [questions.register_call(1, Some(&accepts)), questions.register_call(2, None)];
        assert!(ask().await.is_ok(), "ambiguous, and the host answers");
        drop(calls);
        assert!(
            QuestionRouter::new("s".into(), HandlerCapabilities::none()).register_call(1, None).is_none()
        );
    }
}
