//! The command line of a service itself: serve it, look at its design, call it in this process.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use switchboard_design::Design;
use switchboard_protocol::Implementation;
use switchboard_session::link::LinkError;
use switchboard_session::server::Server;
use switchboard_transport::http::server::{HttpListener, HttpService};
use switchboard_transport::stdio::take_stdio;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::command::{calls, root, with_offers};
use super::design;
use super::failure::Failure;
use super::options::{Options, Reach};
use super::run::{Asked, finish, parse, run, without_session};
use super::target::Target;
use crate::ServiceBuilder;
use crate::rpc::{Mounted, RpcService};

impl ServiceBuilder {
    /// Runs the command line of the service with the arguments of this process: `serve --stdio`, `serve --http ADDR`,
    /// `design print`, `design check`, `list`, and `call`, `read` and `prompt` in this process.
    ///
    /// While stdio is served, standard output holds messages alone. Ctrl-C ends it in order.
    pub async fn serve_cli(self) -> ExitCode {
        self.serve_cli_with(std::env::args_os()).await
    }

    /// As [`Self::serve_cli`], with other arguments than those of this process; the first is the name of the program.
    pub async fn serve_cli_with(self, args: impl IntoIterator<Item = OsString>) -> ExitCode {
        let design = Arc::clone(self.design());
        let (matches, command) = match parse(command(&design), args) {
            Ok(parsed) => parsed,
            Err(code) => return code,
        };
        let options = Options::read(&matches);
        let done = served(self, &design, &matches, command, &options).await;
        finish(done, &options)
    }
}

async fn served(
    builder: ServiceBuilder,
    design: &Arc<Design>,
    matches: &ArgMatches,
    command: Command,
    options: &Options,
) -> Result<(), Failure> {
    if let Some(done) = without_session(design, matches, command, options) {
        return done;
    }
    match matches.subcommand() {
        Some(("design", matches)) => return design::run(design, matches),
        Some(("serve", matches)) => return serve(builder, matches).await,
        _ => {}
    }
    // Tools stand behind `call`, everything else as clients have it.
    let asked = match matches.subcommand() {
        Some(("call", matches)) => Asked::read(design, matches)?,
        _ => Asked::read(design, matches)?,
    };
    run(design, Target::Here(build(builder)?), asked, options).await
}

fn build(builder: ServiceBuilder) -> Result<Arc<Server>, Failure> {
    builder.build().map_err(|mistakes| Failure::Other(format!("the design has mistakes:\n{mistakes}")))
}

/// The command line of a service itself.
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
        .help("Let other machines in. Without authentication of your own, whoever reaches the port may use the service");
    let host =
        Arg::new("allow-host").long("allow-host").value_name("NAME").action(ArgAction::Append).help(
            "A name or address that other machines call this one by; requests for any other are refused",
        );
    let way = ArgGroup::new("way").args(["stdio", "http"]).required(true);
    let serve = Command::new("serve").about("Serve").args([stdio, http, remote, host]).group(way);
    let mut root = root(design, design.name.clone()).subcommand(serve).subcommand(design::command());
    if !design.tools.is_empty() {
        let call = Command::new("call").about("Call a tool, in this process");
        let call = call.subcommand_required(true).arg_required_else_help(true);
        root = root.subcommand(call.subcommands(calls(design, Reach::Local)));
    }
    with_offers(root, design, Reach::Local)
}

async fn serve(builder: ServiceBuilder, matches: &ArgMatches) -> Result<(), Failure> {
    match matches.get_one::<SocketAddr>("http") {
        Some(address) => over_http(builder, *address, matches).await,
        None => on_stdio(&build(builder)?).await,
    }
}

/// Until the client leaves, or somebody ends us.
async fn on_stdio(server: &Arc<Server>) -> Result<(), Failure> {
    let mut signals = Signals::catch()?;
    if io::IsTerminal::is_terminal(&io::stdin()) {
        let Implementation { name, version, .. } = server.info();
        say(&format!(
            "{name} {version} waits for MCP messages on stdin, one JSON object a line: this is for MCP clients, which \
             start this command themselves.\nPress Ctrl-C to stop. To try the service by hand, use `call`, `read` or `list`."
        ));
    }
    let pipe = take_stdio()?;
    tokio::select! {
        ended = server.serve(pipe) => match ended {
            LinkError::Closed => Ok(()),
            broken => Err(Failure::Other(broken.to_string())),
        },
        () = signals.next() => Ok(()),
    }
}

async fn over_http(
    builder: ServiceBuilder,
    address: SocketAddr,
    matches: &ArgMatches,
) -> Result<(), Failure> {
    let hosts: Vec<String> = matches.get_many("allow-host").into_iter().flatten().cloned().collect();
    if !address.ip().is_loopback() && !matches.get_flag("allow-remote") {
        return Err(Failure::usage(format!("{address} can be reached from other machines"))
            .hint("serve on 127.0.0.1, or give --allow-remote --allow-host NAME if that is what you want"));
    }
    // Before anybody is told where we are: whoever is may also end us.
    let mut signals = Signals::catch()?;
    let listener = HttpListener::bind(address)
        .await
        .map_err(|error| Failure::Other(format!("cannot listen on {address}: {error}")))?;
    let mut options = builder.parts().1.http.clone().unwrap_or_default();
    if !hosts.is_empty() {
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        options.allowed_hosts = loopback.into_iter().chain(hosts).collect();
    }
    let at = listener.address()?;
    let rpc = builder.design().rpc.clone();
    let plain = rpc.as_ref().map(|_| RpcService::new(&builder, options.clone())).transpose();
    let plain = plain.map_err(|error| Failure::Other(error.to_string()))?;
    let service = HttpService::new(&build(builder)?, options.clone());
    say(&format!("listening at http://{at}{}", options.path));
    if let Some(path) = &rpc {
        say(&format!("listening at http://{at}{path} for plain JSON-RPC"));
    }
    let stopper = listener.shutdown_handle();
    let mut serving = std::pin::pin!(async move {
        match plain {
            Some(plain) => listener.serve(Mounted::new(service, plain)).await,
            None => listener.serve(service).await,
        }
    });
    tokio::select! {
        () = &mut serving => return Ok(()),
        () = signals.next() => {}
    }
    // What is under way may finish; a second time ends it at once.
    stopper.stop();
    tokio::select! {
        () = serving => Ok(()),
        () = signals.next() => Err(Failure::Interrupted),
    }
}

/// Tells whoever started us. A closed stderr is no reason to stop.
fn say(line: &str) {
    _ = io::Write::write_all(&mut io::stderr(), format!("{line}\n").as_bytes());
}

/// The signals that ask this program to end. While this exists they no longer end it by themselves.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
