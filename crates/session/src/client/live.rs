//! An open session: the link, the terms, and what is kept of what the server said.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use parking_lot::Mutex;
use switchboard_protocol::{Prompt, Raw, Resource, ResourceTemplate, Root, Tool};

use crate::client::State;
use crate::client::alarm::Alarms;
use crate::client::cache::Cache;
use crate::client::call::Call;
use crate::client::change_stream::Hub;
use crate::client::clock::Clock;
use crate::client::handler::ClientHandler;
use crate::client::lists::{Entry, Freshness, Holding, List, ListKind, ListMethod, Shelf};
use crate::client::state::Standing;
use crate::client::subscribe::HeardLists;
use crate::client::upcalls::Answering;
use crate::era::{ClientDialect, Hearing, Opening, SessionInfo};
use crate::link::{Counters, Link};
use crate::request::{CallError, Limits};

/// An open session.
pub(crate) struct Live {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) dialect: ClientDialect,
    pub(crate) terms: SessionInfo,
    pub(crate) ids: AtomicI64,
    pub(super) opening: Arc<Opening>,
    pub(crate) clock: Clock,
    pub(crate) alarms: Alarms,
    pub(crate) answers: Arc<dyn ClientHandler>,
    pub(crate) answering: Answering,
    pub(crate) roots: Mutex<Vec<Root>>,
    pub(crate) tools: Shelf<Tool>,
    pub(crate) prompts: Shelf<Prompt>,
    pub(crate) resources: Shelf<Resource>,
    pub(crate) templates: Shelf<ResourceTemplate>,
    pub(crate) cache: Cache,
    pub(crate) changes: Hub,
    /// How many listen to each resource that is subscribed to.
    pub(crate) subscribed: Mutex<HashMap<String, usize>>,
    pub(crate) heard_lists: Mutex<HeardLists>,
    pub(super) state: Arc<Standing>,
}

impl Live {
    pub(crate) fn limits(&self) -> &Limits {
        &self.opening.limits
    }

    /// A list, if the server offers what is in it.
    pub(super) async fn list<T: Entry>(
        &self,
        shelf: &Shelf<T>,
        what: &ListMethod,
        freshness: Freshness,
    ) -> Result<Arc<List<T>>, CallError> {
        if !self.offers_list(what.kind) {
            return Ok(Arc::new(List::empty()));
        }
        shelf.get(self, what, freshness).await
    }

    fn offers_list(&self, kind: ListKind) -> bool {
        let offered = &self.terms.capabilities;
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
        self.terms.capabilities.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
    }

    /// How a list without a lifetime is kept: as long as somebody would tell of a change.
    pub(crate) fn holding(&self, what: &ListMethod) -> Holding {
        let heard = *self.heard_lists.lock();
        let streams = match what.kind {
            ListKind::Tools => heard.tools,
            ListKind::Prompts => heard.prompts,
            ListKind::Resources => heard.resources,
        };
        match self.dialect.hearing() {
            Hearing::Standing => Holding::UntilTold,
            Hearing::OnRequest if streams > 0 => Holding::UntilTold,
            Hearing::OnRequest => Holding::Never,
        }
    }

    pub(crate) fn forget_lists(&self) {
        self.tools.forget();
        self.prompts.forget();
        self.resources.forget();
        self.templates.forget();
        self.cache.forget(&["resources/read"]);
    }

    /// Reads a resource, from the cache while the server says it is good.
    pub(super) async fn read(&self, uri: &str, params: &Raw) -> Result<Raw, CallError> {
        const METHOD: &str = "resources/read";
        self.offers(self.terms.capabilities.resources.is_some(), "resources")?;
        if let Some(kept) = self.cache.find(METHOD, params.as_str()) {
            return Ok(kept);
        }
        let epoch = self.cache.epoch();
        let mut call = Call::new(METHOD, params.as_str()).about(uri).within(self.limits().read);
        let finished = self.call_through(&mut call).await?;
        if !finished.took_input {
            self.cache.keep(METHOD, params.as_str(), &finished.result, epoch, self.limits());
        }
        Ok(finished.result)
    }

    pub(crate) fn count(&self, count: impl FnOnce(&Counters) -> u64) {
        if let Some(counters) = self.link.counters() {
            count(&counters);
        }
    }

    /// The link is gone: the session has failed, unless it was closed.
    pub(crate) fn link_ended(&self) {
        self.changes.close();
        let Some(error) = self.link.ended() else { return };
        self.state.change(|state| matches!(state, State::Ready), State::Failed(error.into()));
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("terms", &self.terms).finish_non_exhaustive()
    }
}
