//! What the console keeps of its host beside the host's own state.

use std::sync::{Arc, Weak};

use super::ConsoleState;
use super::calls::CallTable;
use super::questions::PendingQuestions;
use super::servers::ServerRecords;
use super::subscriptions::SubscriptionTable;
use super::tasks::TaskTable;
use crate::events::EventLog;
use crate::traffic::TrafficLog;

/// The state of servers, calls, questions, tasks and subscriptions.
#[derive(Debug)]
pub(crate) struct LiveState {
    pub(crate) servers: ServerRecords,
    pub(crate) calls: CallTable,
    pub(crate) questions: Arc<PendingQuestions>,
    pub(crate) tasks: TaskTable,
    pub(crate) subscriptions: SubscriptionTable,
}

impl LiveState {
    /// Creates the state of the console `console`. `questions` is what the host was built with.
    pub(crate) fn new(
        events: &EventLog,
        traffic: &Arc<TrafficLog>,
        questions: Arc<PendingQuestions>,
        console: Weak<ConsoleState>,
    ) -> Self {
        questions.connect(events.clone(), Arc::clone(traffic), console);
        Self {
            servers: ServerRecords::default(),
            calls: CallTable::new(events.clone()),
            questions,
            tasks: TaskTable::new(events.clone()),
            subscriptions: SubscriptionTable::new(events.clone()),
        }
    }
}
