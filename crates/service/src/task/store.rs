//! Storage for tasks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_session::link::BoxFuture;
use tokio::time::Instant;

use super::TaskRecord;

/// Stores tasks. Instances that share a store can report each other's tasks; only the instance that runs a task can
/// pass input to it or cancel it.
pub trait TaskStore: Send + Sync + 'static {
    /// Inserts or replaces a task and keeps it for `ttl`. A task is saved before its caller learns its id.
    ///
    /// # Errors
    /// When the store is full.
    fn save(&self, record: TaskRecord, ttl: Duration) -> BoxFuture<'_, Result<(), TooManyTasks>>;

    /// Returns a task; `None` if it is unknown or expired.
    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>>;

    /// Returns up to `limit` tasks of an owner in creation order, starting after the task `after`. `None` if `after`
    /// is unknown.
    fn list<'a>(
        &'a self,
        owner: Option<&'a str>,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Option<Vec<TaskRecord>>>;
}

/// The task store is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many tasks; wait for some to finish")]
pub struct TooManyTasks;

/// In-memory task store, limited in number and bytes. Evicts the oldest finished task, preferring those of a client
/// that exceeds its share.
#[derive(Debug)]
pub struct MemoryTaskStore {
    // Held for a lookup or an update, never across an await.
    state: Mutex<TaskStoreState>,
    max_tasks: usize,
    budget: TaskBudget,
}

/// Byte limits of a [`MemoryTaskStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskBudget {
    /// Limit for all clients together.
    pub total: usize,
    /// Limit for one client: an authenticated principal, or else an address.
    pub per_client: usize,
}

impl TaskBudget {
    /// Creates a budget of `total` bytes, of which one client may use `per_client`.
    pub const fn new(total: usize, per_client: usize) -> Self {
        Self { total, per_client }
    }
}

impl Default for TaskBudget {
    fn default() -> Self {
        Self::new(32 * 1024 * 1024, 8 * 1024 * 1024)
    }
}

#[derive(Debug, Default)]
struct TaskStoreState {
    /// By sequence number, which is the creation order.
    tasks: BTreeMap<u64, StoredTask>,
    ids: HashMap<String, u64>,
    next: u64,
    total: TaskUsage,
    clients: HashMap<Option<String>, TaskUsage>,
    /// By expiry time.
    expiries: BTreeSet<(Instant, u64)>,
}

/// Usage of all clients, or of one.
#[derive(Debug, Default)]
struct TaskUsage {
    tasks: usize,
    bytes: usize,
    /// Sequence numbers of finished tasks.
    finished: BTreeSet<u64>,
}

#[derive(Debug)]
struct StoredTask {
    record: TaskRecord,
    expires_at: Instant,
    bytes: usize,
}

impl TaskStoreState {
    fn insert(&mut self, number: u64, record: TaskRecord, expires_at: Instant) {
        let bytes = record.size();
        let client = record.client.clone();
        let is_finished = record.is_finished();
        for usage in [&mut self.total, self.clients.entry(client).or_default()] {
            usage.tasks += 1;
            usage.bytes += bytes;
            if is_finished {
                usage.finished.insert(number);
            }
        }
        self.ids.insert(record.id().to_owned(), number);
        self.expiries.insert((expires_at, number));
        self.tasks.insert(number, StoredTask { record, expires_at, bytes });
    }

    fn remove(&mut self, number: u64) {
        let Some(StoredTask { record, expires_at, bytes }) = self.tasks.remove(&number) else { return };
        self.ids.remove(record.id());
        self.expiries.remove(&(expires_at, number));
        let own = self.clients.get_mut(&record.client);
        for usage in [Some(&mut self.total), own].into_iter().flatten() {
            usage.tasks -= 1;
            usage.bytes -= bytes;
            usage.finished.remove(&number);
        }
        if self.clients.get(&record.client).is_some_and(|usage| usage.tasks == 0) {
            self.clients.remove(&record.client);
        }
    }

    fn expire(&mut self, now: Instant) {
        while let Some((expires_at, number)) = self.expiries.first().copied()
            && expires_at <= now
        {
            self.remove(number);
        }
    }

    fn find(&self, id: &str, now: Instant) -> Option<&TaskRecord> {
        let task = self.tasks.get(self.ids.get(id)?)?;
        (task.expires_at > now).then_some(&task.record)
    }

    /// Evicts the oldest finished tasks except `spared` while `is_exceeded` holds for the usage.
    fn evict(
        &mut self,
        client: Option<&Option<String>>,
        spared: u64,
        is_exceeded: impl Fn(&TaskUsage) -> bool,
    ) {
        loop {
            let usage = match client {
                Some(client) => self.clients.get(client),
                None => Some(&self.total),
            };
            let oldest = usage.filter(|usage| is_exceeded(usage));
            let oldest =
                oldest.and_then(|usage| usage.finished.iter().copied().find(|number| *number != spared));
            let Some(oldest) = oldest else { return };
            self.remove(oldest);
        }
    }
}

impl MemoryTaskStore {
    /// Creates a store for at most `max_tasks` tasks.
    pub fn new(max_tasks: usize) -> Self {
        Self { state: Mutex::default(), max_tasks: max_tasks.max(1), budget: TaskBudget::default() }
    }

    /// Sets the byte limits. A result larger than the limit of a client is not stored; its task fails.
    #[must_use]
    pub fn with_budget(mut self, budget: TaskBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Bytes in use.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.state.lock().total.bytes
    }

    fn put(&self, mut record: TaskRecord, expires_at: Instant, now: Instant) -> Result<(), TooManyTasks> {
        let TaskBudget { total, per_client } = self.budget;
        let mut state = self.state.lock();
        state.expire(now);
        if record.size() > total.min(per_client) {
            record.drop_result(total.min(per_client));
        }
        let client = record.client.clone();
        let number = match state.ids.get(record.id()).copied() {
            Some(known) => {
                state.remove(known);
                known
            }
            None => {
                // A client with many tasks evicts its own results, not those of others.
                let max_of_client = (self.max_tasks / 16).max(1);
                if client.is_some() {
                    state.evict(Some(&client), u64::MAX, |usage| usage.tasks >= max_of_client);
                }
                state.evict(None, u64::MAX, |usage| usage.tasks >= self.max_tasks);
                if state.total.tasks >= self.max_tasks {
                    return Err(TooManyTasks);
                }
                state.next += 1;
                state.next
            }
        };
        state.insert(number, record, expires_at);
        state.evict(Some(&client), number, |usage| usage.bytes > per_client);
        state.evict(None, number, |usage| usage.bytes > total);
        Ok(())
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new(4096)
    }
}

impl TaskStore for MemoryTaskStore {
    fn save(&self, record: TaskRecord, ttl: Duration) -> BoxFuture<'_, Result<(), TooManyTasks>> {
        let now = Instant::now();
        let saved = self.put(record, now + ttl, now);
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
        limit: usize,
    ) -> BoxFuture<'a, Option<Vec<TaskRecord>>> {
        let listed = {
            let (state, now) = (self.state.lock(), Instant::now());
            let mut own = state
                .tasks
                .values()
                .filter(|task| task.expires_at > now && task.record.owner.as_deref() == owner)
                .map(|task| &task.record);
            let is_known = after.is_none_or(|after| own.any(|record| record.id() == after));
            is_known.then(|| own.take(limit).cloned().collect())
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
        let store = MemoryTaskStore::default().with_budget(TaskBudget::new(64_000, 24_000));
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
    async fn s4_a_result_over_the_client_limit_fails_its_task() {
        let store = MemoryTaskStore::default().with_budget(TaskBudget::new(64_000, 24_000));
        store.save(record("big", "ada", TaskStatus::Working), LONG).await.unwrap();
        store.save(finished("big", "ada", 30_000), LONG).await.unwrap();
        let tasks = store.load("big").await.unwrap();
        assert_eq!((tasks.task.task.status, tasks.task.result.is_some()), (TaskStatus::Failed, false));
        assert!(tasks.task.error.unwrap().message.contains("24000"));
    }

    fn ids(records: &[TaskRecord]) -> Vec<&str> {
        records.iter().map(TaskRecord::id).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_is_kept_until_it_expires() {
        let store = MemoryTaskStore::default();
        store.save(record("a", "ada", TaskStatus::Working), LONG).await.unwrap();
        store.save(record("a", "ada", TaskStatus::Completed), LONG).await.unwrap();
        assert!(store.load("a").await.unwrap().is_finished());
        tokio::time::advance(LONG).await;
        assert_eq!(store.load("a").await, None);
        assert_eq!(store.list(Some("ada"), None, 9).await, Some(vec![]));
    }

    #[tokio::test]
    async fn a_full_store_evicts_finished_tasks_only() {
        let store = MemoryTaskStore::new(2);
        store.save(record("runs", "ada", TaskStatus::Working), LONG).await.unwrap();
        store.save(record("finished", "ada", TaskStatus::Failed), LONG).await.unwrap();
        store.save(record("new", "ada", TaskStatus::InputRequired), LONG).await.unwrap();
        assert_eq!(store.load("finished").await, None);
        assert_eq!(store.save(record("more", "ada", TaskStatus::Working), LONG).await, Err(TooManyTasks));
        // Updating a known task succeeds even when the store is full.
        store.save(record("runs", "ada", TaskStatus::Completed), LONG).await.unwrap();
    }

    #[tokio::test]
    async fn an_owner_lists_own_tasks_in_pages() {
        let store = MemoryTaskStore::default();
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
