//! Running the workers of a test together.

use std::task::Poll;

use switchboard_testkit::{Trial, block_on};

/// Returns a test without a time limit of its own: each of its calls has one.
pub(crate) fn load_trial<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        block_on(test());
        Ok(())
    })
}

/// Runs all futures on this task until each has ended; a panic of one is the test's.
pub(crate) async fn join_all(futures: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut futures: Vec<_> = futures.map(|future| Some(Box::pin(future))).collect();
    std::future::poll_fn(|task| {
        for slot in &mut futures {
            if slot.as_mut().is_some_and(|future| future.as_mut().poll(task).is_ready()) {
                *slot = None;
            }
        }
        if futures.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
