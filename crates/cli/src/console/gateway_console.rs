//! The read-only console of a gateway, on an address of its own.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard::gateway::Gateway;
use switchboard::host::ServerSpec;
use switchboard::host::config::{Locations, ResolvedConfig};
use switchboard::login::AccountSelector;
use switchboard_console::providers::Providers;
use switchboard_console::{BoundConsole, Console, TrafficLog};

use super::console_logins::ConsoleLogins;
use super::console_server::{bind, show_page};
use super::gateway_entries::GatewayEntries;
use super::gateway_rules::GatewayRules;
use super::gateway_state::GatewayState;
use super::known_servers::KnownServers;
use super::page_opener::PageOpener;
use super::redirect_file::runtime_folder;
use crate::configured_servers::transport_secrets;
use crate::error::CommandError;
use crate::output::Screen;

/// What the console of a gateway shows.
pub(crate) struct ShownGateway<'a> {
    pub(crate) gateway: &'a Gateway,
    pub(crate) known: &'a Arc<KnownServers>,
    /// The addresses that clients connect to.
    pub(crate) endpoints: Vec<String>,
    /// Where the policy is written.
    pub(crate) policy_source: String,
    /// The file of the audit log.
    pub(crate) audit: Option<PathBuf>,
    /// Whether stored logins are sent.
    pub(crate) uses_logins: bool,
    pub(crate) locations: &'a Locations,
    /// The messages between the gateway and its servers.
    pub(crate) traffic: Option<Arc<TrafficLog>>,
}

/// The console of a gateway, bound and not served yet.
pub(crate) struct GatewayConsole {
    console: BoundConsole,
    opener: PageOpener,
}

impl GatewayConsole {
    /// Returns the log of the messages between a gateway and these servers. It records when a page asks for it.
    pub(crate) fn traffic(servers: &ResolvedConfig) -> Arc<TrafficLog> {
        let traffic = TrafficLog::on_demand();
        let specs = servers.servers.iter().filter_map(|server| ServerSpec::from_configured(server).ok());
        traffic.add_secrets(specs.flat_map(|spec| transport_secrets(&spec.transport)));
        Arc::new(traffic)
    }

    /// Binds a loopback address.
    ///
    /// # Errors
    /// Returns an error if the address is not a loopback one, or cannot be used.
    pub(crate) async fn bind(address: SocketAddr, shown: ShownGateway<'_>) -> Result<Self, CommandError> {
        let host = shown.gateway.host();
        let known = Arc::clone(shown.known);
        let logins =
            ConsoleLogins::new(host.clone(), Arc::clone(&known), AccountSelector::Any, shown.uses_logins);
        logins.refresh().await;
        let providers = Providers::default()
            .with_logins(Arc::new(logins))
            .with_config(Arc::new(GatewayEntries(known)))
            .with_policy(Arc::new(GatewayRules::new(shown.gateway, shown.policy_source)))
            .with_gateway(Arc::new(GatewayState::new(shown.gateway, shown.endpoints, shown.audit)));
        let mut builder = Console::builder(host.clone()).gateway().providers(providers);
        if let Some(traffic) = shown.traffic {
            builder = builder.traffic(traffic);
        }
        let console = bind(builder, address).await?;
        let opener = PageOpener::new(console.address(), runtime_folder(shown.locations), false, false);
        Ok(Self { console, opener })
    }

    /// Serves the page for as long as it is polled.
    ///
    /// # Errors
    /// Returns an error if the address of the page cannot be told.
    pub(crate) async fn serve(console: Option<Self>, screen: &Screen) -> Result<Infallible, CommandError> {
        let Some(Self { console, opener }) = console else { return std::future::pending().await };
        let links = console.links();
        tokio::select! {
            // Ends with this future.
            () = console.serve(std::future::pending()) => std::future::pending().await,
            failed = show_page(&links, &opener, screen) => failed,
        }
    }
}
