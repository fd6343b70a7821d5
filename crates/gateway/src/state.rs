//! The state that all views of a gateway share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use switchboard_host::Host;
use switchboard_protocol::Raw;
use switchboard_session::server::RequestContext;

use crate::access::Access;
use crate::log_levels::LogLevels;
use crate::options::GatewayOptions;
use crate::parked::ParkedCalls;
use crate::results::ResultStore;

/// The state that all views of a gateway share: the host in front of which they stand, who may call what, and the calls that
/// wait for an answer.
pub(crate) struct GatewayState {
    pub(crate) host: Host,
    pub(crate) options: GatewayOptions,
    pub(crate) access: Access,
    pub(crate) parked: Arc<ParkedCalls>,
    pub(crate) log_levels: Arc<LogLevels>,
    pub(crate) results: ResultStore,
    /// Clients that were asked to visit a URL, by the id of the elicitation.
    url_questions: Mutex<HashMap<String, RequestContext>>,
    has_settled: AtomicBool,
}

impl GatewayState {
    pub(crate) fn new(host: Host, options: GatewayOptions) -> Self {
        Self {
            parked: ParkedCalls::new(options.parked),
            access: Access::new(&options),
            results: ResultStore::new(options.results),
            host,
            options,
            log_levels: Arc::default(),
            url_questions: Mutex::default(),
            has_settled: AtomicBool::new(false),
        }
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
        // Removed: every view follows the events of the host, and the client is told once.
        let client = self.url_questions.lock().remove(id);
        if let Some(client) = client {
            let params = Raw::from(serde_json::json!({ "elicitationId": id }));
            client.notify("notifications/elicitation/complete", Some(&params));
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
