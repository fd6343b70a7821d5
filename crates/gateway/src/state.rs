//! The state that all views of a gateway share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_host::{Host, WithheldReason};

use crate::access::Access;
use crate::active_calls::ActiveCalls;
use crate::audit::AuditLog;
use crate::metrics::{GatewaySnapshot, UpstreamSnapshot};
use crate::options::GatewayOptions;
use crate::owned_tasks::OwnedTasks;
use crate::parked::ParkedCalls;
use crate::results::ResultStore;
use crate::sharing::Sharing;
use crate::status::QuarantinedTool;
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

    /// Returns the tools that are withheld because their definitions have changed.
    pub(crate) fn quarantined_tools(&self) -> Vec<QuarantinedTool> {
        let servers = self.host.servers().into_iter();
        let of_server = |server: String| {
            let withheld =
                self.host.tool_list_issues(&server).map(|issues| issues.withheld).unwrap_or_default();
            let drifted = withheld.into_iter().filter(|(_, reason)| *reason == WithheldReason::Drifted);
            drifted.map(|(tool, _)| QuarantinedTool { server: server.clone(), tool }).collect::<Vec<_>>()
        };
        servers.flat_map(of_server).collect()
    }

    /// Returns the state for metrics.
    pub(crate) fn snapshot(&self, subscriptions: usize) -> GatewaySnapshot {
        let quarantined = self.quarantined_tools();
        let upstream = |name: String| {
            let status = self.host.state(&name).ok()?;
            let calls = self.host.server_metrics(&name).unwrap_or_default();
            let count = quarantined.iter().filter(|tool| tool.server == name).count();
            Some(UpstreamSnapshot {
                state: status.kind().as_str(),
                revision: status.session_info().map(|info| info.revision),
                running_calls: calls.running,
                queued_calls: calls.queued,
                reconnects: calls.reconnects,
                processes: self.host.process_count(&name).unwrap_or_default() as u64,
                quarantined: count as u64,
                name,
            })
        };
        GatewaySnapshot {
            upstreams: self.host.servers().into_iter().filter_map(upstream).collect(),
            parked: self.parked.len(),
            subscriptions,
            sessions: 0,
            audit: self.access.audit().as_ref().map(AuditLog::counts),
        }
    }
}
