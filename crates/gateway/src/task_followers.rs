//! The tasks that listen streams of a view follow: one follower for each task, however many streams listen for it.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::task::AbortHandle;

/// Followers by exposed task id. Aborted with their last stream, or when the view ends.
#[derive(Default)]
pub(crate) struct TaskFollowers {
    // Held for a lookup or a change, never across an await.
    active: Mutex<HashMap<String, TaskFollower>>,
}

struct TaskFollower {
    streams: usize,
    task: AbortHandle,
}

impl TaskFollowers {
    /// Adds a stream; `start` starts the follower for the first one.
    pub(crate) fn add(&self, id: &str, start: impl FnOnce() -> AbortHandle) {
        let mut active = self.active.lock();
        match active.get_mut(id) {
            Some(follower) => follower.streams += 1,
            None => _ = active.insert(id.to_owned(), TaskFollower { streams: 1, task: start() }),
        }
    }

    /// Removes a stream; the follower ends with the last one.
    pub(crate) fn remove(&self, id: &str) {
        let mut active = self.active.lock();
        let Some(follower) = active.get_mut(id) else { return };
        follower.streams -= 1;
        if follower.streams == 0 {
            follower.task.abort();
            active.remove(id);
        }
    }
}

impl Drop for TaskFollowers {
    fn drop(&mut self) {
        self.active.get_mut().values().for_each(|follower| follower.task.abort());
    }
}
