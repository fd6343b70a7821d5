//! A host with the servers of the files, for the length of one command.

use std::sync::Arc;

use switchboard::host::config::{
    ConfigError, ConfiguredServer, OffReason, ResolvedConfig, RestartPolicy, ServerPlan, StartPolicy,
};
use switchboard::host::name::{NameLimit, QualifiedName};
use switchboard::host::permission::{AnswerLifetime, ApprovalAnswer, Decision, Gate, Ledger};
use switchboard::host::{
    CatalogTool, DriftPolicy, HostEvent, HostEvents, PinFile, Run, ServerSpec, ServerStatus,
    SetServersOutcome, Status as State, ToolExplanation, Transport,
};
use switchboard::{CallError, Change, Host, HostError, HttpLimits, Level, RevisionPolicy, Tap};
use switchboard_terminal::is_interactive;

use crate::args::Options;
use crate::ask::{self, Keyboard, Nobody, Refused, Scripted};
use crate::configured::ask::{AtTerminal, Declined};
use crate::configured::consent::changed_definition;
use crate::configured::files::Files;
use crate::configured::pins;
use crate::configured::shown::quoted;
use crate::configured::typed_call::{self, Asked};
use crate::connect::{CLOSING, Connected, limits, log_line, starting_text, task_line};
use crate::expand::Expander;
use crate::failure::{Failure, Status};
use crate::nearest::nearest;
use crate::output::{Paper, Screen};
use crate::sanitize::one_line;
use crate::signals::Signals;
use crate::trace::Trace;
use crate::watched::Scope::Everything;
use crate::watched::Watched;

/// Which servers a command needs, and how it treats them.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) which: Which,
    pub(crate) options: Options,
    /// Calls are made without asking.
    pub(crate) yes: bool,
    /// A server that is lost is started again, as its entry says: for commands that stay.
    pub(crate) stays: bool,
}

/// Which servers are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    One(String),
}

impl Wanted {
    /// These servers, for a command that asks once and ends.
    pub(crate) fn once(which: Which, options: Options) -> Self {
        Self { which, options, yes: false, stays: false }
    }

    /// What one server would be run by, if it can be run, with the options of the command line.
    fn desired(&self, server: &ConfiguredServer, screen: &Arc<Screen>) -> Result<ServerSpec, ConfigError> {
        let mut desired = ServerSpec::from_configured(server)?;
        if matches!(desired.start, StartPolicy::AtOnce | StartPolicy::WhenUsed) {
            desired.transport = self.equipped(&server.name, desired.transport, screen);
        }
        let ServerSpec { start, restart, startup_timeout, call_timeout, .. } = &mut desired;
        if let Some(time) = self.options.timeout {
            *startup_timeout = time;
            *call_timeout = Some(time);
        }
        if !self.stays {
            // What failed has failed: nobody waits for another attempt.
            *restart = RestartPolicy::Never;
            // Nothing is remembered of what it lists, so it has to be started to be asked.
            if *start == StartPolicy::WhenUsed {
                *start = StartPolicy::AtOnce;
            }
        }
        Ok(desired)
    }
}

impl Wanted {
    /// The transport with the variables, the directory, the limit and the trace of the command line.
    fn equipped(&self, name: &str, transport: Transport, screen: &Arc<Screen>) -> Transport {
        let Options { env, inherit_env, cwd, max_message, trace, .. } = &self.options;
        match transport {
            Transport::Stdio(stdio) => {
                let mut stdio = *stdio;
                for (name, value) in env {
                    stdio = stdio.env(name, value);
                }
                for name in inherit_env {
                    stdio = stdio.inherit_env(name);
                }
                if let Some(cwd) = cwd {
                    stdio = stdio.cwd(cwd);
                }
                if let Some(bytes) = max_message {
                    stdio = stdio.line_limit(*bytes);
                }
                if *trace {
                    let hidden =
                        stdio.variables().iter().map(|(_, value)| value.to_string_lossy().into_owned());
                    let trace = Trace::new(Arc::clone(screen), hidden.collect::<Vec<_>>()).of(name);
                    stdio = stdio.tap(Tap::new(move |way, frame| trace.show(way, frame)));
                }
                Transport::Stdio(Box::new(stdio))
            }
            Transport::Http(http) => {
                let mut http = *http;
                if let Some(bytes) = max_message {
                    let mut limits = HttpLimits::default();
                    limits.event_bytes = *bytes;
                    http = http.limits(limits);
                }
                if !*trace {
                    return Transport::Http(Box::new(http));
                }
                // A token is a secret without its `Bearer`, too.
                let values = http.headers().iter().flat_map(|(_, value)| {
                    let value = value.expose();
                    std::iter::once(value).chain(value.split_whitespace().skip(1)).map(str::to_owned)
                });
                let trace = Trace::new(Arc::clone(screen), values.collect::<Vec<_>>()).of(name);
                let see = Arc::new(move |way, frame: &[u8]| trace.show(way, frame));
                ServerSpec::custom(Watched::new(http, see, Everything)).transport
            }
            other => other,
        }
    }
}

/// Something of a server, with the server's name.
type Named<T> = (String, T);

/// A host, and where to write what comes of it.
pub(crate) struct Hosted {
    pub(crate) host: Host,
    pub(crate) files: Files,
    /// What calls are made within.
    pub(crate) run: Run,
    pub(crate) paper: Paper,
    pub(crate) screen: Arc<Screen>,
    pub(crate) json: bool,
    pub(crate) verbose: u8,
    wanted: Wanted,
    gate: Arc<Gate>,
    asked: Asked,
    keyboard: Arc<Keyboard>,
    refused: Refused,
    /// Whoever sits at the terminal, if there is somebody.
    pub(crate) people: Option<Arc<ask::AtTerminal>>,
    /// Where definitions are kept, if they can be.
    pins: Option<PinFile>,
}

impl Hosted {
    /// Starts the servers that are wanted, and waits until each is ready or has failed.
    pub(crate) async fn start(&self) -> SetServersOutcome {
        let starting = self.follow(&self.files.resolved);
        let done = self.screen.while_waiting(|| self.waited_for(), starting).await;
        if self.verbose > 0 {
            self.hear_logs().await;
        }
        done
    }

    /// Which servers are still starting.
    fn waited_for(&self) -> String {
        let is_starting = |name: &String| matches!(self.host.state(name), Ok(State::Starting { .. }));
        let names: Vec<String> =
            self.host.servers().iter().filter(|name| is_starting(name)).map(|name| one_line(name)).collect();
        let stderr = match &names[..] {
            [name] => {
                self.host.child(name).ok().flatten().map(|child| child.stderr_tail()).unwrap_or_default()
            }
            _ => String::new(),
        };
        starting_text(&names.join(", "), &stderr)
    }

    /// Makes the servers what these files say.
    async fn follow(&self, files: &ResolvedConfig) -> SetServersOutcome {
        let (servers, broken) = self.set(files);
        let mut done = self.host.set_servers(servers).await;
        done.errors.extend(broken);
        done
    }

    /// The servers that are wanted of these, and what is wrong with those that cannot be run. The gate knows them from
    /// now on.
    pub(crate) fn set(&self, files: &ResolvedConfig) -> (Vec<Named<ServerSpec>>, Vec<Named<String>>) {
        self.gate.set_servers_from_config(files);
        let (mut servers, mut broken) = (Vec::new(), Vec::new());
        for server in files.servers.iter().filter(|server| self.wants(&server.name)) {
            match self.wanted.desired(server, &self.screen) {
                Ok(desired) => servers.push((server.name.clone(), desired)),
                Err(fault) => broken.push((server.name.clone(), fault.to_string())),
            }
        }
        (servers, broken)
    }

    /// How each server of these files is doing, in their order; also those whose entries cannot be run.
    pub(crate) fn statuses(&self, files: &ResolvedConfig) -> Vec<ServerStatus> {
        let status = |server: &ConfiguredServer| {
            self.host.server_status(&server.name).ok().or_else(|| ServerStatus::of_invalid(server))
        };
        files.servers.iter().filter_map(status).collect()
    }

    /// What would happen to a call of a tool.
    pub(crate) fn decide(&self, tool: &CatalogTool) -> Decision {
        self.gate.decide(&self.gate.subject(tool.server(), tool.tool()))
    }

    /// Why a server that was asked for a tool does not have it, and the nearest name it has.
    pub(crate) fn why_not(&self, server: &str, tool: &str) -> (String, Option<String>) {
        let name = QualifiedName::new(server, tool, NameLimit::DEFAULT);
        match self.host.explain_tool(name.as_str()) {
            ToolExplanation::Unknown { .. } => {}
            known => return (known.to_string(), None),
        }
        if let Ok(status) = self.host.state(server)
            && status.session_info().is_none()
        {
            return (format!("{server} is not connected: {status}"), None);
        }
        let tools = self.host.all_tools();
        let names =
            tools.iter().filter(|listed| listed.server() == server).map(|listed| listed.tool().name.as_str());
        let near = nearest(tool, names).map(str::to_owned);
        (format!("{} has no tool {:?}", one_line(server), one_line(tool)), near)
    }

    fn wants(&self, name: &str) -> bool {
        match &self.wanted.which {
            Which::All => true,
            Which::One(one) => one == name,
        }
    }

    /// Shows what a user should know of at once, and log messages where they are wanted, for as long as it is polled.
    async fn tell<T>(&self, mut events: HostEvents) -> Result<T, Failure> {
        while let Some(event) = events.next().await {
            match event {
                HostEvent::ServerChange { change: Change::Log(message), .. } if self.verbose > 0 => {
                    self.screen.say(&log_line(&message, &self.screen.paper));
                }
                HostEvent::ServerChange { change: Change::Task(task), .. } => {
                    self.screen.waiting(&task_line(&task))
                }
                HostEvent::Drift(drift) => {
                    let (server, tool) = (one_line(&drift.server), one_line(&drift.tool));
                    self.screen.warn(&format!(
                        "{server}/{tool} has changed since it was first seen; review it with `switchboard tools`, then \
                         accept it: switchboard forget {}",
                        quoted(&format!("{server}/{tool}"))
                    ));
                }
                HostEvent::UnmatchedRules { server, rules } => {
                    let (server, rules) = (one_line(&server), one_line(&rules.join(", ")));
                    self.screen.warn(&format!("rules of {server} match no tool: {rules}"));
                }
                _ => {}
            }
        }
        std::future::pending().await
    }

    /// Remembers how tools were defined that were seen for the first time.
    fn keep_pins(&mut self) {
        let pins = self.host.pins();
        if let Some(Err(error)) = self.pins.as_mut().map(|file| file.record(&pins)) {
            self.screen.warn(&format!("definitions are not remembered: {}", one_line(&error.to_string())));
        }
    }

    /// Asks the servers that are connected for their log messages.
    async fn hear_logs(&self) {
        let level = if self.verbose > 1 { Level::Debug } else { Level::Info };
        for name in self.host.servers() {
            let Ok(session) = self.host.session(&name).await else { continue };
            if session.terms().is_ok_and(|terms| terms.capabilities.logging.is_some()) {
                // A server that does not want to be asked says less, and that is all.
                _ = session.set_log_level(level).await;
            }
        }
    }

    /// Starts the servers. One that was named must be usable; of the others it is said why they are not.
    ///
    /// # Errors
    /// Why the one that was named cannot be used.
    pub(crate) async fn start_usable(&self) -> Result<SetServersOutcome, Failure> {
        let done = self.start().await;
        if let Which::One(name) = &self.wanted.which {
            self.usable(name)?;
            return Ok(done);
        }
        self.warn_of(&done);
        self.host.required().await?;
        for server in &self.files.resolved.servers {
            if let Ok(ServerPlan { start: StartPolicy::Off(off), .. }) = &server.plan {
                let (what, verb) = match off {
                    OffReason::Disabled => ("is disabled", "enable"),
                    OffReason::Unapproved => ("is not approved", "approve"),
                };
                let name = one_line(&server.name);
                if self.verbose > 0 || verb == "approve" {
                    self.screen.warn(&format!("{name} {what}: `switchboard {verb} {name}`"));
                }
            }
        }
        Ok(done)
    }

    /// Says which servers did not start, and why.
    pub(crate) fn warn_of(&self, done: &SetServersOutcome) {
        for (name, error) in &done.errors {
            let (name, error) = (one_line(name), one_line(error));
            self.screen.warn(&if error.contains(&name) { error } else { format!("{name}: {error}") });
        }
    }

    /// Whether a server can be used now.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub(crate) fn usable(&self, name: &str) -> Result<(), Failure> {
        let server = self.files.server(name)?;
        if let Err(fault) = &server.plan {
            return Err(fault.clone().into());
        }
        let status = self.host.state(name)?;
        match status.session_info() {
            Some(_) => Ok(()),
            None => Err(Failure::not_ready(name, status)),
        }
    }

    /// The session with one server, for the commands that know only one.
    ///
    /// # Errors
    /// When the server cannot be used.
    pub(crate) async fn connected(&self, server: &str) -> Result<Connected, Failure> {
        self.usable(server)?;
        let session = self.host.session(server).await?;
        Ok(Connected::of(session, self.paper.clone(), Arc::clone(&self.screen), &self.wanted.options))
    }

    /// Asks about a tool that is defined otherwise than when it was first seen; without a terminal it is not called.
    ///
    /// # Errors
    /// When nobody can be asked, or said no.
    pub(crate) async fn confirm_definition(&self, tool: &CatalogTool) -> Result<(), Failure> {
        let (server, name) = (tool.server(), &tool.tool().name);
        if self.wanted.yes {
            return Ok(());
        }
        let Some(change) = self.host.definition_change(server, name) else { return Ok(()) };
        let shown = format!("{}/{}", one_line(server), one_line(name));
        let diff = changed_definition(&shown, &change, &self.screen.paper)?;
        if !is_interactive(&self.screen) {
            // A program reads one object on standard error.
            if !self.json {
                self.screen.write(&diff);
            }
            let text = format!("{shown} has changed since it was first seen");
            return Err(Failure::new(Status::Other, "changed_definition", text).hint(format!(
                "review it, then accept it: switchboard forget {}; or call it once with --yes",
                quoted(&shown)
            )));
        }
        let terminal =
            AtTerminal::new(Arc::clone(&self.screen), Arc::clone(&self.keyboard), Declined::default());
        let reply = terminal.confirm_change(&diff).await;
        match (reply.answer, reply.lifetime) {
            (ApprovalAnswer::Deny, _) => Err(Declined::failure()),
            (ApprovalAnswer::Allow, AnswerLifetime::Always) => {
                Ok(self.host.accept_definition(server, name)?)
            }
            (ApprovalAnswer::Allow, _) => Ok(()),
        }
    }

    /// Why a call failed, in the words of this command.
    pub(crate) fn explain(&self, error: HostError) -> Failure {
        match error {
            HostError::Refused { .. } if self.asked.declined.is_set() => Declined::failure(),
            HostError::Refused { tool, .. } if self.asked.unasked.is_missed() => typed_call::unasked(&tool),
            error => error.into(),
        }
    }
}

/// Builds a host, uses it, and ends its servers. Ctrl-C ends the use and still ends the servers in order.
///
/// # Errors
/// What is wrong with the files, or why the use failed.
pub(crate) async fn with_host<T>(
    wanted: Wanted,
    use_it: impl AsyncFnOnce(&Hosted) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut signals = Signals::catch()?;
    let mut hosted = build(wanted)?;
    #[cfg(feature = "otel")]
    let telemetry = crate::telemetry::Telemetry::start(&hosted.host)?;
    let events = hosted.host.events();
    let used = tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::Interrupted { signal }),
        // Before the use, so that what a server said first is read first.
        never = hosted.tell(events) => never,
        used = use_it(&hosted) => used,
    };
    hosted.screen.clear();
    hosted.run.cancel();
    hosted.keep_pins();
    let used = match (used, hosted.refused.why()) {
        // A server tells it in its own words, and these are the better ones.
        (Err(Failure::Told(_)), Some(why)) => Err(CallError::InputRefused(why.to_owned()).into()),
        (used, _) => used,
    };
    #[cfg(feature = "otel")]
    if let Some(telemetry) = telemetry
        && let Err(error) = telemetry.finish().await
    {
        hosted.screen.warn(&format!("telemetry was not sent: {}", one_line(&error)));
    }
    tokio::select! {
        _ = tokio::time::timeout(CLOSING, hosted.host.close_detached()) => used,
        signal = signals.next() => Err(Failure::Interrupted { signal }),
    }
}

fn build(mut wanted: Wanted) -> Result<Hosted, Failure> {
    check(&wanted)?;
    let expander = Expander::default();
    wanted.options = expander.options(&wanted.options)?;
    let options = &wanted.options;
    let files = Files::read()?;
    if let Which::One(name) = &wanted.which {
        files.server(name)?;
    }
    let screen = Arc::new(Screen::read_as(options.json));
    files.warn(&screen);
    let keyboard = Arc::new(Keyboard::default());
    let refused = Refused::default();
    let people = is_interactive(&screen)
        .then(|| Arc::new(ask::AtTerminal::new(Arc::clone(&screen), Arc::clone(&keyboard))));
    let run = answering(options, people.as_ref(), refused.clone())?;
    let ledger = Ledger::open(&files.at.permissions).unwrap_or_else(|fault| {
        screen.warn(&format!("answers cannot be remembered: {}", one_line(&fault.to_string())));
        Ledger::in_memory()
    });
    let (gate, asked) =
        typed_call::gate(files.resolved.rules.clone(), ledger, wanted.yes, &screen, &keyboard);
    let gate = Arc::new(gate);
    let permit: Arc<Gate> = Arc::clone(&gate);
    let pins = pins::open(&files.at).inspect_err(|error| {
        screen.warn(&format!("changed definitions cannot be detected: {}", one_line(&error.to_string())));
    });
    let pinned = pins.as_ref().map(|file| file.pins().clone()).unwrap_or_default();
    let mut builder = Host::builder();
    if let Some(revision) = options.revision {
        builder = builder.with_offer(RevisionPolicy::Only(revision));
    }
    let host = builder
        .with_name("switchboard-cli", env!("CARGO_PKG_VERSION"))
        .with_limits(limits(options))
        .with_abilities(ask::DECLARED)
        .with_call_policy(permit)
        .with_pins(pinned, DriftPolicy::Report)
        .without_resource_tools()
        .build();
    let Options { json, verbose, .. } = wanted.options;
    let paper = Paper::stdout();
    Ok(Hosted {
        host,
        files,
        run,
        paper,
        screen,
        json,
        verbose,
        wanted,
        gate,
        asked,
        keyboard,
        refused,
        people,
        pins: pins.ok(),
    })
}

/// Options for one server need one that is named.
fn check(wanted: &Wanted) -> Result<(), Failure> {
    let options = &wanted.options;
    let given = [
        (!options.env.is_empty(), "--env"),
        (!options.inherit_env.is_empty(), "--inherit-env"),
        (options.cwd.is_some(), "--cwd"),
    ];
    match given.iter().find(|(is_given, _)| *is_given && wanted.which == Which::All) {
        Some((_, option)) => Err(Failure::usage(format!("{option} is for one server"))
            .hint("name a configured server: --server NAME")),
        None => Ok(()),
    }
}

fn answering(
    options: &Options,
    people: Option<&Arc<ask::AtTerminal>>,
    refused: Refused,
) -> Result<Run, Failure> {
    Ok(match (&options.answers, people) {
        (Some(answers), _) => Run::with_handler(Scripted::read(answers, refused)?),
        (None, Some(people)) => Run::with_handler(Arc::clone(people)),
        (None, None) => Run::with_handler(Nobody(refused)),
    })
}
