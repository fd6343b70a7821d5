//! An open session: its link, the negotiated info, and its caches.

use std::collections::HashMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use switchboard_protocol::{Prompt, Raw, Resource, ResourceTemplate, Root, Tool};

use crate::client::cache::Cache;
use crate::client::call::ClientCall;
use crate::client::change_stream::Hub;
use crate::client::deadline::SharedClock;
use crate::client::lists::{ListCache, ListKind, ListMethod, ListRetention};
use crate::client::state::StateCell;
use crate::client::subscriptions::ListenerCounts;
use crate::client::timer_pool::TimerPool;
use crate::client::upcalls::UpcallTasks;
use crate::client::{ClientHandler, SessionState};
use crate::era::{ChangeDelivery, ClientDialect, SessionConfig, SessionInfo};
use crate::link::{Counters, Link};
use crate::request::{CallError, Limits};

/// An open session.
pub(crate) struct LiveSession {
    /// Itself, for tasks that outlive a borrow.
    pub(crate) me: Weak<LiveSession>,
    pub(crate) link: Arc<dyn Link>,
    pub(crate) dialect: ClientDialect,
    pub(crate) info: SessionInfo,
    pub(crate) ids: AtomicI64,
    pub(super) config: Arc<SessionConfig>,
    pub(crate) clock: SharedClock,
    pub(crate) timers: TimerPool,
    pub(crate) handler: Arc<dyn ClientHandler>,
    pub(crate) upcall_tasks: UpcallTasks,
    pub(crate) roots: Mutex<Vec<Root>>,
    pub(crate) tools: ListCache<Tool>,
    pub(crate) prompts: ListCache<Prompt>,
    pub(crate) resources: ListCache<Resource>,
    pub(crate) templates: ListCache<ResourceTemplate>,
    pub(crate) cache: Cache,
    pub(crate) changes: Hub,
    /// Listeners per subscribed resource.
    pub(crate) subscription_counts: Mutex<HashMap<String, usize>>,
    pub(crate) listener_counts: Mutex<ListenerCounts>,
    pub(super) state: Arc<StateCell>,
}

impl LiveSession {
    pub(crate) fn limits(&self) -> &Limits {
        &self.config.limits
    }

    pub(super) fn offers_list(&self, kind: ListKind) -> bool {
        let offered = &self.info.capabilities;
        match kind {
            ListKind::Tools => offered.tools.is_some(),
            ListKind::Prompts => offered.prompts.is_some(),
            ListKind::Resources => offered.resources.is_some(),
        }
    }

    pub(crate) fn offers(&self, offered: bool, what: &'static str) -> Result<(), CallError> {
        if offered { Ok(()) } else { Err(CallError::Unsupported { what }) }
    }

    pub(crate) fn offers_subscriptions(&self) -> bool {
        self.info.capabilities.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
    }

    /// Returns how long a list without a lifetime is cached: as long as changes are announced.
    pub(crate) fn retention(&self, what: &ListMethod) -> ListRetention {
        let counts = *self.listener_counts.lock();
        let streams = match what.kind {
            ListKind::Tools => counts.tools,
            ListKind::Prompts => counts.prompts,
            ListKind::Resources => counts.resources,
        };
        match self.dialect.change_delivery() {
            ChangeDelivery::Unsolicited => ListRetention::UntilChanged,
            ChangeDelivery::OnRequest if streams > 0 => ListRetention::UntilChanged,
            ChangeDelivery::OnRequest => ListRetention::None,
        }
    }

    pub(crate) fn invalidate_lists(&self) {
        self.tools.invalidate();
        self.prompts.invalidate();
        self.resources.invalidate();
        self.templates.invalidate();
        self.cache.invalidate(&["resources/read"]);
    }

    /// Reads a resource, from the cache while it is fresh.
    pub(super) async fn read(&self, uri: &str, params: &Raw) -> Result<Raw, CallError> {
        const METHOD: &str = "resources/read";
        self.offers(self.info.capabilities.resources.is_some(), "resources")?;
        if let Some(cached) = self.cache.get(METHOD, params.as_str()) {
            return Ok(cached);
        }
        let epoch = self.cache.epoch();
        let mut call = ClientCall::new(METHOD, params.as_str()).about(uri).within(self.limits().read);
        let finished = self.run_call(&mut call).await?;
        if !finished.took_input {
            self.cache.insert(METHOD, params.as_str(), &finished.result, epoch, self.limits());
        }
        Ok(finished.result)
    }

    pub(crate) fn count(&self, count: impl FnOnce(&Counters) -> u64) {
        if let Some(counters) = self.link.counters() {
            count(&counters);
        }
    }

    /// Marks the session as failed when its link has ended, unless it was closed.
    pub(crate) fn link_ended(&self) {
        self.changes.close();
        let Some(error) = self.link.ended() else { return };
        self.state.change(|state| matches!(state, SessionState::Ready), SessionState::Failed(error.into()));
    }
}

impl std::fmt::Debug for LiveSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveSession").field("info", &self.info).finish_non_exhaustive()
    }
}
