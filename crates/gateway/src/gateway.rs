//! The gateway: servers, one for each view, in front of one host.

use std::sync::Arc;

use switchboard_host::{Host, HostBuilder, Validation};
use switchboard_session::server::{Server, ServerBuilder};
use switchboard_transport::http::server::SessionCounter;

use crate::limits::LimitStatus;
use crate::metrics::GatewayMetrics;
use crate::options::{GatewayOptions, ParkedLimits};
use crate::policy::Policy;
use crate::questions::CAPABILITIES;
use crate::refusal::RefusalStream;
use crate::state::GatewayState;
use crate::status::{GatewayStatus, ParkedCallStatus, ViewStatus};
use crate::view::View;
use crate::view_server::ViewServer;
use crate::view_state::ViewState;
use crate::view_table::ViewTable;

/// A server in front of the servers of a host.
///
/// ```
/// use switchboard::gateway::{Gateway, GatewayOptions};
/// use switchboard::InProcess;
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Gateway::host_builder().build();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let gateway = Gateway::new(host, GatewayOptions::default());
/// // On stdin and stdout: switchboard::serve_stdio(gateway.server()).await
/// assert_eq!(gateway.status().servers[0].name, "sums");
/// assert!(gateway.status().withheld.is_empty());
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct Gateway {
    state: Arc<GatewayState>,
    /// The view without a name: everything of all servers.
    default_view: Arc<ViewServer>,
    named: Arc<ViewTable>,
}

impl Gateway {
    /// Returns the builder of a host for a gateway: it keeps all lists, declares the questions that clients of the gateway may
    /// be able to answer, and leaves the validation of arguments to the servers.
    pub fn host_builder() -> HostBuilder {
        Host::builder()
            .with_name("switchboard-gateway", env!("CARGO_PKG_VERSION"))
            .with_all_lists()
            .with_endless_retries()
            .with_abilities(CAPABILITIES)
            .with_validation(Validation::Off)
            .without_resource_tools()
    }

    /// Creates a gateway in front of a host, which [`Self::host_builder`] has built.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn new(host: Host, options: GatewayOptions) -> Self {
        Self::with_layers(host, options, |builder| builder)
    }

    /// As [`Self::new`]; `configure` may add layers, limits and keys to the server of each view.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn with_layers(
        host: Host,
        options: GatewayOptions,
        configure: impl Fn(ServerBuilder) -> ServerBuilder + Send + Sync + 'static,
    ) -> Self {
        let views = options.views.clone();
        let state = Arc::new(GatewayState::new(host, options));
        let default_view = ViewServer::start(&state, Arc::default(), &configure);
        let named = Arc::new(ViewTable::new(Box::new(configure)));
        named.replace(&state, views);
        let gateway = Self { state, default_view: Arc::new(default_view), named };
        if let Some(metrics) = gateway.state.access.metrics() {
            let (state, view) = (Arc::downgrade(&gateway.state), Arc::downgrade(&gateway.default_view));
            let named = Arc::downgrade(&gateway.named);
            metrics.set_source(move || {
                let (state, view, named) = (state.upgrade()?, view.upgrade()?, named.upgrade()?);
                let of_named = named.all().iter().map(|view| view.state.subscriptions.len()).sum::<usize>();
                Some(state.snapshot(view.state.subscriptions.len() + of_named))
            });
        }
        gateway
    }

    /// Returns the server of the view of everything, for any transport.
    pub fn server(&self) -> &Arc<Server> {
        &self.default_view.server
    }

    /// Returns the server of a view, for any transport.
    pub fn view(&self, name: &str) -> Option<Arc<Server>> {
        Some(Arc::clone(&self.named.get(name)?.server))
    }

    /// Returns the names of the views.
    pub fn views(&self) -> Vec<Arc<str>> {
        self.named.all().iter().filter_map(|view| view.state.name.clone()).collect()
    }

    /// Counts the sessions of an HTTP service of the view of everything.
    pub(crate) fn count_sessions(&self, counter: SessionCounter) {
        self.default_view.state.sessions.add(counter);
    }

    pub(crate) fn view_server(&self, name: &str) -> Option<Arc<ViewServer>> {
        self.named.get(name)
    }

    /// Replaces the views. The lists of one that has changed are announced as changed; the sessions of one that is gone, or
    /// that has other capabilities now, end. Calls under way go on.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn set_views(&self, views: impl IntoIterator<Item = View>) {
        self.named.replace(&self.state, views.into_iter().collect());
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        &self.state.host
    }

    /// Returns the name of this process among the replicas of the gateway.
    pub(crate) fn replica(&self) -> &str {
        &self.state.options.replica
    }

    /// Returns the metrics, if the options have any.
    pub fn metrics(&self) -> Option<&Arc<GatewayMetrics>> {
        self.state.access.metrics()
    }

    /// Replaces the policy, and announces that all lists have changed. Streams of `subscriptions/listen` end, so that the new
    /// policy decides about them; calls under way go on.
    pub fn set_policy(&self, policy: Policy) {
        self.state.access.set_policy(policy);
        self.announce_access();
    }

    /// Replaces policy, limits and audit log by those of these options, in one step, and announces that all lists have
    /// changed. Streams of `subscriptions/listen` end; calls under way go on. Limits and an audit log are added only to a gateway that was built
    /// [for it](GatewayOptions::with_replaceable_access).
    pub fn set_access(&self, options: &GatewayOptions) {
        self.state.access.replace(options);
        self.announce_access();
    }

    fn announce_access(&self) {
        for view in self.named.all().iter().chain([&self.default_view]) {
            view.state.announce_all();
            view.server.publisher().end_subscriptions();
        }
    }

    /// Refuses new calls with the reason `shutting_down`, and waits until those under way have ended. Calls that wait for
    /// the answer to a question are not waited for: the answer is refused like a new call. Lists and the answers of legacy
    /// clients are still served.
    ///
    /// # Cancellation
    /// New calls are refused nevertheless.
    pub async fn drain(&self) {
        self.state.access.drain.drain().await;
    }

    /// Returns whether new calls are refused because the gateway is shutting down.
    pub fn is_draining(&self) -> bool {
        self.state.access.drain.is_draining()
    }

    /// Returns how many calls are under way, without those that wait for the answer to a question.
    pub fn running_calls(&self) -> usize {
        self.state.access.drain.running_calls()
    }

    /// Returns the status of the servers, the withheld names and the parked calls.
    pub fn status(&self) -> GatewayStatus {
        let view = &self.default_view.state;
        GatewayStatus {
            servers: self.state.host.status(),
            quarantined: self.state.quarantined_tools(),
            withheld: view.exposed().withheld.clone(),
            parked_calls: self.state.parked.len(),
            subscriptions: view.subscriptions.len(),
            tools: view.exposed().tool_count(),
            sessions: view.sessions.count()
                + self.named.all().iter().map(|view| view.state.sessions.count()).sum::<usize>(),
            views: self.named.all().iter().map(|view| view_status(&view.state)).collect(),
        }
    }

    /// Returns the calls that wait for the answer to a question, the oldest first.
    pub fn parked_calls(&self) -> Vec<ParkedCallStatus> {
        self.state.parked.status()
    }

    /// Returns the limits of parked calls.
    pub fn parked_limits(&self) -> ParkedLimits {
        self.state.options.parked
    }

    /// Returns the policy.
    pub fn policy(&self) -> Arc<Policy> {
        self.state.access.policy()
    }

    /// Returns the limits in order, with what each has refused.
    pub fn limits(&self) -> Vec<LimitStatus> {
        self.state.access.limits().map(|limits| limits.status()).unwrap_or_default()
    }

    /// Returns the requests that are refused from now on: for operators, never for callers.
    pub fn refusals(&self) -> RefusalStream {
        self.state.access.refusals.subscribe()
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("host", &self.state.host).finish_non_exhaustive()
    }
}

fn view_status(view: &ViewState) -> ViewStatus {
    let exposed = view.exposed();
    ViewStatus {
        name: view.name.as_deref().unwrap_or_default().to_owned(),
        withheld: exposed.withheld.clone(),
        warnings: exposed.warnings.clone(),
        subscriptions: view.subscriptions.len(),
        tools: exposed.tool_count(),
        sessions: view.sessions.count(),
    }
}
