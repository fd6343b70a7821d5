//! The state that all views of a gateway share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_host::Host;

use crate::access::Access;
use crate::active_calls::ActiveCalls;
use crate::options::GatewayOptions;
use crate::owned_tasks::OwnedTasks;
use crate::parked::ParkedCalls;
use crate::results::ResultStore;
use crate::sharing::Sharing;
use crate::task_questions::TaskQuestions;
use crate::url_questions::UrlQuestions;

/// The state that all views of a gateway share: the host in front of which they stand, who may call what, and the calls that
/// wait for an answer.
pub(crate) struct GatewayState {
    pub(crate) host: Host,
    pub(crate) options: GatewayOptions,
    pub(crate) access: Access,
    pub(crate) parked: Arc<ParkedCalls>,
    pub(crate) owned_tasks: OwnedTasks,
    pub(crate) task_questions: TaskQuestions,
    pub(crate) results: ResultStore,
    pub(crate) sharing: Sharing,
    pub(crate) url_questions: Arc<UrlQuestions>,
    pub(crate) active_calls: Arc<ActiveCalls>,
    has_settled: AtomicBool,
}

impl GatewayState {
    pub(crate) fn new(host: Host, options: GatewayOptions) -> Self {
        Self {
            parked: ParkedCalls::new(options.parked, Arc::clone(&options.replica)),
            access: Access::new(&options),
            results: ResultStore::new(options.results),
            host,
            options,
            owned_tasks: OwnedTasks::default(),
            task_questions: TaskQuestions::default(),
            sharing: Sharing::default(),
            url_questions: Arc::default(),
            active_calls: Arc::default(),
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
}
