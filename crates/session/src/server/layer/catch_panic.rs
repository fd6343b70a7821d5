//! Panic catching: a panic of a handler or of a layer fails its own request.

use std::hash::{BuildHasher, Hasher};

use switchboard_protocol::RpcError;

use crate::request::{CatchUnwind, catch_panic};
use crate::server::{HandlerOutcome, IncomingRequest, Layer, Next};

/// Answers a request whose layers panic with an internal error. The outermost layer of every server that has layers; a
/// server adds it by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct CatchPanic;

impl Layer for CatchPanic {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let method = request.method().to_owned();
        call_guarded(&method, || next.call(request))
    }
}

/// Calls a handler or a layer. A panic, at once or while the reply is awaited, becomes an internal error.
pub(crate) fn call_guarded(method: &str, call: impl FnOnce() -> HandlerOutcome) -> HandlerOutcome {
    match catch_panic(call) {
        Ok(HandlerOutcome::Later(future)) => {
            let (future, method) = (CatchUnwind::new(future), method.to_owned());
            HandlerOutcome::later(async move { future.await.unwrap_or_else(|_| Err(panic_error(&method))) })
        }
        Ok(HandlerOutcome::Blocking(work)) => {
            let method = method.to_owned();
            HandlerOutcome::later(async move {
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panic_error(&method)))
            })
        }
        Ok(outcome) => outcome,
        Err(_) => HandlerOutcome::Now(Err(panic_error(method))),
    }
}

/// Creates the error for a panic: an incident id to find it in the log, and nothing of the panic message.
pub(crate) fn panic_error(method: &str) -> RpcError {
    // A random number without a generator: each `RandomState` has its own keys.
    let incident = format!("{:016x}", std::hash::RandomState::new().build_hasher().finish());
    tracing::error!(method, incident, "a handler panicked");
    RpcError::internal(format!("Internal error: the request could not be handled (incident {incident})"))
}
