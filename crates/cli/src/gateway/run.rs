//! `switchboard gateway`: serves all configured servers as one MCP server.

use std::io::IsTerminal;
use std::sync::Arc;

use switchboard::gateway::audit::{AuditFile, AuditLog};
use switchboard::gateway::view::View;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard_console::ClientTraffic;

use crate::args::GatewayArgs;
use crate::configured_servers::manifests;
use crate::connect::CLOSE_TIMEOUT;
use crate::console::{GatewayConsole, KnownServers, ShownGateway};
use crate::error::CommandError;
use crate::gateway::callers::check_credentials;
use crate::gateway::gateway_host::{host_builder, report_failures, served_specs};
use crate::gateway::listeners::Listeners;
use crate::gateway::metrics::MetricsServer;
use crate::gateway::pinned_definitions::PinnedDefinitions;
use crate::gateway::reload::{Reloader, RunningGateway};
use crate::gateway::serve::serve;
use crate::gateway::settings::GatewaySettings;
use crate::gateway::telemetry;
use crate::gateway::unmatched_rules::warn_when_tools_are_known;
use crate::output::Screen;
use crate::sanitize::one_line;
use crate::signals::Signals;

/// Serves until the client disconnects or a signal arrives, lets calls under way finish, then stops the servers.
///
/// # Errors
/// Returns an error if the configuration is not valid, or an address or stdin and stdout cannot be used.
pub(crate) async fn run(args: &GatewayArgs) -> Result<(), CommandError> {
    let signals = Signals::catch()?;
    let screen = Screen::new();
    let mut settings = GatewaySettings::load(args)?;
    check_has_client(&settings)?;
    check_view(args, &settings)?;
    for error in &settings.servers.errors {
        screen.warn(&one_line(&error.to_string()));
    }
    for warning in &settings.servers.warnings {
        screen.warn(&one_line(&warning.to_string()));
    }
    check_credentials(&settings).await?;
    let (mut options, audit) = access_options(&mut settings, &screen)?;
    let listeners = Listeners::bind(&settings).await?;
    let metrics = MetricsServer::bind(&settings).await?;
    options.metrics = metrics.as_ref().map(MetricsServer::metrics);
    let options = telemetry::trace_gateway(options);
    let pins = PinnedDefinitions::open(&settings)?;
    let mut builder = host_builder(&settings, &screen)?;
    let traffic = args.console.map(|_| GatewayConsole::traffic(&settings.servers));
    if let Some(traffic) = &traffic {
        let observer = Arc::clone(traffic);
        builder = builder.with_traffic_observer(observer);
    }
    let host = builder.build();
    let telemetry = telemetry::start(&host)?;
    let (events, tool_events, policy) = (host.events(), host.events(), Arc::clone(&options.policy));
    for (name, spec) in served_specs(&settings, &screen) {
        if let Err(error) = host.add(name.clone(), spec) {
            screen.warn(&format!("{}: {}", one_line(&name), one_line(&error.to_string())));
        }
    }
    let manifests = manifests::store(&settings.locations);
    let gateway = match traffic.clone() {
        Some(traffic) => Gateway::with_layers(host.clone(), options.clone(), move |builder| {
            builder.traffic_observer(Arc::new(ClientTraffic::new(Arc::clone(&traffic))))
        }),
        None => Gateway::new(host.clone(), options.clone()),
    };
    let uses_logins = !settings.is_open_by_default();
    let verifier = listeners.verifier.clone();
    let known = Arc::new(KnownServers::default());
    known.set_files(settings.servers.clone());
    let console = match args.console {
        Some(address) => {
            let shown = ShownGateway {
                gateway: &gateway,
                known: &known,
                endpoints: listeners.endpoints(),
                policy_source: settings.policy_source(),
                audit: settings.config.audit.as_ref().map(|audit| audit.path.clone()),
                uses_logins,
                locations: &settings.locations,
                traffic,
            };
            Some(GatewayConsole::bind(address, shown).await?)
        }
        None => None,
    };
    let running = RunningGateway { gateway, options, verifier, known };
    let mut reloader = Reloader::new(args, settings, running, &screen)?;
    let served = tokio::select! {
        served = serve(listeners, &mut reloader, signals, args.view.as_deref()) => served,
        never = report_failures(events, uses_logins, &screen) => match never {},
        never = warn_when_tools_are_known(tool_events, &host, &policy, &screen) => match never {},
        never = pins.follow(&host, &screen) => match never {},
        never = manifests.follow(&host) => match never {},
        never = MetricsServer::serve(metrics, &screen) => match never {},
        failed = GatewayConsole::serve(console, &screen) => failed.map(|never| match never {}),
    };
    telemetry::keep_host_metrics(&telemetry);
    match served {
        // The supervisors stop the servers.
        Err(CommandError::Interrupted { .. }) => {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, host.close_detached()).await;
        }
        // A service manager kills what is left when this process has ended.
        _ => {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, host.close()).await;
        }
    }
    // After the servers: the sessions with them have ended.
    telemetry::finish(telemetry, &screen).await;
    if let Some(audit) = audit
        && let Err(error) = audit.close(CLOSE_TIMEOUT).await
    {
        screen.warn(&one_line(&error.to_string()));
    }
    served
}

/// Checks that a person has not started a gateway for a program by mistake.
fn check_has_client(settings: &GatewaySettings) -> Result<(), CommandError> {
    let listen = &settings.config.listen;
    if listen.http.is_some() || listen.unix.is_some() || listen.stdio || !std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(CommandError::usage("a gateway is started by a client, or serves over HTTP")
        .hint("pass --http 127.0.0.1:8080, or --stdio to speak to it on this terminal"))
}

/// Checks that the view to be served exists, and that nothing else is served.
fn check_view(args: &GatewayArgs, settings: &GatewaySettings) -> Result<(), CommandError> {
    let Some(name) = &args.view else { return Ok(()) };
    let listen = &settings.config.listen;
    if listen.http.is_some() || listen.unix.is_some() {
        return Err(CommandError::usage(
            "--view serves one view on stdin and stdout, and the file listens on a socket",
        )
        .hint(format!("connect to /mcp/{} instead, or remove `listen` from the file", one_line(name))));
    }
    if settings.views.iter().any(|view| view.name() == name) {
        return Ok(());
    }
    let names: Vec<&str> = settings.views.iter().map(View::name).collect();
    let hint = match names.is_empty() {
        true => "the file has no [views.NAME] tables; docs/gateway.md describes them".to_owned(),
        false => format!("the views are {}", names.join(", ")),
    };
    Err(CommandError::usage(format!("there is no view {:?}", one_line(name))).hint(hint))
}

/// Returns the options of the gateway, and opens the audit log.
fn access_options(
    settings: &mut GatewaySettings,
    screen: &Screen,
) -> Result<(GatewayOptions, Option<AuditLog>), CommandError> {
    let mut options = settings.config.options().with_replaceable_access();
    let audit = match &settings.config.audit {
        Some(audit) => {
            let file = AuditFile::open(&audit.path, audit.file_options())
                .map_err(|error| CommandError::other("io", one_line(&error.to_string())))?;
            Some(AuditLog::start(file, audit.options()))
        }
        None => None,
    };
    options.views.clone_from(&settings.views);
    options.audit.clone_from(&audit);
    Ok((settings.apply_policy(options, screen), audit))
}
