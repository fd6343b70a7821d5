//! The session that a request uses: the main one of a server, or a keyed one, which is opened if it is not open.
//!
//! Invariants: a keyed session that makes room for another has ended before that one starts, so there are never more processes
//! than the limits allow; no lock is held across an await.

use std::sync::Arc;

use crate::connection;
use crate::error::{HostError, not_ready};
use crate::question_router::QuestionRouter;
use crate::session_scope::{SessionLimit, SessionScope};
use crate::set::HostState;
use crate::slot::{ConnectionHandle, NoSession, Slot, SlotUse, Switch, close_all};
use crate::status::Status;

impl HostState {
    /// Returns the slot for a request to the server of `main`, in use: that of its main session, or that of a scope, whose
    /// session is opened by the request if it is not open. Waits for a server that starts when another has ended.
    pub(crate) async fn use_slot(
        &self,
        main: &Arc<Slot>,
        scope: Option<&SessionScope>,
    ) -> Result<SlotUse, HostError> {
        let Some(scope) = scope else { return Ok(SlotUse::new(Arc::clone(main))) };
        if main.is_unstarted() {
            // Boxed: a rare path must not enlarge the future of every call.
            Box::pin(main.wait_until_decided()).await;
        }
        if main.switch() == Switch::Off || main.is_unstarted() {
            return Err(not_ready(&main.name, main.status()));
        }
        self.use_keyed(main, scope).map_err(|error| match error {
            NoSession::Closed => not_ready(&main.name, Status::Stopped),
            NoSession::Limit(limit) => HostError::TooManySessions { server: Arc::clone(&main.name), limit },
        })
    }

    fn use_keyed(&self, main: &Arc<Slot>, scope: &SessionScope) -> Result<SlotUse, NoSession> {
        let (mut removed, mut opened) = (Vec::new(), None);
        let used = loop {
            let used = main.keyed.get_or_open(scope, &self.shared.session_budget, &mut removed, || {
                let abilities = scope.capabilities.unwrap_or(self.abilities);
                let questions = QuestionRouter::new(Arc::clone(&main.name), abilities)
                    .with_fallback(self.handler.clone());
                let slot = Arc::new(Slot::keyed(main, scope.clone(), questions));
                opened = Some(Arc::clone(&slot));
                connection::spawn(slot, Arc::clone(&self.shared))
            });
            match used {
                Err(NoSession::Limit(SessionLimit::Host(_))) => match self.remove_unused_session() {
                    Some(connection) => removed.push(connection),
                    None => break used,
                },
                used => break used,
            }
        };
        if opened.is_some() && main.last_info().is_none() {
            // The catalog has remembered lists: the main session lists the server anew.
            main.wake();
        }
        if used.as_ref().is_ok_and(|slot| slot.current().is_none()) {
            self.list_anew(main);
        }
        self.start_after_closing(opened, removed);
        used
    }

    /// Makes a sleeping server list its tools anew, if changed ones are withheld: a keyed session is about to be started, and its
    /// process may offer others.
    pub(crate) fn list_anew(&self, main: &Slot) {
        if self.shared.registry.withholds_changed() {
            main.list_if_asleep();
        }
    }

    /// Removes the least recently used keyed session of all servers that is not in use.
    fn remove_unused_session(&self) -> Option<ConnectionHandle> {
        let slots = self.slots();
        let unused = slots.iter().filter_map(|slot| Some((slot.keyed.oldest_unused()?, slot)));
        let (_, slot) = unused.min_by_key(|(last_use, _)| *last_use)?;
        // If it is used by now, another one of this server.
        slot.keyed.remove_unused()
    }

    /// Starts a new session after the removed ones have ended.
    fn start_after_closing(&self, opened: Option<Arc<Slot>>, removed: Vec<ConnectionHandle>) {
        if removed.is_empty() {
            if let Some(slot) = opened {
                slot.start();
            }
            return;
        }
        let mut table = self.table.lock();
        while table.closing_tasks.try_join_next().is_some() {}
        table.closing_tasks.spawn(async move {
            close_all(removed).await;
            if let Some(slot) = opened {
                slot.start();
            }
        });
    }

    /// Closes the keyed sessions of a server, in the background.
    pub(crate) fn close_keyed_sessions(&self, slot: &Slot) {
        let keyed = slot.keyed.take_all();
        if !keyed.is_empty() {
            self.table.lock().closing_tasks.spawn(close_all(keyed));
        }
    }
}
