//! Changes of servers, announced to whoever listens: changed lists, and completed URL elicitations.

use std::sync::{Arc, Weak};

use switchboard_host::{HostEvent, HostEvents};
use switchboard_session::client::Change;
use tokio::task::JoinHandle;

use crate::tasks;
use crate::view_state::ViewState;

/// The task that follows the events of the host; aborted on drop.
pub(crate) struct ChangesTask(JoinHandle<()>);

impl ChangesTask {
    /// Starts the task. It ends with the host or the view.
    pub(crate) fn start(state: &Arc<ViewState>) -> Self {
        Self(tokio::spawn(follow(state.gateway.host.events(), Arc::downgrade(state))))
    }
}

impl Drop for ChangesTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn follow(mut events: HostEvents, state: Weak<ViewState>) {
    while let Some(event) = events.next().await {
        let Some(state) = state.upgrade() else { return };
        if server_of(&event).is_some_and(|server| !state.rules().has_server(server)) {
            continue;
        }
        let publisher = &state.publisher;
        match event {
            HostEvent::Tools(_) => publisher.tools_changed(),
            HostEvent::Prompts { .. } => publisher.prompts_changed(),
            HostEvent::Resources { .. } => publisher.resources_changed(),
            // Passed on all the same: the server may mean something that the catalog does not hold.
            HostEvent::UnchangedList { change, .. } => match change {
                Change::Tools => publisher.tools_changed(),
                Change::Prompts => publisher.prompts_changed(),
                _ => publisher.resources_changed(),
            },
            HostEvent::Missed(_) => {
                publisher.tools_changed();
                publisher.prompts_changed();
                publisher.resources_changed();
            }
            HostEvent::ServerChange { server, session, change: Change::ElicitationDone { id } } => {
                state.gateway.url_questions.complete((&server, session, &id));
            }
            HostEvent::ServerChange { server, session, change: Change::Task(raw) } => {
                tasks::notify_owner(&state, (&server, session), &raw);
            }
            _ => {}
        }
    }
}

/// Returns the server that an event is about, if it changes a list.
fn server_of(event: &HostEvent) -> Option<&str> {
    match event {
        HostEvent::Tools(changed) => Some(&changed.server),
        HostEvent::Prompts { server }
        | HostEvent::Resources { server }
        | HostEvent::UnchangedList { server, .. } => Some(server),
        _ => None,
    }
}
