//! `switchboard gateway`: serves all configured servers as one MCP server.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard::gateway::audit::{AuditFile, AuditFileOptions, AuditLog, AuditOptions, AuditPolicy};
use switchboard::gateway::{Gateway, GatewayEndpoint, GatewayOptions};
use switchboard::host::config::{OffReason, ResolvedConfig, StartPolicy};
use switchboard::host::permission::{FallbackPolicy, Gate, Ledger, Policy};
use switchboard::host::{DriftPolicy, Host, HostEvent, HostEvents, ServerSpec, Status};
use switchboard::serve_stdio;
use switchboard::server::{HttpListener, HttpServerOptions, ListenerLimits};

use crate::args::GatewayArgs;
use crate::command::policy::{self, LoadedPolicy};
use crate::configured_servers::{ConfigFiles, NO_SERVERS_HINT, pins};
use crate::connect::CLOSE_TIMEOUT;
use crate::error::CommandError;
use crate::login::open_logins;
use crate::output::Screen;
use crate::sanitize::one_line;
use crate::signals::Signals;

/// Time for calls in progress to finish after a signal.
const DRAIN: Duration = Duration::from_secs(5);
/// Loopback host names.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Serves until the client disconnects or a signal arrives, then stops the servers.
///
/// # Errors
/// Returns an error if nothing is configured, or the address or stdin and stdout cannot be used.
pub(crate) async fn run(args: &GatewayArgs) -> Result<(), CommandError> {
    if args.http.is_none() && !args.stdio && std::io::stdin().is_terminal() {
        return Err(CommandError::usage("a gateway is started by a client, or serves over HTTP")
            .hint("pass --http 127.0.0.1:8080, or --stdio to speak to it on this terminal"));
    }
    let signals = Signals::catch()?;
    let screen = Screen::new();
    let files = ConfigFiles::read()?;
    files.warn(&screen);
    if files.resolved.servers.is_empty() {
        return Err(CommandError::usage("no servers are configured").hint(NO_SERVERS_HINT));
    }
    let (options, audit) = access_options(args, &screen)?;
    let host = build_host(&files, &screen);
    let events = host.events();
    add_servers(&host, &files.resolved, &screen);
    let gateway = Gateway::new(host.clone(), options);
    let served = tokio::select! {
        served = serve(&gateway, args, signals) => served,
        never = report_failures(events, &screen) => match never {},
    };
    // Servers that do not end in time are ended by their supervisors.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, host.close_detached()).await;
    if let Some(audit) = audit
        && let Err(error) = audit.close(CLOSE_TIMEOUT).await
    {
        screen.warn(&one_line(&error.to_string()));
    }
    served
}

/// Reads the policy and opens the audit log.
fn access_options(
    args: &GatewayArgs,
    screen: &Screen,
) -> Result<(GatewayOptions, Option<AuditLog>), CommandError> {
    let mut options = GatewayOptions::default().with_prefix(args.prefix.into());
    let mut payloads = AuditPolicy::default();
    if let Some(path) = &args.policy {
        let LoadedPolicy { policy, limits, audit } = policy::load(path)?;
        for warning in policy.warnings() {
            screen.warn(&one_line(&warning.to_string()));
        }
        options = options.with_policy(policy).with_limits(limits);
        payloads = audit;
    }
    let Some(path) = &args.audit else { return Ok((options, None)) };
    let file = AuditFile::open(path, AuditFileOptions::default())
        .map_err(|error| CommandError::other("io", one_line(&error.to_string())))?;
    let log = AuditLog::start(file, AuditOptions::default()).with_policy(payloads);
    Ok((options.with_audit(log.clone()), Some(log)))
}

/// Builds the host: rules and stored logins of this user apply. A call that a rule wants confirmed is refused, because nobody
/// is here to ask; all others are allowed, because clients ask their users.
fn build_host(files: &ConfigFiles, screen: &Screen) -> Host {
    let ledger = Ledger::open(&files.locations.permissions).unwrap_or_else(|error| {
        screen.warn(&format!("remembered answers are not used: {}", one_line(&error.to_string())));
        Ledger::in_memory()
    });
    let policy = Policy::new(files.resolved.rules.clone()).with_fallback(FallbackPolicy::AllowAll);
    let gate = Gate::new(policy).with_ledger(ledger);
    gate.set_servers_from_config(&files.resolved);
    let pinned = pins::open(&files.locations).map(|file| file.pins().clone()).unwrap_or_default();
    let mut builder = Gateway::host_builder().permissions(gate).with_pins(pinned, DriftPolicy::Report);
    if let Some(logins) = open_logins(screen) {
        builder = builder.with_credentials(Arc::new(logins));
    }
    builder.build()
}

/// Adds every configured server; they connect in the background.
fn add_servers(host: &Host, files: &ResolvedConfig, screen: &Screen) {
    for server in &files.servers {
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
        if let Err(error) = host.add(server.name.clone(), spec) {
            screen.warn(&format!("{name}: {}", one_line(&error.to_string())));
        }
    }
}

/// Prints a warning for each server that is given up or requires a login.
async fn report_failures(mut events: HostEvents, screen: &Screen) -> std::convert::Infallible {
    while let Some(event) = events.next().await {
        match event {
            HostEvent::Status { server, status: Status::Failed(failure) } => {
                let (server, failure) = (one_line(&server), one_line(&failure.to_string()));
                screen.warn(&format!("{server} failed: {failure}"));
            }
            HostEvent::Status { server, status: Status::NeedsAuth(_) } => {
                let server = one_line(&server);
                screen.warn(&format!("{server} needs a login: `switchboard login {server}`"));
            }
            _ => {}
        }
    }
    std::future::pending().await
}

async fn serve(gateway: &Gateway, args: &GatewayArgs, mut signals: Signals) -> Result<(), CommandError> {
    match args.http {
        Some(address) => serve_http(gateway, address, args, signals).await,
        None => tokio::select! {
            served = serve_stdio(gateway.server()) => Ok(served?),
            _ = signals.next() => Ok(()),
        },
    }
}

/// Serves over HTTP until a signal arrives, then lets calls in progress finish. A second signal stops immediately.
async fn serve_http(
    gateway: &Gateway,
    address: SocketAddr,
    args: &GatewayArgs,
    mut signals: Signals,
) -> Result<(), CommandError> {
    if !address.ip().is_loopback() && !args.allow_remote {
        return Err(CommandError::usage(format!(
            "{address} is reachable from other machines, and there is no authentication"
        ))
        .hint("serve on 127.0.0.1, or pass --allow-remote --allow-host NAME to allow it"));
    }
    let listener = HttpListener::bind(address).await.map_err(|error| {
        CommandError::other("io", format!("cannot listen on {address}: {error}"))
            .hint("port 0 chooses a free port")
    })?;
    let mut limits = ListenerLimits::default();
    limits.drain = DRAIN;
    let listener = listener.with_limits(limits);
    let mut options = HttpServerOptions::default();
    if !args.allow_host.is_empty() {
        options.allowed_hosts =
            LOOPBACK.map(str::to_owned).into_iter().chain(args.allow_host.clone()).collect();
    }
    announce(listener.address()?, args);
    let stopper = listener.shutdown_handle();
    let mut serving = std::pin::pin!(listener.serve(GatewayEndpoint::new(gateway, options)));
    tokio::select! {
        () = &mut serving => return Ok(()),
        _ = signals.next() => stopper.stop(),
    }
    tokio::select! {
        () = serving => Ok(()),
        signal = signals.next() => Err(CommandError::Interrupted { signal }),
    }
}

fn announce(address: SocketAddr, args: &GatewayArgs) {
    let screen = Screen::new();
    if args.allow_remote {
        screen.warn("there is no authentication: everyone who reaches this port can use your servers");
    }
    // An unspecified address cannot be connected to, so show the allowed host.
    let host = match args.allow_host.first() {
        Some(host) if address.ip().is_unspecified() => format!("{host}:{}", address.port()),
        _ => address.to_string(),
    };
    screen.say(&format!("listening at http://{host}/mcp"));
}
