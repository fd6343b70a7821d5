//! Where tasks are kept, so that their callers find them again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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

/// Keeps tasks in memory, up to a number and a size: the oldest that is over gives way, of the same client first where
/// that one has more than its share.
#[derive(Debug)]
pub struct MemoryTasks {
    // Held for a look or a change, never across an await.
    state: Mutex<State>,
    most: usize,
    budget: TaskBudget,
}

/// How many bytes of tasks are kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskBudget {
    /// For all clients.
    pub all: usize,
    /// For one client: an authenticated principal, or else an address.
    pub per_client: usize,
}

impl TaskBudget {
    /// So many for all clients, and so many of them for one.
    pub const fn new(all: usize, per_client: usize) -> Self {
        Self { all, per_client }
    }
}

impl Default for TaskBudget {
    fn default() -> Self {
        Self::new(32 * 1024 * 1024, 8 * 1024 * 1024)
    }
}

#[derive(Debug, Default)]
struct State {
    /// By number, which is the order of their making.
    kept: BTreeMap<u64, Kept>,
    ids: HashMap<String, u64>,
    next: u64,
    all: Share,
    shares: HashMap<Option<String>, Share>,
    /// By the end of their time.
    ends: BTreeSet<(Instant, u64)>,
}

/// What is kept for all, or for one client.
#[derive(Debug, Default)]
struct Share {
    tasks: usize,
    bytes: usize,
    /// Those that are over.
    over: BTreeSet<u64>,
}

#[derive(Debug)]
struct Kept {
    record: TaskRecord,
    until: Instant,
    bytes: usize,
}

impl State {
    fn insert(&mut self, number: u64, record: TaskRecord, until: Instant) {
        let bytes = record.size();
        let client = record.client.clone();
        let is_over = record.is_over();
        for share in [&mut self.all, self.shares.entry(client).or_default()] {
            share.tasks += 1;
            share.bytes += bytes;
            if is_over {
                share.over.insert(number);
            }
        }
        self.ids.insert(record.id().to_owned(), number);
        self.ends.insert((until, number));
        self.kept.insert(number, Kept { record, until, bytes });
    }

    fn remove(&mut self, number: u64) {
        let Some(Kept { record, until, bytes }) = self.kept.remove(&number) else { return };
        self.ids.remove(record.id());
        self.ends.remove(&(until, number));
        let own = self.shares.get_mut(&record.client);
        for share in [Some(&mut self.all), own].into_iter().flatten() {
            share.tasks -= 1;
            share.bytes -= bytes;
            share.over.remove(&number);
        }
        if self.shares.get(&record.client).is_some_and(|share| share.tasks == 0) {
            self.shares.remove(&record.client);
        }
    }

    fn expire(&mut self, now: Instant) {
        while let Some((until, number)) = self.ends.first().copied()
            && until <= now
        {
            self.remove(number);
        }
    }

    fn find(&self, id: &str, now: Instant) -> Option<&TaskRecord> {
        let kept = self.kept.get(self.ids.get(id)?)?;
        (kept.until > now).then_some(&kept.record)
    }

    /// Removes the oldest tasks that are over, other than this one, while `too_much` of a share.
    fn evict(&mut self, client: Option<&Option<String>>, spared: u64, too_much: impl Fn(&Share) -> bool) {
        loop {
            let share = match client {
                Some(client) => self.shares.get(client),
                None => Some(&self.all),
            };
            let oldest = share.filter(|share| too_much(share));
            let oldest = oldest.and_then(|share| share.over.iter().copied().find(|number| *number != spared));
            let Some(oldest) = oldest else { return };
            self.remove(oldest);
        }
    }
}

impl MemoryTasks {
    /// Keeps at most this many.
    pub fn new(most: usize) -> Self {
        Self { state: Mutex::default(), most: most.max(1), budget: TaskBudget::default() }
    }

    /// Keeps at most so many bytes. A result that is larger than the share of a client is not kept: its task fails.
    #[must_use]
    pub fn with_budget(mut self, budget: TaskBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Bytes that are kept.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.state.lock().all.bytes
    }

    fn put(&self, mut record: TaskRecord, until: Instant, now: Instant) -> Result<(), TooManyTasks> {
        let TaskBudget { all, per_client } = self.budget;
        let mut state = self.state.lock();
        state.expire(now);
        if record.size() > all.min(per_client) {
            record.drop_result(all.min(per_client));
        }
        let client = record.client.clone();
        let number = match state.ids.get(record.id()).copied() {
            Some(known) => {
                state.remove(known);
                known
            }
            None => {
                // One client's many tasks push out their own results, not those of others.
                let most_of_client = (self.most / 16).max(1);
                if client.is_some() {
                    state.evict(Some(&client), u64::MAX, |share| share.tasks >= most_of_client);
                }
                state.evict(None, u64::MAX, |share| share.tasks >= self.most);
                if state.all.tasks >= self.most {
                    return Err(TooManyTasks);
                }
                state.next += 1;
                state.next
            }
        };
        state.insert(number, record, until);
        state.evict(Some(&client), number, |share| share.bytes > per_client);
        state.evict(None, number, |share| share.bytes > all);
        Ok(())
    }
}

impl Default for MemoryTasks {
    fn default() -> Self {
        Self::new(4096)
    }
}

impl TaskStore for MemoryTasks {
    fn save(&self, record: TaskRecord, left: Duration) -> BoxFuture<'_, Result<(), TooManyTasks>> {
        let now = Instant::now();
        let saved = self.put(record, now + left, now);
        Box::pin(async move { saved })
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>> {
        let found = self.state.lock().find(id, Instant::now()).cloned();
        Box::pin(async { found })
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a str>,
        after: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Option<Vec<TaskRecord>>> {
        let listed = {
            let (state, now) = (self.state.lock(), Instant::now());
            let mut own = state
                .kept
                .values()
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
    use switchboard_protocol::{DetailedTask, Raw, Task, TaskStatus};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn record(id: &str, owner: &str, status: TaskStatus) -> TaskRecord {
        let task = DetailedTask::new(Task::new(id, "now").with_status(status));
        TaskRecord::new(Some(owner.to_owned()), task).with_client(Some(owner.to_owned()))
    }

    fn finished(id: &str, owner: &str, bytes: usize) -> TaskRecord {
        let mut record = record(id, owner, TaskStatus::Completed);
        record.task.result = Some(Raw::encode(&"x".repeat(bytes)).unwrap());
        record
    }

    #[tokio::test]
    async fn s4_finished_tasks_stay_within_the_byte_budget() {
        let store = MemoryTasks::default().with_budget(TaskBudget::new(64_000, 24_000));
        store.save(finished("bob", "bob", 10_000), LONG).await.unwrap();
        store.save(record("runs", "ada", TaskStatus::Working), LONG).await.unwrap();
        for task in 0..60 {
            store.save(finished(&task.to_string(), "ada", 10_000), LONG).await.unwrap();
            assert!(store.bytes() <= 64_000, "{}", store.bytes());
        }
        assert_eq!(ids(&store.list(Some("ada"), None, 99).await.unwrap()), ["runs", "58", "59"]);
        assert!(store.load("bob").await.is_some(), "another client's result stays");
        for task in 0..20 {
            store.save(finished(&format!("c{task}"), &format!("c{task}"), 10_000), LONG).await.unwrap();
            assert!(store.bytes() <= 64_000, "{}", store.bytes());
        }
        assert_eq!(store.load("bob").await, None, "the oldest gave way");
    }

    #[tokio::test]
    async fn s4_a_result_larger_than_the_share_fails_its_task() {
        let store = MemoryTasks::default().with_budget(TaskBudget::new(64_000, 24_000));
        store.save(record("big", "ada", TaskStatus::Working), LONG).await.unwrap();
        store.save(finished("big", "ada", 30_000), LONG).await.unwrap();
        let kept = store.load("big").await.unwrap();
        assert_eq!((kept.task.task.status, kept.task.result.is_some()), (TaskStatus::Failed, false));
        assert!(kept.task.error.unwrap().message.contains("24000"));
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
