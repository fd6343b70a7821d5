//! `switchboard demo`: shows the features of a host with three demo servers.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use switchboard::host::{HostError, HostEvent, ServerSpec, Status, StatusKind};
use switchboard::protocol::CallToolResult;
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::{Host, Http, InProcess, Stdio, json};
use tokio::task::JoinSet;

use crate::args::DemoArgs;
use crate::command::demo_session;
use crate::demo;
use crate::error::{CommandError, ExitKind};
use crate::output::{OutputStream, Signature, TextTable, indented, pluralize, render_result};
use crate::processes::running_servers;
use crate::sanitize::{one_line, sanitize};
use crate::signals::Signals;

/// Time limit for a killed server to be restarted.
const RESTART_LIMIT: Duration = Duration::from_secs(20);

pub(crate) async fn run(args: DemoArgs) -> Result<(), CommandError> {
    if args.trace || args.revision.is_some() {
        return demo_session::run(&args).await;
    }
    let mut signals = Signals::catch()?;
    let host = Host::builder()
        .with_name("switchboard-cli", env!("CARGO_PKG_VERSION"))
        .without_resource_tools()
        .build();
    let done = tokio::select! {
        biased;
        signal = signals.next() => Err(CommandError::Interrupted { signal }),
        done = run_steps(&host) => done,
    };
    host.close().await;
    done
}

async fn run_steps(host: &Host) -> Result<(), CommandError> {
    let steps = DemoSteps { host, out: OutputStream::stdout() };
    // Owned here, so that the HTTP server stops with the demo.
    let mut serving = JoinSet::new();
    steps.connect(&mut serving).await?;
    steps.catalog()?;
    steps.calls().await?;
    steps.toggle().await?;
    steps.kill().await?;
    steps.deny().await?;
    steps.end()
}

/// The steps of the demo, with their host and output.
struct DemoSteps<'a> {
    host: &'a Host,
    out: OutputStream,
}

impl DemoSteps<'_> {
    fn heading(&self, text: &str) -> Result<(), CommandError> {
        Ok(self.out.print(&format!("\n{} {}\n", self.out.green("▸"), self.out.bold(text)))?)
    }

    fn say(&self, text: &str) -> Result<(), CommandError> {
        Ok(self.out.print(&indented(text, "  ", self.out.width))?)
    }

    async fn connect(&self, serving: &mut JoinSet<()>) -> Result<(), CommandError> {
        self.heading("three servers, started at the same time")?;
        let listener = HttpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).await?;
        let url = format!("http://{}/mcp", listener.address()?);
        let service = HttpService::new(&demo::build(), HttpServerOptions::default());
        serving.spawn(listener.serve(service));
        let program = std::env::current_exe()?;
        let servers = [
            ("child", ServerSpec::from(Stdio::new(program).arg("demo-server")), &["add", "echo"][..]),
            ("web", Http::new(url).into(), &["weather", "tag"]),
            ("inside", InProcess::new(&demo::build()).into(), &["echo", "countdown"]),
        ];
        let began = Instant::now();
        let specs = servers.map(|(name, server, tools)| (name, server.allow_tools(tools.iter().copied())));
        let done = self.host.set_servers(specs).await;
        let took = began.elapsed().as_millis();
        if let Some((name, error)) = done.errors.first_key_value() {
            return Err(CommandError::new(ExitKind::Unreachable, "not_started", format!("{name}: {error}")));
        }
        let transports =
            ["a program, over stdin and stdout", "HTTP, on a local port", "calls within this process"];
        let mut table = TextTable::new(&["NAME", "STATUS", "TOOLS", "TRANSPORT"]);
        for (status, transport) in self.host.status().iter().zip(transports) {
            let tools = status.tools.as_ref().map_or(0, |tools| tools.len());
            table.push_row([
                one_line(&status.name),
                status.status.to_string(),
                tools.to_string(),
                transport.to_owned(),
            ]);
        }
        self.say(&table.render(&self.out.narrower(2)))?;
        self.say(&format!("all three in {took} ms; each lists only the tools its entry allows"))
    }

    fn catalog(&self) -> Result<(), CommandError> {
        let catalog = self.host.catalog();
        self.heading(&format!("one catalog, {}", pluralize(catalog.tools().len(), "tool")))?;
        for listed in catalog.tools() {
            let mut tool = listed.tool().clone();
            listed.name().clone_into(&mut tool.name);
            self.say(&Signature::of_tool(&tool).render(&self.out.narrower(2)))?;
        }
        Ok(())
    }

    async fn calls(&self) -> Result<(), CommandError> {
        self.heading("a call on each")?;
        self.call("mcp__child__add", json!({ "a": 19, "b": 23 })).await?;
        self.call("mcp__web__weather", json!({ "city": "oslo" })).await?;
        self.call("mcp__inside__echo", json!({ "text": "no process, no socket" })).await
    }

    async fn call(&self, name: &str, arguments: serde_json::Value) -> Result<(), CommandError> {
        let began = Instant::now();
        let shown = format!("{name} {arguments}");
        let output: CallToolResult = self.host.call(name, arguments).await?;
        self.say(&format!(
            "{shown} {}",
            self.out.dim(&format!("in {:.1} ms", began.elapsed().as_secs_f64() * 1000.0))
        ))?;
        Ok(self.out.print(&indented(
            &render_result(&output, &self.out.narrower(4)),
            "    ",
            self.out.width,
        ))?)
    }

    async fn toggle(&self) -> Result<(), CommandError> {
        self.heading("web is disabled: its tools are hidden, its connection stays")?;
        self.host.toggle("web", false).await?;
        self.say(&format!(
            "{} left; {}",
            pluralize(self.host.all_tools().len(), "tool"),
            self.host.explain_tool("mcp__web__weather")
        ))?;
        self.host.toggle("web", true).await?;
        let reconnects = self.host.server_metrics("web")?.reconnects;
        self.say(&format!(
            "enabled: {} again, with {} of its connection",
            pluralize(self.host.all_tools().len(), "tool"),
            pluralize(usize::try_from(reconnects).unwrap_or(usize::MAX), "restart"),
        ))
    }

    async fn kill(&self) -> Result<(), CommandError> {
        self.heading("the program is killed: the host restarts it")?;
        let Some(before) = child_process() else {
            return self.say("(the process cannot be identified on this system)");
        };
        let mut events = self.host.events();
        let began = Instant::now();
        kill_process(before, Signal::KILL).map_err(std::io::Error::from)?;
        let restarted = async {
            let mut is_lost = false;
            loop {
                match events.next().await {
                    Some(HostEvent::Status { server, status }) if *server == *"child" => {
                        match (&status, is_lost) {
                            (Status::Ready(_), true) => return Ok(()),
                            (Status::Failed(failure), _) => {
                                return Err(CommandError::new(
                                    ExitKind::Unreachable,
                                    "lost",
                                    failure.to_string(),
                                ));
                            }
                            _ => is_lost |= status.kind() != StatusKind::Connected,
                        }
                    }
                    Some(_) => {}
                    None => return Err(HostError::Closed.into()),
                }
            }
        };
        let timed_out = || {
            CommandError::new(ExitKind::Unreachable, "lost", "the killed program was not restarted in time")
        };
        tokio::time::timeout(RESTART_LIMIT, restarted).await.map_err(|_| timed_out())??;
        let after =
            child_process().map_or_else(|| "another".to_owned(), |pid| pid.as_raw_nonzero().to_string());
        let took = began.elapsed().as_millis();
        self.say(&format!(
            "process {} was killed, process {after} is ready after {took} ms",
            before.as_raw_nonzero()
        ))?;
        self.call("mcp__child__add", json!({ "a": 1, "b": 2 })).await
    }

    async fn deny(&self) -> Result<(), CommandError> {
        self.heading("echo of child is denied: neither listed nor called")?;
        self.host.set_denied_tools("child", ["echo"]);
        self.say(&format!("{} left", pluralize(self.host.all_tools().len(), "tool")))?;
        // The text a model gets.
        let result = self.host.execute("mcp__child__echo", json!({ "text": "hello" })).await;
        self.say(&sanitize(&result.text()))?;
        self.call("mcp__inside__echo", json!({ "text": "another server's echo is another tool" })).await
    }

    fn end(&self) -> Result<(), CommandError> {
        let metrics = self.host.metrics();
        let next = format!(
            "{} calls were made, and {} reconnected. Next: `switchboard add NAME -- CMD` adds your own server, \
             `switchboard import` imports those of other programs, and `switchboard status` shows their status.",
            metrics.calls,
            pluralize(usize::try_from(metrics.reconnects).unwrap_or(usize::MAX), "server"),
        );
        Ok(self.out.print(&format!("\n{}", self.out.dim(&indented(&next, "", self.out.prose_width()))))?)
    }
}

/// Returns the process of the program that this process started.
fn child_process() -> Option<Pid> {
    let ours = running_servers().into_iter().find(|process| process.host == std::process::id())?;
    Pid::from_raw(i32::try_from(ours.pid?).ok()?)
}
