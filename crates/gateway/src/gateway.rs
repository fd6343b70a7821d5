//! The gateway: servers, one for each view, in front of one host.

use std::sync::Arc;

use switchboard_host::{Host, HostBuilder, Validation};
use switchboard_session::server::{Server, ServerBuilder};

use crate::options::GatewayOptions;
use crate::policy::Policy;
use crate::questions::CAPABILITIES;
use crate::state::GatewayState;
use crate::status::GatewayStatus;
use crate::view_server::ViewServer;

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
        let state = Arc::new(GatewayState::new(host, options));
        let default_view = ViewServer::start(&state, &configure);
        Self { state, default_view: Arc::new(default_view) }
    }

    /// Returns the server, for any transport.
    pub fn server(&self) -> &Arc<Server> {
        &self.default_view.server
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        &self.state.host
    }

    /// Replaces the policy, and announces that all lists have changed. Calls under way go on.
    pub fn set_policy(&self, policy: Policy) {
        self.state.access.set_policy(policy);
        self.default_view.state.announce_all();
    }

    /// Returns the status of the servers, the withheld names and the parked calls.
    pub fn status(&self) -> GatewayStatus {
        let view = &self.default_view.state;
        GatewayStatus {
            servers: self.state.host.status(),
            withheld: view.exposed().withheld.clone(),
            parked_calls: self.state.parked.len(),
            subscriptions: view.subscriptions.len(),
        }
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("host", &self.state.host).finish_non_exhaustive()
    }
}
