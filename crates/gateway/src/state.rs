//! The state that all requests of a gateway share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use switchboard_host::Host;
use switchboard_protocol::{Raw, RpcError};
use switchboard_session::server::{Publisher, RequestContext};

use crate::access::Access;
use crate::exposed::Exposed;
use crate::log_levels::LogLevels;
use crate::options::GatewayOptions;
use crate::parked::ParkedCalls;
use crate::resource_owner::ResourceOwner;
use crate::status::GatewayStatus;
use crate::subscriptions::Subscriptions;

/// The state of a gateway.
pub(crate) struct GatewayState {
    pub(crate) host: Host,
    pub(crate) options: GatewayOptions,
    pub(crate) access: Access,
    pub(crate) publisher: Publisher,
    pub(crate) parked: Arc<ParkedCalls>,
    pub(crate) log_levels: Arc<LogLevels>,
    pub(crate) subscriptions: Subscriptions,
    /// Clients that were asked to visit a URL, by the id of the elicitation.
    url_questions: Mutex<HashMap<String, RequestContext>>,
    // Held while the catalog is exposed anew, never across an await.
    exposed: Mutex<Arc<Exposed>>,
    has_settled: AtomicBool,
}

impl GatewayState {
    pub(crate) fn new(host: Host, options: GatewayOptions) -> Self {
        let exposed = Exposed::new(&host.catalog(), options.prefix);
        Self {
            parked: ParkedCalls::new(options.parked),
            access: Access::new(&options),
            host,
            options,
            publisher: Publisher::default(),
            log_levels: Arc::default(),
            subscriptions: Subscriptions::default(),
            url_questions: Mutex::default(),
            exposed: Mutex::new(Arc::new(exposed)),
            has_settled: AtomicBool::new(false),
        }
    }

    /// Returns the exposed catalog of now.
    pub(crate) fn exposed(&self) -> Arc<Exposed> {
        let catalog = self.host.catalog();
        let mut exposed = self.exposed.lock();
        if exposed.revision < catalog.revision() {
            *exposed = Arc::new(Exposed::new(&catalog, self.options.prefix));
        }
        Arc::clone(&exposed)
    }

    /// Returns whether the servers have had their time to start.
    pub(crate) fn has_settled(&self) -> bool {
        self.has_settled.load(Ordering::Acquire)
    }

    /// Waits, once, until every server is connected or has failed, within the startup wait.
    pub(crate) async fn settle(&self) {
        if self.has_settled() {
            return;
        }
        let all = async {
            for server in self.host.servers() {
                // Its failure is in the status.
                let _ = self.host.ready(&server).await;
            }
        };
        let _ = tokio::time::timeout(self.options.startup_wait, all).await;
        self.has_settled.store(true, Ordering::Release);
    }

    /// Checks that a resource can be subscribed to, and returns its owner.
    ///
    /// # Errors
    /// When no server has it, or its server offers no subscriptions.
    pub(crate) fn subscribable(&self, uri: &str) -> Result<ResourceOwner, RpcError> {
        let owner = self.exposed().owners.find(uri)?;
        let status = self.host.state(&owner.server).ok();
        let info = status.as_ref().and_then(|status| status.session_info());
        let offers = info.is_none_or(|info| {
            info.capabilities.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
        });
        if offers {
            return Ok(owner);
        }
        let data = Raw::from(serde_json::json!({ "uri": uri, "reason": "not_subscribable" }));
        let message = format!("the server of {uri} does not announce updates; read it again instead");
        Err(RpcError::invalid_params(message).with_data(data))
    }

    /// Remembers which client was asked to visit a URL, until the guard is dropped.
    pub(crate) fn register_url_question(
        self: &Arc<Self>,
        id: &str,
        client: &RequestContext,
    ) -> UrlQuestionGuard {
        self.url_questions.lock().insert(id.to_owned(), client.clone());
        UrlQuestionGuard { state: Arc::clone(self), id: id.to_owned() }
    }

    /// Tells the client that was asked that the server has what it needs.
    pub(crate) fn url_question_done(&self, id: &str) {
        let client = self.url_questions.lock().get(id).cloned();
        if let Some(client) = client {
            let params = Raw::from(serde_json::json!({ "elicitationId": id }));
            client.notify("notifications/elicitation/complete", Some(&params));
        }
    }

    pub(crate) fn status(&self) -> GatewayStatus {
        GatewayStatus {
            servers: self.host.status(),
            withheld: self.exposed().withheld.clone(),
            parked_calls: self.parked.len(),
            subscriptions: self.subscriptions.len(),
        }
    }
}

/// Forgets a URL question on drop.
pub(crate) struct UrlQuestionGuard {
    state: Arc<GatewayState>,
    id: String,
}

impl Drop for UrlQuestionGuard {
    fn drop(&mut self) {
        self.state.url_questions.lock().remove(&self.id);
    }
}
