//! The host of a gateway: rules, pins and stored logins of this user, and warnings about its servers.

use std::sync::Arc;

use switchboard::gateway::Gateway;
use switchboard::host::config::{OffReason, ResolvedConfig, StartPolicy};
use switchboard::host::permission::{FallbackPolicy, Gate, Ledger, Policy};
use switchboard::host::{DriftPolicy, Host, HostBuilder, HostEvent, HostEvents, ServerSpec, Status};

use crate::configured_servers::manifests;
use crate::error::CommandError;
use crate::gateway::pinned_definitions::PinnedDefinitions;
use crate::gateway::settings::GatewaySettings;
use crate::gateway::telemetry;
use crate::login::open_logins;
use crate::output::Screen;
use crate::sanitize::one_line;

/// Builds the host: rules and stored logins of this user apply. A call that a rule wants confirmed is refused, because nobody
/// is here to ask; all others are allowed, because clients ask their users. A gateway that everyone can use without having
/// been told so uses no logins, also none that is made while it runs.
///
/// # Errors
/// Returns an error if the remembered answers or the pinned definitions cannot be read: neither a denial nor a pin must be lost.
pub(crate) fn build_host(settings: &GatewaySettings, screen: &Screen) -> Result<Host, CommandError> {
    Ok(host_builder(settings, screen)?.build())
}

/// As [`build_host`], before the host is built.
///
/// # Errors
/// As [`build_host`].
pub(crate) fn host_builder(settings: &GatewaySettings, screen: &Screen) -> Result<HostBuilder, CommandError> {
    let permissions = &settings.locations.permissions;
    let ledger = Ledger::open(permissions).map_err(|error| {
        let message = format!("cannot read the remembered answers: {}", one_line(&error.to_string()));
        CommandError::other("permissions", message)
            .hint(format!("repair or remove {}", one_line(&permissions.display().to_string())))
    })?;
    let gate = Gate::new(call_rules(&settings.servers)).with_ledger(ledger);
    gate.set_servers_from_config(&settings.servers);
    let pins = PinnedDefinitions::open(settings)?.pins();
    let drift = settings.config.drift.unwrap_or(DriftPolicy::Withhold);
    let mut builder = telemetry::trace_host(Gateway::host_builder()).permissions(gate).with_pins(pins, drift);
    if !settings.is_open_by_default()
        && let Some(logins) = open_logins(screen)
    {
        builder = builder.with_credentials(Arc::new(logins));
    }
    Ok(builder)
}

/// Replaces the rules about calls by those of the files.
pub(crate) fn set_call_rules(host: &Host, servers: &ResolvedConfig) {
    if let Some(gate) = host.permissions() {
        gate.set_policy(call_rules(servers));
    }
}

fn call_rules(servers: &ResolvedConfig) -> Policy {
    Policy::new(servers.rules.clone()).with_fallback(FallbackPolicy::AllowAll)
}

/// Returns the specs of the servers that a gateway serves: a child process whose lists are remembered is started when it is
/// used.
pub(crate) fn served_specs(settings: &GatewaySettings, screen: &Screen) -> Vec<(String, ServerSpec)> {
    let manifests = manifests::store(&settings.locations);
    let specs = server_specs(&settings.servers, screen).into_iter();
    specs
        .map(|(name, spec)| {
            let spec = manifests::start_when_used(&manifests, &name, spec, screen);
            (name, spec)
        })
        .collect()
}

/// Returns the specs of the servers; warns about those that are off or cannot be run.
pub(crate) fn server_specs(servers: &ResolvedConfig, screen: &Screen) -> Vec<(String, ServerSpec)> {
    let mut specs = Vec::new();
    for server in &servers.servers {
        let name = one_line(&server.name);
        let spec = match ServerSpec::from_configured(server) {
            Ok(spec) => spec,
            Err(error) => {
                screen.warn(&format!("{name}: {}", one_line(&error.to_string())));
                continue;
            }
        };
        match spec.start {
            StartPolicy::Off(OffReason::Disabled) => {
                screen.warn(&format!("{name} is disabled: `switchboard enable {name}`"));
            }
            StartPolicy::Off(OffReason::Unapproved) => {
                screen.warn(&format!("{name} is not approved: `switchboard approve {name}`"));
            }
            _ => {}
        }
        specs.push((server.name.clone(), spec));
    }
    specs
}

/// Prints a warning for each server that is given up or requires a login.
pub(crate) async fn report_failures(
    mut events: HostEvents,
    uses_logins: bool,
    screen: &Screen,
) -> std::convert::Infallible {
    while let Some(event) = events.next().await {
        match event {
            HostEvent::Status { server, status: Status::Failed(failure) } => {
                let (server, failure) = (one_line(&server), one_line(&failure.to_string()));
                screen.warn(&format!("{server} failed: {failure}"));
            }
            HostEvent::Status { server, status: Status::NeedsAuth(_) } => {
                let server = one_line(&server);
                screen.warn(&match uses_logins {
                    true => format!("{server} needs a login: `switchboard login {server}`"),
                    false => format!(
                        "{server} needs a login, which a gateway that everyone can use does not use: pass --api-keys, or \
                         --anonymous to lend it to everyone"
                    ),
                });
            }
            _ => {}
        }
    }
    std::future::pending().await
}
