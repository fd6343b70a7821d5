//! The tasks that were created through this gateway: for `tasks/list`, and for status notifications of servers.
//!
//! A task id names everything that a request for the task needs, so nothing else depends on this table. It is bounded; what
//! falls out is no longer listed or announced, and can still be asked for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::active_calls::ActiveTask;

/// Tasks in all.
const MAX_TASKS: usize = 10_000;
/// Tasks of one owner.
const MAX_TASKS_PER_OWNER: usize = 1_000;

/// A task that was created through this gateway.
#[derive(Clone, Debug)]
pub(crate) struct OwnedTask {
    /// The id that its owner knows.
    pub(crate) exposed: Arc<str>,
    pub(crate) server: Arc<str>,
    /// The number of the session with the server.
    pub(crate) upstream_session: u64,
    /// The id that the server knows.
    pub(crate) upstream: Arc<str>,
    pub(crate) owner: Option<String>,
    /// The session that is notified; `None` for an owner without a session.
    pub(crate) session: Option<String>,
    pub(crate) view: Option<Arc<str>>,
    pub(crate) expires: Instant,
    /// Until the task is over.
    pub(crate) kept: Option<KeptSession>,
    /// Until the task is over: its messages are of its owner.
    pub(crate) active: Option<Arc<ActiveTask>>,
}

/// Keeps a session from being stopped as idle, until the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct KeptSession {
    _task: Arc<SessionKeeper>,
}

#[derive(Debug)]
struct SessionKeeper(AbortHandle);

impl KeptSession {
    /// Takes over the task that holds the session.
    pub(crate) fn new(task: AbortHandle) -> Self {
        Self { _task: Arc::new(SessionKeeper(task)) }
    }
}

impl Drop for SessionKeeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The table of tasks.
#[derive(Default)]
pub(crate) struct OwnedTasks {
    // Held for a lookup or a change, never across an await.
    state: Mutex<TableState>,
}

#[derive(Default)]
struct TableState {
    next: u64,
    /// In the order of their creation.
    tasks: BTreeMap<u64, OwnedTask>,
    by_owner: HashMap<Option<String>, usize>,
}

impl OwnedTasks {
    /// Adds a task. Where there is no room, the oldest one of the same owner, or else of all, is forgotten.
    pub(crate) fn add(&self, task: OwnedTask) {
        let mut state = self.state.lock();
        state.remove_expired();
        if state.by_owner.get(&task.owner).is_some_and(|count| *count >= MAX_TASKS_PER_OWNER) {
            let oldest =
                state.tasks.iter().find(|(_, other)| other.owner == task.owner).map(|(number, _)| *number);
            oldest.inspect(|number| state.remove(*number));
        } else if state.tasks.len() >= MAX_TASKS {
            let oldest = state.tasks.keys().next().copied();
            oldest.inspect(|number| state.remove(*number));
        }
        let number = state.next;
        state.next += 1;
        *state.by_owner.entry(task.owner.clone()).or_default() += 1;
        state.tasks.insert(number, task);
    }

    /// Returns up to `count` tasks of an owner in a view, after the one with this number.
    pub(crate) fn list(
        &self,
        (owner, view): (Option<&str>, Option<&str>),
        after: Option<u64>,
        count: usize,
    ) -> Vec<(u64, OwnedTask)> {
        let mut state = self.state.lock();
        state.remove_expired();
        let from = after.map_or(0, |after| after.saturating_add(1));
        let own = state
            .tasks
            .range(from..)
            .filter(|(_, task)| task.owner.as_deref() == owner && task.view.as_deref() == view);
        own.take(count).map(|(number, task)| (*number, task.clone())).collect()
    }

    /// Returns the tasks that a server knows by this id in the session with this number, as created in this view.
    pub(crate) fn find(
        &self,
        (server, session): (&str, u64),
        upstream: &str,
        view: Option<&str>,
    ) -> Vec<OwnedTask> {
        let state = self.state.lock();
        let is_meant = |task: &&OwnedTask| {
            &*task.server == server
                && task.upstream_session == session
                && &*task.upstream == upstream
                && task.view.as_deref() == view
        };
        state.tasks.values().filter(is_meant).cloned().collect()
    }

    /// Lets go of the session of a task that is over.
    pub(crate) fn finished(&self, exposed: &str) {
        let mut state = self.state.lock();
        let meant = state.tasks.values_mut().filter(|task| &*task.exposed == exposed);
        meant.for_each(|task| (task.kept, task.active) = (None, None));
    }

    /// Forgets a task that its server no longer knows.
    pub(crate) fn forget(&self, number: u64) {
        self.state.lock().remove(number);
    }
}

impl TableState {
    fn remove(&mut self, number: u64) {
        let Some(task) = self.tasks.remove(&number) else { return };
        if let Some(count) = self.by_owner.get_mut(&task.owner) {
            *count -= 1;
            if *count == 0 {
                self.by_owner.remove(&task.owner);
            }
        }
    }

    fn remove_expired(&mut self) {
        let now = Instant::now();
        let expired = self.tasks.iter().filter(|(_, task)| task.expires <= now);
        let expired: Vec<u64> = expired.map(|(number, _)| *number).collect();
        expired.into_iter().for_each(|number| self.remove(number));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn task(owner: &str, upstream: usize) -> OwnedTask {
        OwnedTask {
            exposed: format!("exposed-{upstream}").into(),
            server: "server".into(),
            upstream_session: 1,
            upstream: upstream.to_string().into(),
            owner: Some(owner.to_owned()),
            session: None,
            view: None,
            expires: Instant::now() + Duration::from_secs(5),
            kept: None,
            active: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_owner_lists_its_own_tasks_until_they_expire() {
        let tasks = OwnedTasks::default();
        (0..3).for_each(|number| tasks.add(task("ada", number)));
        tasks.add(task("bob", 7));
        let first = tasks.list((Some("ada"), None), None, 2);
        assert_eq!(first.len(), 2);
        let second = tasks.list((Some("ada"), None), Some(first[1].0), 2);
        assert_eq!(second.iter().map(|(_, task)| &*task.upstream).collect::<Vec<_>>(), ["2"]);
        assert!(
            tasks.list((Some("ada"), Some("view")), None, 9).is_empty()
                && tasks.list((None, None), None, 9).is_empty()
        );
        assert_eq!(tasks.find(("server", 1), "7", None).len(), 1);
        tasks.forget(second[0].0);
        assert_eq!(tasks.list((Some("ada"), None), None, 9).len(), 2);
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert!(tasks.list((Some("ada"), None), None, 9).is_empty());
        assert!(tasks.state.lock().by_owner.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_table_is_bounded_and_an_owner_displaces_only_its_own() {
        let tasks = OwnedTasks::default();
        tasks.add(task("bob", 0));
        (0..=MAX_TASKS_PER_OWNER).for_each(|number| tasks.add(task("ada", number)));
        let own = tasks.list((Some("ada"), None), None, usize::MAX);
        assert_eq!(own.len(), MAX_TASKS_PER_OWNER);
        assert_eq!(&*own[0].1.upstream, "1", "the oldest is gone");
        assert_eq!(tasks.list((Some("bob"), None), None, 9).len(), 1);
    }
}
