//! The tasks that calls of the console have become, and others that servers tell of.

use std::collections::VecDeque;

use parking_lot::Mutex;
use switchboard_json::{FromRaw, Raw};
use switchboard_protocol::{DetailedTask, LegacyTaskState, Task, TaskStatus as ProtocolStatus};

use crate::api::clock::{parse_timestamp, unix_ms_now};
use crate::contract::{ConsoleEvent, TaskSnapshot, TaskStatus};
use crate::events::EventLog;

/// Tasks that are kept; the oldest are dropped, those that have ended first.
const MAX_TASKS: usize = 200;

/// The known tasks.
#[derive(Debug)]
pub(crate) struct TaskTable {
    events: EventLog,
    // Held while an event is published, so that the events of a task are in order.
    tasks: Mutex<VecDeque<TaskSnapshot>>,
}

impl TaskTable {
    pub(crate) fn new(events: EventLog) -> Self {
        Self { events, tasks: Mutex::default() }
    }

    /// Returns all tasks, oldest first.
    pub(crate) fn snapshots(&self) -> Vec<TaskSnapshot> {
        self.tasks.lock().iter().cloned().collect()
    }

    /// Returns whether a task is known.
    pub(super) fn has(&self, server: &str, task_id: &str) -> bool {
        self.tasks.lock().iter().any(|task| task.server == server && task.task_id == task_id)
    }

    /// Takes the state of a task; `call` is the call that has become it.
    pub(crate) fn update(&self, server: &str, task: &Task, call: Option<u64>) {
        let now = unix_ms_now();
        let snapshot = TaskSnapshot {
            server: server.to_owned(),
            task_id: task.task_id.clone(),
            call,
            status: task_status(task.status),
            status_message: task.status_message.clone(),
            created_at_ms: parse_timestamp(&task.created_at).unwrap_or(now),
            updated_at_ms: parse_timestamp(&task.last_updated_at).unwrap_or(now),
            ttl_ms: task.ttl_ms,
        };
        self.store(snapshot);
    }

    /// Takes a notification about a task.
    pub(crate) fn note_change(&self, server: &str, state: &Raw) {
        let modern = || DetailedTask::from_raw(state).ok().map(|detailed| detailed.task);
        let legacy = || LegacyTaskState::from_raw(state).ok().map(|state| Task::from(state.task));
        if let Some(task) = modern().or_else(legacy) {
            self.update(server, &task, None);
        }
    }

    /// Ends a task whose call has ended, unless the server has said how it ended.
    pub(crate) fn end(&self, server: &str, task_id: &str, status: TaskStatus) {
        let mut tasks = self.tasks.lock();
        let known = tasks.iter_mut().find(|task| task.server == server && task.task_id == task_id);
        if let Some(task) = known.filter(|task| !is_terminal(task.status)) {
            (task.status, task.updated_at_ms) = (status, unix_ms_now());
            self.events.publish(ConsoleEvent::Task { task: Box::new(task.clone()) });
        }
    }

    fn store(&self, mut snapshot: TaskSnapshot) {
        let mut tasks = self.tasks.lock();
        let is_same =
            |task: &&mut TaskSnapshot| task.server == snapshot.server && task.task_id == snapshot.task_id;
        match tasks.iter_mut().find(is_same) {
            Some(known) => {
                snapshot.call = snapshot.call.or(known.call);
                snapshot.created_at_ms = known.created_at_ms;
                let changed = (known.status, &known.status_message, known.call, known.ttl_ms)
                    != (snapshot.status, &snapshot.status_message, snapshot.call, snapshot.ttl_ms);
                // A poll that was sent earlier may be read after the end.
                if !changed || is_terminal(known.status) {
                    return;
                }
                known.clone_from(&snapshot);
            }
            None => tasks.push_back(snapshot.clone()),
        }
        if tasks.len() > MAX_TASKS {
            let ended = tasks.iter().position(|task| is_terminal(task.status)).unwrap_or(0);
            tasks.remove(ended);
        }
        self.events.publish(ConsoleEvent::Task { task: Box::new(snapshot) });
    }
}

pub(crate) fn task_status(status: ProtocolStatus) -> TaskStatus {
    match status {
        ProtocolStatus::Working => TaskStatus::Working,
        ProtocolStatus::InputRequired => TaskStatus::InputRequired,
        ProtocolStatus::Completed => TaskStatus::Completed,
        ProtocolStatus::Failed => TaskStatus::Failed,
        ProtocolStatus::Cancelled => TaskStatus::Cancelled,
    }
}

fn is_terminal(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, status: ProtocolStatus) -> Task {
        let mut task = Task::new(id, "2026-07-28T10:30:00Z");
        task.status = status;
        task
    }

    #[test]
    fn a_task_that_has_ended_does_not_start_again() {
        let table = TaskTable::new(EventLog::default());
        table.update("s", &task("1", ProtocolStatus::Working), Some(7));
        table.update("s", &task("1", ProtocolStatus::Completed), None);
        table.update("s", &task("1", ProtocolStatus::Working), None);
        table.end("s", "1", TaskStatus::Cancelled);
        let tasks = table.snapshots();
        assert_eq!((tasks.len(), tasks[0].status, tasks[0].call), (1, TaskStatus::Completed, Some(7)));
        assert_eq!(tasks[0].created_at_ms, 1_785_234_600_000);
        assert_eq!(table.events.sequence(), 2);
    }

    #[test]
    fn ended_tasks_make_room() {
        let table = TaskTable::new(EventLog::default());
        for number in 0..MAX_TASKS + 10 {
            let status = if number < 20 { ProtocolStatus::Working } else { ProtocolStatus::Completed };
            table.update("s", &task(&number.to_string(), status), None);
        }
        let tasks = table.snapshots();
        assert_eq!(tasks.len(), MAX_TASKS);
        assert_eq!(tasks.iter().filter(|task| task.status == TaskStatus::Working).count(), 20);
    }
}
