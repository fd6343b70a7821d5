//! What servers ask is answered by whoever's call is running on them.
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

/// Where the questions of one server arrive.
pub(crate) struct Desk {
    /// The configured name of the server.
    server: Arc<str>,
    abilities: HandlerCapabilities,
    next: AtomicU64,
    // Held to push, remove or look, never across an await.
    callers: Mutex<Vec<Caller>>,
}

struct Caller {
    seat: u64,
    /// The run its call belongs to.
    run: u64,
    answers: Option<Arc<dyn ClientHandler>>,
}

impl Desk {
    pub(crate) fn new(server: Arc<str>, abilities: HandlerCapabilities) -> Self {
        Self { server, abilities, next: AtomicU64::new(0), callers: Mutex::default() }
    }

    /// A call of this run begins; it ends when the seat is dropped.
    pub(crate) fn sit(&self, run: u64, answers: Option<&Arc<dyn ClientHandler>>) -> Option<Seat<'_>> {
        // Nothing was declared, so nothing can be asked.
        if self.abilities == HandlerCapabilities::none() {
            return None;
        }
        let seat = self.next.fetch_add(1, Ordering::Relaxed);
        self.callers.lock().push(Caller { seat, run, answers: answers.cloned() });
        Some(Seat { desk: self, seat })
    }

    fn whose(&self) -> Result<Arc<dyn ClientHandler>, HandlerError> {
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

impl ClientHandler for Desk {
    fn abilities(&self) -> HandlerCapabilities {
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
        Box::pin(async move { self.whose()?.elicit(request, asker).await })
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async move { self.whose()?.sample(request, asker).await })
    }
}

/// Answers for a caller that answers nothing.
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
pub(crate) struct Seat<'a> {
    desk: &'a Desk,
    seat: u64,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.desk.callers.lock().retain(|caller| caller.seat != self.seat);
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("callers", &self.callers.lock().len()).finish_non_exhaustive()
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
        let desk = Desk::new("s".into(), HandlerCapabilities::none().with_forms());
        let asker = RequestingServer::new(None);
        let ask = async || desk.elicit(ElicitParams::form("?", FormSchema::new()), &asker).await;
        let accepts: Arc<dyn ClientHandler> = Arc::new(Accepts);
        assert!(ask().await.is_err(), "no call is running");
        let first = desk.sit(1, Some(&accepts));
        assert!(ask().await.is_ok());
        let second = desk.sit(1, Some(&accepts));
        assert!(ask().await.is_ok(), "two calls of one run");
        let other = desk.sit(2, None);
        assert!(ask().await.is_err(), "whose it is cannot be told");
        drop(other);
        assert!(ask().await.is_ok());
        drop((first, second));
        assert!(ask().await.is_err());
        assert!(Desk::new("s".into(), HandlerCapabilities::none()).sit(1, None).is_none());
    }
}
