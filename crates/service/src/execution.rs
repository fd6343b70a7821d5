//! Execution of methods on a blocking thread, or shielded from cancellation.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use switchboard_design::Error;
use tokio::sync::Notify;

use crate::CallFuture;

/// Runs a blocking method on tokio's blocking thread pool. After the call is dropped, the method stops at its next
/// `await`.
pub fn run_blocking<T: Send + 'static>(work: CallFuture<T>) -> CallFuture<T> {
    Box::pin(async move {
        let runtime = tokio::runtime::Handle::current();
        let guard = CancelOnDrop(Arc::new(Notify::new()));
        let cancelled = Arc::clone(&guard.0);
        let run = move || runtime.block_on(run_until_cancelled(cancelled, work));
        let result = tokio::task::spawn_blocking(run).await;
        drop(guard);
        result.unwrap_or_else(|error| Err(Error::internal(error)))
    })
}

/// Runs a method to completion even when its call is dropped.
pub fn run_shielded<T: Send + 'static>(work: CallFuture<T>) -> CallFuture<T> {
    Box::pin(async move {
        // Not aborted on drop: that is the purpose of `shielded`.
        tokio::spawn(work).await.unwrap_or_else(|error| Err(Error::internal(error)))
    })
}

/// Signals cancellation when dropped.
struct CancelOnDrop(Arc<Notify>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn run_until_cancelled<T>(cancelled: Arc<Notify>, mut work: CallFuture<T>) -> Result<T, Error> {
    let mut cancelled = pin!(cancelled.notified());
    poll_fn(move |context| match cancelled.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(Err(Error::Cancelled)),
        Poll::Pending => work.as_mut().poll(context),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn blocking_work_runs_on_another_thread() {
        let here = std::thread::current().id();
        let there = run_blocking(Box::pin(async {
            tokio::task::yield_now().await;
            Ok(std::thread::current().id())
        }));
        assert_ne!(there.await.unwrap(), here);
    }

    #[tokio::test]
    async fn a_panic_on_the_blocking_thread_is_an_error() {
        let work = run_blocking::<()>(Box::pin(async { panic!("on purpose") }));
        assert!(matches!(work.await, Err(Error::Internal(_))));
    }

    #[tokio::test]
    async fn dropping_the_call_drops_blocking_work_at_its_next_await() {
        let (started, wait) = oneshot::channel();
        let (held, gone) = oneshot::channel::<()>();
        let work = run_blocking::<()>(Box::pin(async move {
            let _held = held;
            let _ = started.send(());
            std::future::pending().await
        }));
        let call = tokio::spawn(work);
        wait.await.unwrap();
        call.abort();
        assert!(gone.await.is_err(), "the method was dropped");
    }

    #[tokio::test]
    async fn dropping_the_call_does_not_stop_shielded_work() {
        let (started, wait) = oneshot::channel();
        let (finish, go_on) = oneshot::channel();
        let (done, end) = oneshot::channel();
        let work = run_shielded::<()>(Box::pin(async move {
            let _ = started.send(());
            let _ = go_on.await;
            let _ = done.send(());
            Ok(())
        }));
        let call = tokio::spawn(work);
        wait.await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        finish.send(()).unwrap();
        end.await.unwrap();
    }
}
