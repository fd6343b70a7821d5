//! Async tests as trials of the harness: each on a runtime of its own, with a time limit.

use std::time::Duration;

use libtest_mimic::Trial;
use tokio::runtime::{Builder, Handle};

use crate::wait::wait_until;

/// Time limit of a test. Only a test that hangs exceeds it, however busy the machine is.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(600);

/// Lists the trials of a module, each named after the module and the function it runs.
///
/// Every group starts with the function that makes a trial of a name and a test, such as [`trial`](fn@crate::trial).
#[macro_export]
macro_rules! trials {
    ($($kind:path: $($test:ident),+ $(,)?);+ $(;)?) => {
        pub(crate) fn trials() -> Vec<$crate::Trial> {
            vec![$($($kind(concat!(module_path!(), "::", stringify!($test)), $test)),+),+]
        }
    };
}

/// Returns a test that must end in time and leave no task behind.
pub fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    trial_on(current_thread(), TEST_TIMEOUT, name, test)
}

/// As [`trial`], for a test that may leave tasks behind, such as the idle connections of an HTTP client.
pub fn trial_leaving_tasks<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        let in_time = block_on(async { tokio::time::timeout(TEST_TIMEOUT, test()).await });
        in_time.map_err(|_| format!("not done in {TEST_TIMEOUT:?}").into())
    })
}

/// As [`trial`], on this runtime and with this time limit.
pub fn trial_on<F: Future<Output = ()>>(
    mut runtime: Builder,
    limit: Duration,
    name: &str,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        runtime.build()?.block_on(async {
            tokio::time::timeout(limit, test()).await.map_err(|_| format!("not done in {limit:?}"))?;
            wait_for_tasks().await;
            Ok(())
        })
    })
}

/// Waits until every task that was spawned on the current runtime has ended.
pub async fn wait_for_tasks() {
    wait_until("the end of all tasks", || task_count() == 0).await;
}

/// Returns the number of tasks on the current runtime that have not ended.
pub fn task_count() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Runs a future to its end on a runtime of its own.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    current_thread().build().unwrap().block_on(future)
}

/// Returns the builder of a runtime on the current thread.
pub fn current_thread() -> Builder {
    let mut runtime = Builder::new_current_thread();
    runtime.enable_all();
    runtime
}
