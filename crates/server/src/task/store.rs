//! Where tasks are kept, so that their callers find them again.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_session::link::BoxFuture;
use tokio::time::Instant;

use super::TaskRecord;

/// Keeps tasks. Instances that share one answer for each other's tasks; what still runs is answered for, given input and
/// cancelled by the instance that runs it.
pub trait TaskStore: Send + Sync + 'static {
    /// Keeps a task, in place of what was kept of it, for as long as `left`. A task is kept before its caller hears of it.
    ///
    /// # Errors
    /// When there is no room.
    fn save(&self, record: TaskRecord, left: Duration) -> BoxFuture<'_, Result<(), TooManyTasks>>;

    /// What is kept of a task; `None` when there is no such task, or no longer.
    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>>;

    /// The tasks of an owner, in the order of their making: at most `most`, from the one after `after`. `None` when there
    /// is no such task as `after`.
    fn list<'a>(
        &'a self,
        owner: Option<&'a str>,
        after: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Option<Vec<TaskRecord>>>;
}

/// There is no room for another task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are too many tasks; wait for some to be over")]
pub struct TooManyTasks;

/// Keeps tasks in memory, up to a number: the oldest that is over gives way.
#[derive(Debug)]
pub struct MemoryTasks {
    // In the order of their making.
    kept: Mutex<VecDeque<Kept>>,
    most: usize,
}

#[derive(Debug)]
struct Kept {
    record: TaskRecord,
    until: Instant,
}

impl MemoryTasks {
    /// Keeps at most this many.
    pub fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), most: most.max(1) }
    }
}

impl Default for MemoryTasks {
    fn default() -> Self {
        Self::new(4096)
    }
}

impl TaskStore for MemoryTasks {
    fn save(&self, record: TaskRecord, left: Duration) -> BoxFuture<'_, Result<(), TooManyTasks>> {
        let saved = {
            let (mut kept, now) = (self.kept.lock(), Instant::now());
            let until = now + left;
            match kept.iter_mut().find(|kept| kept.record.id() == record.id()) {
                Some(known) => {
                    *known = Kept { record, until };
                    Ok(())
                }
                None => {
                    kept.retain(|kept| kept.until > now);
                    // One owner's many tasks push out their own results, not those of others.
                    let of_owner = |kept: &&Kept| kept.record.owner == record.owner;
                    if record.owner.is_some()
                        && kept.iter().filter(of_owner).count() >= (self.most / 16).max(1)
                        && let Some(over) =
                            kept.iter().position(|kept| of_owner(&kept) && kept.record.is_over())
                    {
                        kept.remove(over);
                    }
                    if kept.len() >= self.most
                        && let Some(over) = kept.iter().position(|kept| kept.record.is_over())
                    {
                        kept.remove(over);
                    }
                    let has_room = kept.len() < self.most;
                    if has_room {
                        kept.push_back(Kept { record, until });
                    }
                    has_room.then_some(()).ok_or(TooManyTasks)
                }
            }
        };
        Box::pin(async move { saved })
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>> {
        let (kept, now) = (self.kept.lock(), Instant::now());
        let found = kept.iter().find(|kept| kept.record.id() == id && kept.until > now);
        let found = found.map(|kept| kept.record.clone());
        Box::pin(async { found })
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a str>,
        after: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Option<Vec<TaskRecord>>> {
        let listed = {
            let (kept, now) = (self.kept.lock(), Instant::now());
            let mut own = kept
                .iter()
                .filter(|kept| kept.until > now && kept.record.owner.as_deref() == owner)
                .map(|kept| &kept.record);
            let is_there = after.is_none_or(|after| own.any(|record| record.id() == after));
            is_there.then(|| own.take(most).cloned().collect())
        };
        Box::pin(async { listed })
    }
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::{DetailedTask, Task, TaskStatus};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn record(id: &str, owner: &str, status: TaskStatus) -> TaskRecord {
        TaskRecord::new(Some(owner.to_owned()), DetailedTask::new(Task::new(id, "now").with_status(status)))
    }

    fn ids(records: &[TaskRecord]) -> Vec<&str> {
        records.iter().map(TaskRecord::id).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_is_kept_until_its_time_is_up() {
        let store = MemoryTasks::default();
        store.save(record("a", "ada", TaskStatus::Working), LONG).await.unwrap();
        store.save(record("a", "ada", TaskStatus::Completed), LONG).await.unwrap();
        assert!(store.load("a").await.unwrap().is_over());
        tokio::time::advance(LONG).await;
        assert_eq!(store.load("a").await, None);
        assert_eq!(store.list(Some("ada"), None, 9).await, Some(vec![]));
    }

    #[tokio::test]
    async fn a_full_store_lets_go_of_what_is_over_and_of_nothing_else() {
        let store = MemoryTasks::new(2);
        store.save(record("runs", "ada", TaskStatus::Working), LONG).await.unwrap();
        store.save(record("over", "ada", TaskStatus::Failed), LONG).await.unwrap();
        store.save(record("new", "ada", TaskStatus::InputRequired), LONG).await.unwrap();
        assert_eq!(store.load("over").await, None);
        assert_eq!(store.save(record("more", "ada", TaskStatus::Working), LONG).await, Err(TooManyTasks));
        // What is known is kept however full it is.
        store.save(record("runs", "ada", TaskStatus::Completed), LONG).await.unwrap();
    }

    #[tokio::test]
    async fn an_owner_lists_their_own_a_page_at_a_time() {
        let store = MemoryTasks::default();
        for (id, owner) in [("1", "ada"), ("2", "bob"), ("3", "ada"), ("4", "ada")] {
            store.save(record(id, owner, TaskStatus::Working), LONG).await.unwrap();
        }
        let page = store.list(Some("ada"), None, 2).await.unwrap();
        assert_eq!(ids(&page), ["1", "3"]);
        let page = store.list(Some("ada"), Some("3"), 2).await.unwrap();
        assert_eq!(ids(&page), ["4"]);
        assert_eq!(
            store.list(Some("ada"), Some("2"), 2).await,
            None,
            "another's task is no place to go on from"
        );
        assert_eq!(ids(&store.list(None, None, 2).await.unwrap()), [""; 0]);
    }
}
