//! The entries of a gateway's servers for the console, which changes none of them.

use std::sync::Arc;

use switchboard_console::contract::{AddPlan, AddRequest, FirstRun};
use switchboard_console::providers::{
    BoxFuture, ConfigEditor, ProviderError, ProviderErrorKind, ServerEntry,
};

use super::known_servers::KnownServers;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

/// The entries of a gateway's servers.
#[derive(Debug)]
pub(crate) struct GatewayEntries(pub(crate) Arc<KnownServers>);

impl ConfigEditor for GatewayEntries {
    fn entry(&self, server: &str) -> Option<ServerEntry> {
        let configured = self.0.configured(server)?;
        let config = configured.entry.as_ref().map(|entry| entry.masked().to_string());
        let approve = format!("switchboard approve {}", shell_quote(&one_line(server)));
        let scope = Some(configured.scope.as_str().to_owned());
        Some(ServerEntry::new(scope, config.unwrap_or_else(|| "{}".to_owned()), approve))
    }

    fn first_run(&self) -> Option<FirstRun> {
        None
    }

    fn plan<'a>(&'a self, _: &'a AddRequest) -> BoxFuture<'a, Result<AddPlan, ProviderError>> {
        Box::pin(std::future::ready(Err(read_only())))
    }

    fn add<'a>(&'a self, _: &'a AddRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(std::future::ready(Err(read_only())))
    }

    fn add_demo<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(std::future::ready(Err(read_only())))
    }
}

fn read_only() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Forbidden, "read_only", "the console of a gateway is read-only")
        .with_next_step("change the configuration of the gateway, which is read again")
}
