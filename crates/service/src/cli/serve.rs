//! The command line of a service itself: serves it, prints its design, calls it in this process.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use switchboard_design::Design;
use switchboard_protocol::Implementation;
use switchboard_session::link::LinkError;
use switchboard_session::server::Server;
use switchboard_transport::http::server::{HttpListener, HttpService, TlsIdentity};
use switchboard_transport::stdio::take_stdio;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::command::{root, tool_commands, with_common_commands};
use super::design;
use super::error::CliError;
use super::options::{CliOptions, ServerLocation};
use super::run::{CliRequest, exit_code, parse, run, run_offline};
use super::target::ServiceTarget;
use crate::ServiceBuilder;
use crate::rpc::{CombinedService, RpcService};

impl ServiceBuilder {
    /// Runs the command line of the service with the arguments of this process: `serve --stdio`, `serve --http ADDR`,
    /// `design print`, `design check`, `list`, and `call`, `read` and `prompt` in this process.
    ///
    /// While stdio is served, standard output carries protocol messages only. Ctrl-C shuts down gracefully.
    pub async fn serve_cli(self) -> ExitCode {
        self.serve_cli_with(std::env::args_os()).await
    }

    /// As [`Self::serve_cli`], with other arguments than those of this process; the first is the program name.
    pub async fn serve_cli_with(self, args: impl IntoIterator<Item = OsString>) -> ExitCode {
        let design = Arc::clone(self.design());
        let (matches, command) = match parse(command(&design), args) {
            Ok(parsed) => parsed,
            Err(code) => return code,
        };
        let options = CliOptions::read(&matches);
        let outcome = run_service_command(self, &design, &matches, command, &options).await;
        exit_code(outcome, &options)
    }
}

async fn run_service_command(
    builder: ServiceBuilder,
    design: &Arc<Design>,
    matches: &ArgMatches,
    command: Command,
    options: &CliOptions,
) -> Result<(), CliError> {
    if let Some(done) = run_offline(design, matches, command, options) {
        return done;
    }
    let request = match matches.subcommand() {
        Some(("design", matches)) => return design::run(design, matches),
        Some(("serve", matches)) => return serve(builder, matches).await,
        // Tools are subcommands of `call`; everything else is as on the client command line.
        Some(("call", matches)) => CliRequest::read(design, matches)?,
        _ => CliRequest::read(design, matches)?,
    };
    run(design, ServiceTarget::InProcess(build(builder)?), request, options).await
}

fn build(builder: ServiceBuilder) -> Result<Arc<Server>, CliError> {
    builder.build().map_err(|mistakes| CliError::Other(format!("the design is invalid:\n{mistakes}")))
}

/// Returns the command line of a service itself.
fn command(design: &Design) -> Command {
    let stdio = Arg::new("stdio")
        .long("stdio")
        .action(ArgAction::SetTrue)
        .help("On stdin and stdout, for the program that started this one");
    let http = Arg::new("http")
        .long("http")
        .value_name("ADDR")
        .value_parser(clap::value_parser!(SocketAddr))
        .help("Over HTTP at /mcp of this address, like 127.0.0.1:8080; port 0 takes a free one");
    let remote = Arg::new("allow-remote")
        .long("allow-remote")
        .action(ArgAction::SetTrue)
        .requires("allow-host")
        .help("Accept connections from other machines. Without authentication, anyone who reaches the port can use the service");
    let host = Arg::new("allow-host")
        .long("allow-host")
        .value_name("NAME")
        .action(ArgAction::Append)
        .help("A host name or address of this machine; requests for other hosts are rejected");
    let file = |name: &'static str, other: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name("FILE").value_parser(clap::value_parser!(PathBuf));
        arg.conflicts_with("stdio").requires(other).help(help)
    };
    let certificate = file(
        "tls-cert",
        "tls-key",
        "Serve https with the certificate in this PEM file, followed by its intermediate ones; read again when it changes",
    );
    let key = file("tls-key", "tls-cert", "The private key of the certificate, in PEM");
    let transport = ArgGroup::new("transport").args(["stdio", "http"]).required(true);
    let serve = Command::new("serve")
        .about("Serve the service")
        .args([stdio, http, remote, host, certificate, key])
        .group(transport);
    let mut root = root(design, design.name.clone()).subcommand(serve).subcommand(design::command());
    if !design.tools.is_empty() {
        let call = Command::new("call").about("Call a tool, in this process");
        let call = call.subcommand_required(true).arg_required_else_help(true);
        root = root.subcommand(call.subcommands(tool_commands(design, ServerLocation::Local)));
    }
    with_common_commands(root, design, ServerLocation::Local)
}

async fn serve(builder: ServiceBuilder, matches: &ArgMatches) -> Result<(), CliError> {
    match matches.get_one::<SocketAddr>("http") {
        Some(address) => serve_http(builder, *address, matches).await,
        None => serve_stdio(&build(builder)?).await,
    }
}

/// Serves until the client disconnects or a signal arrives.
async fn serve_stdio(server: &Arc<Server>) -> Result<(), CliError> {
    let mut signals = Signals::listen()?;
    if io::IsTerminal::is_terminal(&io::stdin()) {
        let Implementation { name, version, .. } = server.info();
        print_status(&format!(
            "{name} {version} waits for MCP messages on stdin, one JSON object a line: this is for MCP clients, which \
             start this command themselves.\nPress Ctrl-C to stop. To try the service by hand, use `call`, `read` or `list`."
        ));
    }
    let pipe = take_stdio()?;
    tokio::select! {
        ended = server.serve(pipe) => match ended {
            LinkError::Closed => Ok(()),
            broken => Err(CliError::Other(broken.to_string())),
        },
        () = signals.next() => Ok(()),
    }
}

async fn serve_http(
    builder: ServiceBuilder,
    address: SocketAddr,
    matches: &ArgMatches,
) -> Result<(), CliError> {
    let hosts: Vec<String> = matches.get_many("allow-host").into_iter().flatten().cloned().collect();
    if !address.ip().is_loopback() && !matches.get_flag("allow-remote") {
        return Err(CliError::usage(format!("{address} can be reached from other machines"))
            .hint("serve on 127.0.0.1, or give --allow-remote --allow-host NAME if that is what you want"));
    }
    // Before the address is printed: whoever reads it may also send a signal.
    let mut signals = Signals::listen()?;
    let identity = tls_identity(matches)?;
    let mut listener = HttpListener::bind(address)
        .await
        .map_err(|error| CliError::Other(format!("cannot listen on {address}: {error}")))?;
    let scheme = if identity.is_some() { "https" } else { "http" };
    if let Some(identity) = identity {
        listener = listener.with_tls(identity);
    }
    let mut options = builder.parts().1.http.clone().unwrap_or_default();
    if !hosts.is_empty() {
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        options.allowed_hosts = loopback.into_iter().chain(hosts).collect();
    }
    let at = listener.address()?;
    let builder = builder.for_http(&options);
    let rpc = builder.design().rpc.clone();
    let plain = rpc.as_ref().map(|_| RpcService::new(&builder, options.clone())).transpose();
    let plain = plain.map_err(|error| CliError::Other(error.to_string()))?;
    let service = HttpService::new(&build(builder)?, options.clone());
    print_status(&format!("listening at {scheme}://{at}{}", options.path));
    if let Some(path) = &rpc {
        print_status(&format!("listening at {scheme}://{at}{path} for plain JSON-RPC"));
    }
    let stopper = listener.shutdown_handle();
    let mut serving = std::pin::pin!(async move {
        match plain {
            Some(plain) => listener.serve(CombinedService::new(service, plain)).await,
            None => listener.serve(service).await,
        }
    });
    tokio::select! {
        () = &mut serving => return Ok(()),
        () = signals.next() => {}
    }
    // Running requests may complete; a second signal stops them.
    stopper.stop();
    tokio::select! {
        () = serving => Ok(()),
        () = signals.next() => Err(CliError::Interrupted),
    }
}

/// Reads the certificate that the command line names.
fn tls_identity(matches: &ArgMatches) -> Result<Option<TlsIdentity>, CliError> {
    let file = |name| matches.get_one::<PathBuf>(name);
    let (Some(certificate), Some(key)) = (file("tls-cert"), file("tls-key")) else { return Ok(None) };
    let identity = TlsIdentity::from_files(certificate, key).map_err(|error| {
        CliError::usage(error.to_string())
            .hint("--tls-cert takes the certificate chain and --tls-key its private key, both in PEM")
    })?;
    Ok(Some(identity.with_warnings(|warning| print_status(&format!("warning: {warning}")))))
}

/// Prints a line to stderr, ignoring a closed stderr.
fn print_status(line: &str) {
    _ = io::Write::write_all(&mut io::stderr(), format!("{line}\n").as_bytes());
}

/// SIGINT and SIGTERM. While this exists they do not terminate the process.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
