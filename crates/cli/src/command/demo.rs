//! `switchboard demo`: three servers at once, told as a short story. Everything it needs is in this program.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use switchboard::host::{HostEvent, ServerSpec, Status as State, StatusKind};
use switchboard::{
    CallToolResult, Host, HostError, Http, HttpListener, HttpOptions, HttpService, InProcess, Stdio, json,
};
use tokio::task::JoinSet;

use crate::args::DemoArgs;
use crate::command::tour;
use crate::demo;
use crate::failure::{Failure, Status};
use crate::output::{Paper, Signature, Table, count, indented, result};
use crate::processes::running;
use crate::sanitize::{one_line, sanitize};
use crate::signals::Signals;

/// How long a server that was killed may take to be back.
const BACK: Duration = Duration::from_secs(20);

pub(crate) async fn run(args: DemoArgs) -> Result<(), Failure> {
    if args.trace || args.revision.is_some() {
        return tour::run(&args).await;
    }
    let mut signals = Signals::catch()?;
    let host = Host::builder()
        .with_name("switchboard-cli", env!("CARGO_PKG_VERSION"))
        .without_resource_tools()
        .build();
    let told = tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::Interrupted { signal }),
        told = tell(&host) => told,
    };
    host.close().await;
    told
}

async fn tell(host: &Host) -> Result<(), Failure> {
    let story = Story { host, paper: Paper::stdout() };
    // Owned here: what serves over HTTP ends with the story.
    let mut serving = JoinSet::new();
    story.connect(&mut serving).await?;
    story.catalogue()?;
    story.calls().await?;
    story.toggle().await?;
    story.kill().await?;
    story.deny().await?;
    story.end()
}

/// The servers, and where they are told of.
struct Story<'a> {
    host: &'a Host,
    paper: Paper,
}

impl Story<'_> {
    fn chapter(&self, text: &str) -> Result<(), Failure> {
        Ok(self.paper.print(&format!("\n{} {}\n", self.paper.green("▸"), self.paper.bold(text)))?)
    }

    fn say(&self, text: &str) -> Result<(), Failure> {
        Ok(self.paper.print(&indented(text, "  ", self.paper.width))?)
    }

    async fn connect(&self, serving: &mut JoinSet<()>) -> Result<(), Failure> {
        self.chapter("three servers, started at the same time")?;
        let listener = HttpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).await?;
        let url = format!("http://{}/mcp", listener.address()?);
        let service = HttpService::new(&demo::build(), HttpOptions::default());
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
            return Err(Failure::new(Status::Unreachable, "not_started", format!("{name}: {error}")));
        }
        let reached = [
            "a program, over its stdin and stdout",
            "HTTP, on a port of this machine",
            "a call in this process",
        ];
        let mut table = Table::new(&["NAME", "STATUS", "TOOLS", "REACHED BY"]);
        for (status, reached) in self.host.status().iter().zip(reached) {
            let tools = status.tools.as_ref().map_or(0, |tools| tools.len());
            table.row([
                one_line(&status.name),
                status.status.to_string(),
                tools.to_string(),
                reached.to_owned(),
            ]);
        }
        self.say(&table.lay_out(&self.paper.narrower(2)))?;
        self.say(&format!("all three in {took} ms; each shows the tools its entry allows"))
    }

    fn catalogue(&self) -> Result<(), Failure> {
        let catalog = self.host.catalog();
        self.chapter(&format!("one catalogue, {}", count(catalog.tools().len(), "tool")))?;
        for listed in catalog.tools() {
            let mut tool = listed.tool().clone();
            listed.name().clone_into(&mut tool.name);
            self.say(&Signature::of_tool(&tool).lay_out(&self.paper.narrower(2)))?;
        }
        Ok(())
    }

    async fn calls(&self) -> Result<(), Failure> {
        self.chapter("a call on each")?;
        self.call("mcp__child__add", json!({ "a": 19, "b": 23 })).await?;
        self.call("mcp__web__weather", json!({ "city": "oslo" })).await?;
        self.call("mcp__inside__echo", json!({ "text": "no process, no socket" })).await
    }

    async fn call(&self, name: &str, arguments: serde_json::Value) -> Result<(), Failure> {
        let began = Instant::now();
        let shown = format!("{name} {arguments}");
        let said: CallToolResult = self.host.call(name, arguments).await?;
        self.say(&format!(
            "{shown} {}",
            self.paper.dim(&format!("in {:.1} ms", began.elapsed().as_secs_f64() * 1000.0))
        ))?;
        Ok(self.paper.print(&indented(&result(&said, &self.paper.narrower(4)), "    ", self.paper.width))?)
    }

    async fn toggle(&self) -> Result<(), Failure> {
        self.chapter("web is switched off: its tools are gone, its connection stays")?;
        self.host.toggle("web", false).await?;
        self.say(&format!(
            "{} left; {}",
            count(self.host.all_tools().len(), "tool"),
            self.host.explain_tool("mcp__web__weather")
        ))?;
        self.host.toggle("web", true).await?;
        let reconnects = self.host.server_metrics("web")?.reconnects;
        self.say(&format!(
            "switched on: {} again, after {} of its connection",
            count(self.host.all_tools().len(), "tool"),
            count(usize::try_from(reconnects).unwrap_or(usize::MAX), "restart"),
        ))
    }

    async fn kill(&self) -> Result<(), Failure> {
        self.chapter("the program is killed: it is started again")?;
        let Some(before) = child() else {
            return self.say("(this system does not say which process it is, so it lives on)");
        };
        let mut events = self.host.events();
        let began = Instant::now();
        kill_process(before, Signal::KILL).map_err(std::io::Error::from)?;
        let back = async {
            let mut is_lost = false;
            loop {
                match events.next().await {
                    Some(HostEvent::Status { server, status }) if *server == *"child" => {
                        match (&status, is_lost) {
                            (State::Ready(_), true) => return Ok(()),
                            (State::Failed(failure), _) => {
                                return Err(Failure::new(Status::Unreachable, "lost", failure.to_string()));
                            }
                            _ => is_lost |= status.kind() != StatusKind::Connected,
                        }
                    }
                    Some(_) => {}
                    None => return Err(HostError::Closed.into()),
                }
            }
        };
        let slow = || {
            Failure::new(Status::Unreachable, "lost", "the program that was killed did not come back in time")
        };
        tokio::time::timeout(BACK, back).await.map_err(|_| slow())??;
        let after = child().map_or_else(|| "another".to_owned(), |pid| pid.as_raw_nonzero().to_string());
        let took = began.elapsed().as_millis();
        self.say(&format!(
            "process {} is gone, process {after} is ready after {took} ms",
            before.as_raw_nonzero()
        ))?;
        self.call("mcp__child__add", json!({ "a": 1, "b": 2 })).await
    }

    async fn deny(&self) -> Result<(), Failure> {
        self.chapter("echo of child is denied: not shown, and not called")?;
        self.host.set_denied_tools("child", ["echo"]);
        self.say(&format!("{} left", count(self.host.all_tools().len(), "tool")))?;
        // What a model would read.
        let told = self.host.execute("mcp__child__echo", json!({ "text": "hello" })).await;
        self.say(&sanitize(&told.text()))?;
        self.call("mcp__inside__echo", json!({ "text": "another server's echo is another tool" })).await
    }

    fn end(&self) -> Result<(), Failure> {
        let metrics = self.host.metrics();
        let next = format!(
            "{} calls were made, and {} reconnected. Next: `switchboard add NAME -- CMD` remembers a server of your own, \
             `switchboard import` those of other programs, and `switchboard status` shows how they are doing.",
            metrics.calls,
            count(usize::try_from(metrics.reconnects).unwrap_or(usize::MAX), "server"),
        );
        Ok(self.paper.print(&format!("\n{}", self.paper.dim(&indented(&next, "", self.paper.prose()))))?)
    }
}

/// The process of the one program that was started here.
fn child() -> Option<Pid> {
    let ours = running().into_iter().find(|process| process.host == std::process::id())?;
    Pid::from_raw(i32::try_from(ours.pid?).ok()?)
}
