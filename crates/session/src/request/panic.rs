//! Panic catching: a panic of user code fails its own request and nothing else.
//!
//! The only file of this crate that calls `catch_unwind`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A caught panic. Its message is dropped: it may hold secrets, and the panic hook has printed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaughtPanic;

/// Runs a call and catches its panic.
///
/// # Errors
/// When the call panicked.
pub fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
    // Unwind safety is not checked: a request that panicked is answered with an error and never polled again.
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| CaughtPanic)
}

/// A future that ends with an error if the inner one panics.
#[derive(Debug)]
pub struct CatchUnwind<F>(F);

impl<F> CatchUnwind<F> {
    /// Catches the panics of a future.
    pub fn new(future: F) -> Self {
        Self(future)
    }
}

impl<F: Future + Unpin> Future for CatchUnwind<F> {
    type Output = Result<F::Output, CaughtPanic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_panic(|| Pin::new(&mut self.0).poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}
