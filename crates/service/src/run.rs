//! How a method is run when it must not be run where its call is: on a thread of its own, or to its end.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use switchboard_design::Error;
use tokio::sync::Notify;

use crate::Working;

/// Runs a method that holds its thread for long on a thread for such. When the call is dropped, the method is at its next
/// `await`.
pub fn blocking<T: Send + 'static>(work: Working<T>) -> Working<T> {
    Box::pin(async move {
        let runtime = tokio::runtime::Handle::current();
        let gone = Gone(Arc::new(Notify::new()));
        let heard = Arc::clone(&gone.0);
        let run = move || runtime.block_on(until(heard, work));
        let result = tokio::task::spawn_blocking(run).await;
        drop(gone);
        result.unwrap_or_else(|error| Err(Error::internal(error)))
    })
}

/// Runs a method to its end even when its call is dropped.
pub fn shielded<T: Send + 'static>(work: Working<T>) -> Working<T> {
    Box::pin(async move {
        // Nobody stops it: that is what its author asked for.
        tokio::spawn(work).await.unwrap_or_else(|error| Err(Error::internal(error)))
    })
}

/// Tells, when it is dropped.
struct Gone(Arc<Notify>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn until<T>(gone: Arc<Notify>, mut work: Working<T>) -> Result<T, Error> {
    let mut gone = pin!(gone.notified());
    poll_fn(move |context| match gone.as_mut().poll(context) {
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
    async fn work_that_holds_a_thread_does_not_hold_this_one() {
        let here = std::thread::current().id();
        let there = blocking(Box::pin(async {
            tokio::task::yield_now().await;
            Ok(std::thread::current().id())
        }));
        assert_ne!(there.await.unwrap(), here);
    }

    #[tokio::test]
    async fn a_panic_on_the_other_thread_is_an_error() {
        let work = blocking::<()>(Box::pin(async { panic!("on purpose") }));
        assert!(matches!(work.await, Err(Error::Internal(_))));
    }

    #[tokio::test]
    async fn dropping_the_call_drops_blocking_work_at_its_next_await() {
        let (started, wait) = oneshot::channel();
        let (held, gone) = oneshot::channel::<()>();
        let work = blocking::<()>(Box::pin(async move {
            let _held = held;
            let _ = started.send(());
            std::future::pending().await
        }));
        let call = tokio::spawn(work);
        wait.await.unwrap();
        call.abort();
        assert!(gone.await.is_err(), "what the method held is dropped");
    }

    #[tokio::test]
    async fn dropping_the_call_does_not_stop_shielded_work() {
        let (started, wait) = oneshot::channel();
        let (finish, go_on) = oneshot::channel();
        let (done, end) = oneshot::channel();
        let work = shielded::<()>(Box::pin(async move {
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
