//! The state of one view: its exposed catalog, its publisher and its subscriptions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use switchboard_protocol::RpcError;
use switchboard_session::server::{Caller, Publisher};
use tokio::sync::watch;

use crate::error::not_subscribable;
use crate::exposed::Exposed;
use crate::policy::Subject;
use crate::resource_owner::ResourceOwner;
use crate::state::GatewayState;
use crate::subscriptions::Subscriptions;
use crate::task_followers::TaskFollowers;
use crate::view::ViewRules;
use crate::view_sessions::ViewSessionCounters;

/// The state of one view. Each view is a server of its own in front of the host that all views of a gateway share, so that it
/// publishes, and subscribes, for its own clients only.
pub(crate) struct ViewState {
    /// What all views share.
    pub(crate) gateway: Arc<GatewayState>,
    /// `None` for the view of everything.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) publisher: Publisher,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) followers: TaskFollowers,
    pub(crate) sessions: ViewSessionCounters,
    // Held while the catalog is exposed anew, never across an await.
    exposed: Mutex<Arc<Exposed>>,
    is_removed: AtomicBool,
    /// The number of calls under way.
    running: watch::Sender<usize>,
}

impl ViewState {
    pub(crate) fn new(gateway: Arc<GatewayState>, rules: Arc<ViewRules>) -> Self {
        let exposed = Exposed::new(&gateway.host.catalog(), &rules, gateway.options.prefix);
        Self {
            gateway,
            name: rules.name.clone(),
            publisher: Publisher::default(),
            subscriptions: Subscriptions::default(),
            followers: TaskFollowers::default(),
            sessions: ViewSessionCounters::default(),
            exposed: Mutex::new(Arc::new(exposed)),
            is_removed: AtomicBool::new(false),
            running: watch::Sender::new(0),
        }
    }

    /// Returns the exposed catalog of now.
    pub(crate) fn exposed(&self) -> Arc<Exposed> {
        let catalog = self.gateway.host.catalog();
        let mut exposed = self.exposed.lock();
        if exposed.revision < catalog.revision() {
            *exposed = Arc::new(Exposed::new(&catalog, &exposed.rules, self.gateway.options.prefix));
        }
        Arc::clone(&exposed)
    }

    /// Returns what the view shows, and how.
    pub(crate) fn rules(&self) -> Arc<ViewRules> {
        Arc::clone(&self.exposed.lock().rules)
    }

    /// Replaces what the view shows, and announces that all lists have changed.
    pub(crate) fn set_rules(&self, rules: &Arc<ViewRules>) {
        let catalog = self.gateway.host.catalog();
        *self.exposed.lock() = Arc::new(Exposed::new(&catalog, rules, self.gateway.options.prefix));
        self.announce_all();
    }

    /// Counts a call until the guard is dropped.
    pub(crate) fn begin_call(self: &Arc<Self>) -> RunningCall {
        // Nobody waits for a call to begin.
        self.running.send_if_modified(|running| {
            *running += 1;
            false
        });
        RunningCall(Arc::clone(self))
    }

    /// Waits until no call is under way.
    pub(crate) async fn calls_ended(&self) {
        let _ = self.running.subscribe().wait_for(|running| *running == 0).await;
    }

    /// Refuses all further requests.
    pub(crate) fn set_removed(&self) {
        self.is_removed.store(true, Ordering::Release);
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Acquire)
    }

    /// Returns the caller of a request, as rules see it: with the name of this view.
    pub(crate) fn subject<'a>(&'a self, caller: Option<&'a Caller>) -> Subject<'a> {
        Subject { view: self.name.as_deref(), ..Subject::from_caller(caller) }
    }

    /// Checks that a resource can be subscribed to, and returns its owner.
    ///
    /// # Errors
    /// When no server has it, or its server offers no subscriptions.
    pub(crate) fn subscribable(&self, uri: &str) -> Result<ResourceOwner, RpcError> {
        let owner = self.exposed().find_resource(uri)?;
        let info = self.gateway.host.session_info(&owner.server, None);
        let offers = info.is_none_or(|info| {
            info.capabilities.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
        });
        if offers {
            return Ok(owner);
        }
        Err(not_subscribable(uri))
    }

    /// Announces that all lists have changed.
    pub(crate) fn announce_all(&self) {
        self.publisher.tools_changed();
        self.publisher.prompts_changed();
        self.publisher.resources_changed();
    }
}

/// A call under way.
pub(crate) struct RunningCall(Arc<ViewState>);

impl RunningCall {
    /// Returns the state of the view that the call is in.
    pub(crate) fn state(&self) -> &Arc<ViewState> {
        &self.0
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.running.send_if_modified(|running| {
            *running -= 1;
            *running == 0
        });
    }
}
