//! `switchboard gateway`: serves all configured servers as one MCP server.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;

use switchboard::auth::{AuthError, FileStore, TokenStore};
use switchboard::gateway::audit::{AuditFile, AuditFileOptions, AuditLog, AuditOptions, AuditPolicy};
use switchboard::gateway::{Gateway, GatewayEndpoint, GatewayOptions};
use switchboard::host::config::{ConfiguredServer, OffReason, ResolvedConfig, ServerConfig, StartPolicy};
use switchboard::host::permission::{FallbackPolicy, Gate, Ledger, Policy};
use switchboard::host::{
    DriftPolicy, Host, HostEvent, HostEvents, ManifestStore, ServerSpec, Status, Transport,
};
use switchboard::serve_stdio;

use crate::args::GatewayArgs;
use crate::command::policy::{self, LoadedPolicy};
use crate::configured_servers::{ConfigFiles, NO_SERVERS_HINT, manifests, pins};
use crate::connect::CLOSE_TIMEOUT;
use crate::error::CommandError;
use crate::http_server::BoundServer;
use crate::login::{open_logins, open_store};
use crate::output::Screen;
use crate::sanitize::one_line;
use crate::signals::Signals;

/// Serves until the client disconnects or a signal arrives, then stops the servers.
///
/// # Errors
/// Returns an error if nothing is configured, or the address or stdin and stdout cannot be used.
pub(crate) async fn run(args: &GatewayArgs) -> Result<(), CommandError> {
    if args.server.http.is_none() && !args.stdio && std::io::stdin().is_terminal() {
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
    check_callers(args, &files.resolved).await?;
    let (options, audit) = access_options(args, &screen)?;
    let host = build_host(&files, &screen)?;
    let events = host.events();
    let manifests = manifests::store(&files.locations);
    add_servers(&host, &files.resolved, &manifests, &screen);
    let gateway = Gateway::new(host.clone(), options);
    let served = tokio::select! {
        served = serve(&gateway, args, signals) => served,
        never = report_failures(events, &screen) => match never {},
        never = manifests.follow(&host) => match never {},
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
///
/// # Errors
/// Returns an error if the remembered answers cannot be read: a remembered denial must not be lost.
fn build_host(files: &ConfigFiles, screen: &Screen) -> Result<Host, CommandError> {
    let permissions = &files.locations.permissions;
    let ledger = Ledger::open(permissions).map_err(|error| {
        let message = format!("cannot read the remembered answers: {}", one_line(&error.to_string()));
        CommandError::other("permissions", message)
            .hint(format!("repair or remove {}", one_line(&permissions.display().to_string())))
    })?;
    let policy = Policy::new(files.resolved.rules.clone()).with_fallback(FallbackPolicy::AllowAll);
    let gate = Gate::new(policy).with_ledger(ledger);
    gate.set_servers_from_config(&files.resolved);
    let pinned = pins::open(&files.locations).map(|file| file.pins().clone()).unwrap_or_default();
    let mut builder = Gateway::host_builder().permissions(gate).with_pins(pinned, DriftPolicy::Report);
    if let Some(logins) = open_logins(screen) {
        builder = builder.with_credentials(Arc::new(logins));
    }
    Ok(builder.build())
}

/// Adds every configured server. A child process whose lists are remembered is started when it is used; the others connect in
/// the background.
fn add_servers(host: &Host, files: &ResolvedConfig, manifests: &ManifestStore, screen: &Screen) {
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
        let spec = manifests::start_when_used(manifests, &server.name, spec, screen);
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
    match args.server.http {
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
    signals: Signals,
) -> Result<(), CommandError> {
    let bound = BoundServer::bind(address, &args.server).await?;
    bound.announce(&args.server);
    let endpoint = GatewayEndpoint::new(gateway, bound.options.clone());
    bound.serve(endpoint, signals).await
}

/// Refuses to lend the credentials of servers to every program on this machine: a port, unlike stdin, has no owner.
async fn check_callers(args: &GatewayArgs, files: &ResolvedConfig) -> Result<(), CommandError> {
    if args.server.http.is_none() || args.server.api_keys.is_some() || args.anonymous {
        return Ok(());
    }
    let Some(server) = server_with_credentials(files).await? else { return Ok(()) };
    let message = format!(
        "{} has credentials, and every program that reaches the port could use them",
        one_line(&server.name)
    );
    Err(CommandError::usage(message).hint(
        "create a key with `switchboard key create NAME --file KEYS` and pass --api-keys KEYS; --anonymous allows it without",
    ))
}

/// Returns a server that is used with a secret of this user: in its entry, or a stored login.
///
/// # Errors
/// Returns an error if the token store cannot be read: nobody knows then which servers have logins.
async fn server_with_credentials(files: &ResolvedConfig) -> Result<Option<&ConfiguredServer>, CommandError> {
    let logins = match FileStore::default_directory() {
        Some(_) => open_store()?.list().await.map_err(AuthError::from)?,
        // Without a home directory no command uses stored logins.
        None => Vec::new(),
    };
    let is_logged_in = |server: &ConfiguredServer| {
        let Ok(ServerSpec { transport: Transport::Http(http), .. }) = ServerSpec::from_configured(server)
        else {
            return false;
        };
        let address = http.check().ok();
        address.is_some_and(|address| logins.iter().any(|login| login.grant.server == address.as_str()))
    };
    let has_secrets =
        |server: &ConfiguredServer| server.entry.as_ref().is_some_and(ServerConfig::has_credentials);
    Ok(files.servers.iter().find(|server| has_secrets(server) || is_logged_in(server)))
}
