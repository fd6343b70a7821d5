//! Tasks that the console has started and that it ends.

use parking_lot::Mutex;
use tokio::task::{AbortHandle, JoinSet};

/// Owner of tasks: they end when they are done, or with the console.
#[derive(Debug, Default)]
pub(crate) struct TaskSet(Mutex<JoinSet<()>>);

impl TaskSet {
    /// Starts a task. The handle aborts it; the caller limits how many there are.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.0.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task)
    }

    /// Aborts all tasks.
    pub(crate) fn abort_all(&self) {
        drop(std::mem::take(&mut *self.0.lock()));
    }

    /// Aborts all tasks and waits until they have ended.
    pub(crate) async fn shut_down(&self) {
        let mut tasks = std::mem::take(&mut *self.0.lock());
        tasks.shutdown().await;
    }
}
