//! The state of one view: its exposed catalog, its publisher and its subscriptions.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_protocol::RpcError;
use switchboard_session::server::{Caller, Publisher};

use crate::error::not_subscribable;
use crate::exposed::Exposed;
use crate::policy::Subject;
use crate::resource_owner::ResourceOwner;
use crate::state::GatewayState;
use crate::subscriptions::Subscriptions;

/// The state of one view. Each view is a server of its own in front of the host that all views of a gateway share, so that it
/// publishes, and subscribes, for its own clients only.
pub(crate) struct ViewState {
    /// What all views share.
    pub(crate) gateway: Arc<GatewayState>,
    /// `None` for the view of everything.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) publisher: Publisher,
    pub(crate) subscriptions: Subscriptions,
    // Held while the catalog is exposed anew, never across an await.
    exposed: Mutex<Arc<Exposed>>,
}

impl ViewState {
    pub(crate) fn new(gateway: Arc<GatewayState>) -> Self {
        let exposed = Exposed::new(&gateway.host.catalog(), gateway.options.prefix);
        Self {
            gateway,
            name: None,
            publisher: Publisher::default(),
            subscriptions: Subscriptions::default(),
            exposed: Mutex::new(Arc::new(exposed)),
        }
    }

    /// Returns the exposed catalog of now.
    pub(crate) fn exposed(&self) -> Arc<Exposed> {
        let catalog = self.gateway.host.catalog();
        let mut exposed = self.exposed.lock();
        if exposed.revision < catalog.revision() {
            *exposed = Arc::new(Exposed::new(&catalog, self.gateway.options.prefix));
        }
        Arc::clone(&exposed)
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
        let owner = self.exposed().owners.find(uri)?;
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
