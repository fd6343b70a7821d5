//! Keeps the prompts, resources and templates of a connected server up to date in the catalog, for hosts that keep them.
//!
//! Each kind has the same refresh schedule as the tools. A list that cannot be fetched leaves the last one in place.

use std::sync::Arc;

use switchboard_protocol::{Prompt, Resource, ResourceTemplate};
use switchboard_session::client::{Change, List};
use switchboard_session::link::BoxFuture;
use switchboard_session::{CallError, ClientSession};
use tokio::time::{Instant, sleep_until};

use crate::connection::SharedState;
use crate::connection::refresh::{Refresh, RefreshCause};
use crate::event::HostEvent;
use crate::registry::ListChange;
use crate::slot::Slot;

/// The lists of a server other than its tools, as it answered.
pub(crate) struct FetchedLists {
    prompts: Result<Arc<List<Prompt>>, CallError>,
    resources: ResourceLists,
}

/// Resources and templates, which one notification announces.
type ResourceLists = Result<(Arc<List<Resource>>, Arc<List<ResourceTemplate>>), CallError>;

impl FetchedLists {
    /// Fetches all lists that the server offers.
    pub(crate) async fn fetch(session: &ClientSession) -> Self {
        let (prompts, resources) = tokio::join!(session.list_prompts(), fetch_resources(session));
        Self { prompts, resources }
    }
}

async fn fetch_resources(session: &ClientSession) -> ResourceLists {
    let (resources, templates) =
        tokio::join!(session.refresh_resources(), session.refresh_resource_templates());
    Ok((resources?, templates?))
}

/// A refresh in progress.
enum ListFetch<'a> {
    Prompts(RefreshCause, BoxFuture<'a, Result<Arc<List<Prompt>>, CallError>>),
    Resources(RefreshCause, BoxFuture<'a, ResourceLists>),
}

/// The schedules of the kept lists of one session.
pub(crate) struct KeptLists<'a> {
    session: &'a ClientSession,
    slot: Arc<Slot>,
    shared: Arc<SharedState>,
    prompts: Refresh,
    resources: Refresh,
    fetch: Option<ListFetch<'a>>,
}

impl<'a> KeptLists<'a> {
    pub(crate) fn new(session: &'a ClientSession, slot: &Arc<Slot>, shared: &Arc<SharedState>) -> Self {
        let now = Instant::now();
        Self {
            session,
            slot: Arc::clone(slot),
            shared: Arc::clone(shared),
            prompts: Refresh::new(now),
            resources: Refresh::new(now),
            fetch: None,
        }
    }

    /// Stores the lists that were fetched when the session was opened.
    pub(crate) fn store(&mut self, FetchedLists { prompts, resources }: FetchedLists) {
        self.store_prompts(None, prompts);
        self.store_resources(None, resources);
    }

    /// Schedules a refresh after a change notification.
    pub(crate) fn note_change(&mut self, change: &Change) {
        if !self.shared.keeps_all_lists {
            return;
        }
        let now = Instant::now();
        if matches!(change, Change::Prompts | Change::Missed(_)) {
            self.prompts.note_change(now);
        }
        if matches!(change, Change::Resources | Change::Missed(_)) {
            self.resources.note_change(now);
        }
    }

    /// Waits for the next refresh and does it. Pending forever while none is scheduled.
    ///
    /// # Cancellation
    /// A refresh in progress continues at the next call.
    pub(crate) async fn refresh(&mut self) {
        if self.fetch.is_none() {
            let due = [self.prompts.due(), self.resources.due()].into_iter().flatten().min();
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
            self.begin();
        }
        match &mut self.fetch {
            Some(ListFetch::Prompts(cause, fetch)) => {
                let (cause, fetched) = (*cause, fetch.await);
                self.fetch = None;
                self.store_prompts(Some(cause), fetched);
            }
            Some(ListFetch::Resources(cause, fetch)) => {
                let (cause, fetched) = (*cause, fetch.await);
                self.fetch = None;
                self.store_resources(Some(cause), fetched);
            }
            None => {}
        }
    }

    /// Begins the refresh that is due first.
    fn begin(&mut self) {
        let (now, session) = (Instant::now(), self.session);
        let is_first = match (self.prompts.due(), self.resources.due()) {
            (Some(prompts), Some(resources)) => prompts <= resources,
            (prompts, _) => prompts.is_some(),
        };
        self.fetch = Some(if is_first {
            ListFetch::Prompts(self.prompts.begin(now), Box::pin(session.refresh_prompts()))
        } else {
            ListFetch::Resources(self.resources.begin(now), Box::pin(fetch_resources(session)))
        });
    }

    fn store_prompts(&mut self, cause: Option<RefreshCause>, fetched: Result<Arc<List<Prompt>>, CallError>) {
        if let Ok(list) = &fetched {
            self.prompts.set_lifetime(list.lifetime.unwrap_or_default());
        }
        let change = fetched.map(|list| {
            self.shared.registry.change_lists(self.slot.id, |kept| {
                kept.prompts = list.to_vec().into();
                kept.lifetimes.prompts = list.lifetime.unwrap_or_default();
            })
        });
        if cause.is_some_and(RefreshCause::is_announced) && matches!(change, Ok(ListChange::Unchanged)) {
            self.announce_unchanged(Change::Prompts);
        }
        record(&mut self.prompts, &self.slot, cause, change);
    }

    fn store_resources(&mut self, cause: Option<RefreshCause>, fetched: ResourceLists) {
        if let Ok((resources, templates)) = &fetched {
            let lifetimes = [resources.lifetime, templates.lifetime].into_iter().flatten();
            self.resources.set_lifetime(lifetimes.filter(|time| !time.is_zero()).min().unwrap_or_default());
        }
        let change = fetched.map(|(resources, templates)| {
            self.shared.registry.change_lists(self.slot.id, |kept| {
                kept.resources = resources.to_vec().into();
                kept.templates = templates.to_vec().into();
                kept.lifetimes.resources = resources.lifetime.unwrap_or_default();
                kept.lifetimes.templates = templates.lifetime.unwrap_or_default();
            })
        });
        if cause.is_some_and(RefreshCause::is_announced) && matches!(change, Ok(ListChange::Unchanged)) {
            self.announce_unchanged(Change::Resources);
        }
        record(&mut self.resources, &self.slot, cause, change);
    }

    fn announce_unchanged(&self, change: Change) {
        let server = Arc::clone(&self.slot.name);
        self.shared.events.send(HostEvent::UnchangedList { server, change });
    }
}

/// Records the outcome of a refresh in its schedule.
fn record(
    refresh: &mut Refresh,
    slot: &Slot,
    cause: Option<RefreshCause>,
    change: Result<ListChange, CallError>,
) {
    match (change, cause) {
        (Ok(change), Some(cause)) => refresh.done(cause, change),
        (Ok(_), None) => {}
        // The server declares a list that it does not have: trying again would not help.
        (Err(CallError::Remote(error)), _) => {
            tracing::debug!(server = %slot.name, %error, "the server refused one of its lists");
        }
        (Err(error), _) => {
            tracing::debug!(server = %slot.name, %error, "a list could not be fetched");
            refresh.failed();
        }
    }
}
