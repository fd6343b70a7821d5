//! The read-only console of a gateway, on an address of its own.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard::gateway::Gateway;
use switchboard::host::config::Locations;
use switchboard::login::AccountSelector;
use switchboard_console::providers::Providers;

use super::console_logins::ConsoleLogins;
use super::console_server::{ConsoleServer, show_page};
use super::gateway_entries::GatewayEntries;
use super::gateway_rules::GatewayRules;
use super::gateway_state::GatewayState;
use super::known_servers::KnownServers;
use super::page_opener::PageOpener;
use super::redirect_file::runtime_folder;
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
}

/// The console of a gateway, bound and not served yet.
pub(crate) struct GatewayConsole {
    server: ConsoleServer,
    opener: PageOpener,
}

impl GatewayConsole {
    /// Binds a loopback address.
    ///
    /// # Errors
    /// Returns an error if the address is not a loopback one, or cannot be used.
    pub(crate) async fn bind(address: SocketAddr, shown: ShownGateway<'_>) -> Result<Self, CommandError> {
        if !address.ip().is_loopback() {
            return Err(CommandError::usage(format!("--console: {address} can be reached from other machines"))
                .hint("pass an address like 127.0.0.1:9300; forward the port to see it from elsewhere"));
        }
        let host = shown.gateway.host();
        let known = Arc::clone(shown.known);
        let logins = ConsoleLogins::new(host.clone(), Arc::clone(&known), AccountSelector::Any, shown.uses_logins);
        logins.refresh().await;
        let providers = Providers::default()
            .with_logins(Arc::new(logins))
            .with_config(Arc::new(GatewayEntries(known)))
            .with_policy(Arc::new(GatewayRules::new(shown.gateway, shown.policy_source)))
            .with_gateway(Arc::new(GatewayState::new(shown.gateway, shown.endpoints, shown.audit)));
        let server = ConsoleServer::bind_gateway(address, host, providers).await?;
        let opener = PageOpener::new(server.origin(), runtime_folder(shown.locations), false, false);
        Ok(Self { server, opener })
    }

    /// Serves the page for as long as it is polled.
    ///
    /// # Errors
    /// Returns an error if the address of the page cannot be told.
    pub(crate) async fn serve(console: Option<Self>, screen: &Screen) -> Result<Infallible, CommandError> {
        let Some(Self { server, opener }) = console else { return std::future::pending().await };
        tokio::select! {
            never = server.serve() => match never {},
            failed = show_page(&server, &opener, screen) => failed,
        }
    }
}
