//! A host with the configured servers, for the duration of one command.

use std::sync::Arc;

use switchboard::Host;
use switchboard::client::{Change, ClientHandler, HttpLimits, RevisionPolicy};
use switchboard::host::config::{
    ConfigError, ConfiguredServer, OffReason, ResolvedConfig, RestartPolicy, ServerPlan, StartPolicy,
};
use switchboard::host::name::{NameLimit, QualifiedName};
use switchboard::host::permission::{AnswerLifetime, ApprovalAnswer, Decision, Gate, Ledger};
use switchboard::host::{
    CatalogTool, DriftPolicy, HostError, HostEvent, HostEvents, PinFile, Run, ServerSpec, ServerStatus,
    SetServersOutcome, Status, ToolExplanation, Transport,
};
use switchboard::protocol::Level;
use switchboard::transport::Tap;
use switchboard_terminal::is_interactive;

use crate::args::SessionOptions;
use crate::configured_servers::approver::{DeclinedFlag, TerminalApprover};
use crate::configured_servers::call_permission::{self, ApprovalFlags};
use crate::configured_servers::consent::render_changed_definition;
use crate::configured_servers::files::{ConfigFiles, NO_SERVERS_HINT};
use crate::configured_servers::pins;
use crate::configured_servers::transport_secrets::{header_secrets, program_secrets, transport_secrets};
use crate::connect::{
    CLOSE_TIMEOUT, CommandSession, apply_options, client_handler, limits, log_line, starting_text, task_line,
};
use crate::elicitation::{self, RefusalReason, StdinLines};
use crate::error::CommandError;
use crate::expand::Expander;
use crate::login::{AccountSelector, open_logins};
use crate::nearest::nearest;
use crate::observed_dial::observed_dial;
use crate::output::{OutputStream, Screen};
use crate::sanitize::one_line;
use crate::session_recorder::SessionRecorder;
use crate::shell_quote::shell_quote;
use crate::signals::Signals;
use crate::trace::Trace;

/// The servers a command needs, and how it treats them.
#[derive(Clone)]
pub(crate) struct HostRequest {
    /// The only configured server to start; all of them if `None`.
    pub(crate) server: Option<String>,
    pub(crate) options: SessionOptions,
    /// Whether calls are made without confirmation.
    pub(crate) yes: bool,
    /// Whether lost servers are restarted as configured: for long-running commands.
    pub(crate) keeps_running: bool,
    /// Answers the questions of servers, in place of the user.
    pub(crate) handler: Option<Arc<dyn ClientHandler>>,
}

impl HostRequest {
    /// Creates a request for a command that ends after one operation.
    pub(crate) fn new(server: Option<String>, options: SessionOptions) -> Self {
        Self { server, options, yes: false, keeps_running: false, handler: None }
    }

    /// Rejects options for one server if no server is named.
    ///
    /// # Errors
    /// Names the option.
    pub(crate) fn check_options(&self) -> Result<(), CommandError> {
        let given = self.options.program_options();
        match given.iter().find(|(is_given, _)| *is_given && self.server.is_none()) {
            Some((_, option)) => Err(CommandError::usage(format!("{option} applies to one server"))
                .hint("name a configured server: --server NAME")),
            None => Ok(()),
        }
    }

    /// Returns the spec of one server, with the options of the command line.
    ///
    /// # Errors
    /// Returns an error if its entry is not valid.
    pub(crate) fn spec(
        &self,
        server: &ConfiguredServer,
        screen: &Arc<Screen>,
        recorder: Option<&SessionRecorder>,
    ) -> Result<ServerSpec, ConfigError> {
        let mut spec = ServerSpec::from_configured(server)?;
        if let Some(recorder) = recorder {
            recorder.add_secrets(transport_secrets(&spec.transport));
        }
        if matches!(spec.start, StartPolicy::AtOnce | StartPolicy::WhenUsed) {
            spec.transport = self.apply_to_transport(&server.name, spec.transport, screen);
        }
        let ServerSpec { start, restart, startup_timeout, call_timeout, .. } = &mut spec;
        if let Some(time) = self.options.timeout {
            *startup_timeout = time;
            *call_timeout = Some(time);
        }
        if !self.keeps_running {
            // The command does not wait for another attempt.
            *restart = RestartPolicy::Never;
            // Its tools are unknown until it is started.
            if *start == StartPolicy::WhenUsed {
                *start = StartPolicy::AtOnce;
            }
        }
        Ok(spec)
    }

    /// Applies the variables, directory, limit and trace of the command line to a transport.
    fn apply_to_transport(&self, name: &str, transport: Transport, screen: &Arc<Screen>) -> Transport {
        let SessionOptions { max_message, trace, .. } = &self.options;
        match transport {
            Transport::Stdio(stdio) => {
                let mut stdio = apply_options(&self.options, *stdio);
                if *trace {
                    let secrets = program_secrets(&stdio);
                    let trace = Trace::new(Arc::clone(screen), secrets).with_label(name);
                    stdio = stdio.tap(Tap::new(move |direction, frame| trace.print(direction, frame)));
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
                let trace = Trace::new(Arc::clone(screen), header_secrets(&http)).with_label(name);
                let observer = Arc::new(move |direction, frame: &[u8]| trace.print(direction, frame));
                ServerSpec::custom(observed_dial(http, observer)).transport
            }
            other => other,
        }
    }
}

/// Values with the names of their servers.
type ByServer<T> = Vec<(String, T)>;

/// A host with configured servers, and the output streams of the command.
pub(crate) struct HostedServers {
    pub(crate) host: Host,
    pub(crate) files: ConfigFiles,
    /// The run that calls belong to.
    pub(crate) run: Run,
    pub(crate) out: OutputStream,
    pub(crate) screen: Arc<Screen>,
    pub(crate) json: bool,
    pub(crate) verbose: u8,
    request: HostRequest,
    /// Records the sessions of the host.
    recorder: Option<Arc<SessionRecorder>>,
    gate: Arc<Gate>,
    approvals: ApprovalFlags,
    stdin: Arc<StdinLines>,
    refusal: RefusalReason,
    /// Handler that asks the user, if there is a terminal.
    pub(crate) terminal: Option<Arc<elicitation::TerminalHandler>>,
    /// File of pinned tool definitions, if it can be used.
    pins: Option<PinFile>,
}

impl HostedServers {
    /// Starts the requested servers, and waits until each is ready or has failed.
    pub(crate) async fn start(&self) -> SetServersOutcome {
        let starting = self.apply(&self.files.resolved);
        let done = self.screen.with_spinner(|| self.starting_text(), starting).await;
        if self.verbose > 0 {
            self.request_logs().await;
        }
        done
    }

    /// Returns a text about the servers that are still starting.
    fn starting_text(&self) -> String {
        let is_starting = |name: &String| matches!(self.host.state(name), Ok(Status::Starting { .. }));
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

    /// Applies the configuration to the host.
    async fn apply(&self, files: &ResolvedConfig) -> SetServersOutcome {
        let (servers, broken) = self.specs(files);
        let mut done = self.host.set_servers(servers).await;
        done.errors.extend(broken);
        done
    }

    /// Returns the specs of the requested servers, and the errors of those that cannot be run. Registers the servers
    /// with the permission gate.
    pub(crate) fn specs(&self, files: &ResolvedConfig) -> (ByServer<ServerSpec>, ByServer<String>) {
        self.gate.set_servers_from_config(files);
        let (mut servers, mut broken) = (Vec::new(), Vec::new());
        for server in files.servers.iter().filter(|server| self.is_selected(&server.name)) {
            match self.request.spec(server, &self.screen, self.recorder.as_deref()) {
                Ok(spec) => servers.push((server.name.clone(), spec)),
                Err(fault) => broken.push((server.name.clone(), fault.to_string())),
            }
        }
        (servers, broken)
    }

    /// Returns the status of each configured server in order, including servers with invalid entries.
    pub(crate) fn statuses(&self, files: &ResolvedConfig) -> Vec<ServerStatus> {
        let status = |server: &ConfiguredServer| {
            self.host.server_status(&server.name).ok().or_else(|| ServerStatus::of_invalid(server))
        };
        files.servers.iter().filter_map(status).collect()
    }

    /// Returns which of several accounts at a server is used.
    pub(crate) fn account_selector(&self) -> AccountSelector {
        AccountSelector::new(self.account(), self.request.server.is_some())
    }

    /// Returns the account that the command line names.
    pub(crate) fn account(&self) -> Option<&str> {
        self.request.options.account.as_deref()
    }

    /// Returns the permission decision for a call of a tool.
    pub(crate) fn decide(&self, tool: &CatalogTool) -> Decision {
        self.gate.decide(&self.gate.subject(tool.server(), tool.tool()))
    }

    /// Explains why a server does not have a tool, and returns the most similar name it has.
    pub(crate) fn explain_missing(&self, server: &str, tool: &str) -> (String, Option<String>) {
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

    fn is_selected(&self, name: &str) -> bool {
        self.request.server.as_deref().is_none_or(|only| only == name)
    }

    /// Prints warnings, and log messages if verbose, for as long as it is polled.
    async fn print_events<T>(&self, mut events: HostEvents) -> Result<T, CommandError> {
        while let Some(event) = events.next().await {
            match event {
                HostEvent::ServerChange { change: Change::Log(message), .. } if self.verbose > 0 => {
                    self.screen.say(&log_line(&message, &self.screen.out));
                }
                HostEvent::ServerChange { change: Change::Task(task), .. } => {
                    self.screen.show_waiting(&task_line(&task))
                }
                HostEvent::Drift(drift) => {
                    let (server, tool) = (one_line(&drift.server), one_line(&drift.tool));
                    self.screen.warn(&format!(
                        "{server}/{tool} has changed since it was first seen; review it with `switchboard tools`, then \
                         accept it: switchboard forget {}",
                        shell_quote(&format!("{server}/{tool}"))
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

    /// Pins the definitions of tools that were seen for the first time.
    fn record_pins(&mut self) {
        let pins = self.host.pins();
        if let Some(Err(error)) = self.pins.as_mut().map(|file| file.record(&pins)) {
            self.screen.warn(&format!("tool definitions are not pinned: {}", one_line(&error.to_string())));
        }
    }

    /// Requests log messages from the connected servers.
    async fn request_logs(&self) {
        let level = if self.verbose > 1 { Level::Debug } else { Level::Info };
        for name in self.host.servers() {
            let Ok(session) = self.host.session(&name).await else { continue };
            if session.info().is_ok_and(|terms| terms.capabilities.logging.is_some()) {
                // A server that refuses sends fewer messages; that is no error.
                _ = session.set_log_level(level).await;
            }
        }
    }

    /// Starts the servers. A named server must be usable; for the others, prints warnings.
    ///
    /// # Errors
    /// Returns an error if no servers are configured, or the named server or a required server cannot be used.
    pub(crate) async fn start_usable(&self) -> Result<SetServersOutcome, CommandError> {
        if self.files.resolved.servers.is_empty() {
            let message = "no server given, and no servers are configured";
            return Err(CommandError::usage(message).hint(NO_SERVERS_HINT));
        }
        let done = self.start().await;
        if let Some(name) = &self.request.server {
            self.check_usable(name)?;
            return Ok(done);
        }
        self.warn_failed(&done);
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

    /// Prints a warning for each server that did not start.
    pub(crate) fn warn_failed(&self, done: &SetServersOutcome) {
        for (name, error) in &done.errors {
            let (name, error) = (one_line(name), one_line(error));
            self.screen.warn(&if error.contains(&name) { error } else { format!("{name}: {error}") });
        }
    }

    /// Checks that a server is connected.
    ///
    /// # Errors
    /// Returns the reason, with what to do, if it is not connected.
    pub(crate) fn check_usable(&self, name: &str) -> Result<(), CommandError> {
        let server = self.files.server(name)?;
        if let Err(fault) = &server.plan {
            return Err(fault.clone().into());
        }
        let status = self.host.state(name)?;
        match status.session_info() {
            Some(_) => Ok(()),
            None => Err(CommandError::not_ready(name, status).with_login_account(self.account())),
        }
    }

    /// Returns the session with one server, for commands about a single server.
    ///
    /// # Errors
    /// Returns an error if the server is not connected.
    pub(crate) async fn connection(&self, server: &str) -> Result<CommandSession, CommandError> {
        self.check_usable(server)?;
        let session = self.host.session(server).await?;
        Ok(CommandSession::new(session, self.out.clone(), Arc::clone(&self.screen), &self.request.options))
    }

    /// Asks for confirmation if the definition of a tool has changed since it was pinned; fails without a terminal.
    ///
    /// # Errors
    /// Returns an error if there is no terminal, or the user declines.
    pub(crate) async fn confirm_definition(&self, tool: &CatalogTool) -> Result<(), CommandError> {
        let (server, name) = (tool.server(), &tool.tool().name);
        if self.request.yes {
            return Ok(());
        }
        let Some(change) = self.host.definition_change(server, name) else { return Ok(()) };
        let shown = format!("{}/{}", one_line(server), one_line(name));
        let diff = render_changed_definition(&shown, &change, &self.screen.out)?;
        if !is_interactive(&self.screen) {
            // With `--json`, standard error has one object only.
            if !self.json {
                self.screen.write(&diff);
            }
            let text = format!("{shown} has changed since it was first seen");
            return Err(CommandError::other("changed_definition", text).hint(format!(
                "review it, then accept it: switchboard forget {}; or call it once with --yes",
                shell_quote(&shown)
            )));
        }
        let approver =
            TerminalApprover::new(Arc::clone(&self.screen), Arc::clone(&self.stdin), DeclinedFlag::default());
        let reply = approver.confirm_change(&diff).await;
        match (reply.answer, reply.lifetime) {
            (ApprovalAnswer::Deny, _) => Err(DeclinedFlag::error()),
            (ApprovalAnswer::Allow, AnswerLifetime::Always) => {
                Ok(self.host.accept_definition(server, name)?)
            }
            (ApprovalAnswer::Allow, _) => Ok(()),
        }
    }

    /// Converts an error of a call.
    pub(crate) fn explain(&self, error: HostError) -> CommandError {
        match error {
            HostError::Refused { .. } if self.approvals.declined.is_set() => DeclinedFlag::error(),
            HostError::Refused { tool, .. } if self.approvals.unanswered.was_asked() => {
                call_permission::confirmation_needed(&tool)
            }
            error => error.into(),
        }
    }
}

/// Builds a host, runs `use_it` and stops the servers. Ctrl-C cancels `use_it` and still stops the servers in order.
///
/// # Errors
/// Returns an error if the configuration is not valid or `use_it` fails.
pub(crate) async fn with_host<T>(
    request: HostRequest,
    use_it: impl AsyncFnOnce(&HostedServers) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let recorder = SessionRecorder::start(&request.options)?;
    let used = build_and_use(request, recorder.clone(), use_it).await;
    SessionRecorder::finish(recorder, used)
}

async fn build_and_use<T>(
    request: HostRequest,
    recorder: Option<Arc<SessionRecorder>>,
    use_it: impl AsyncFnOnce(&HostedServers) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let mut signals = Signals::catch()?;
    let mut hosted = build(request, recorder)?;
    #[cfg(feature = "otel")]
    let telemetry = crate::telemetry::Telemetry::start(&hosted.host)?;
    let events = hosted.host.events();
    let used = tokio::select! {
        biased;
        signal = signals.next() => Err(CommandError::Interrupted { signal }),
        // Polled first, so that messages are printed before the results that follow them.
        never = hosted.print_events(events) => never,
        used = use_it(&hosted) => used,
    };
    hosted.screen.clear();
    hosted.run.cancel();
    hosted.record_pins();
    // The recorded reason is more specific than the server's error.
    let used = hosted.refusal.explain(used);
    #[cfg(feature = "otel")]
    if let Some(telemetry) = &telemetry {
        telemetry.keep_host_metrics();
    }
    let used = tokio::select! {
        _ = tokio::time::timeout(CLOSE_TIMEOUT, hosted.host.close_detached()) => used,
        signal = signals.next() => Err(CommandError::Interrupted { signal }),
    };
    // After the servers: the sessions with them have ended.
    #[cfg(feature = "otel")]
    if let Some(telemetry) = telemetry
        && let Err(error) = telemetry.finish().await
    {
        hosted.screen.warn(&format!("telemetry was not sent: {}", one_line(&error)));
    }
    used
}

fn build(
    mut request: HostRequest,
    recorder: Option<Arc<SessionRecorder>>,
) -> Result<HostedServers, CommandError> {
    request.check_options()?;
    let expander = Expander::default();
    request.options = expander.options(&request.options)?;
    let options = &request.options;
    let files = ConfigFiles::read()?;
    if let Some(name) = &request.server {
        files.server(name)?;
    }
    let screen = Arc::new(Screen::with_json_warnings(options.json));
    files.warn(&screen);
    let stdin = Arc::new(StdinLines::default());
    let refusal = RefusalReason::default();
    let terminal = is_interactive(&screen)
        .then(|| Arc::new(elicitation::TerminalHandler::new(Arc::clone(&screen), Arc::clone(&stdin))));
    let run = Run::with_handler(match &request.handler {
        Some(handler) => Arc::clone(handler),
        None => client_handler(options, terminal.as_ref(), refusal.clone())?,
    });
    let ledger = Ledger::open(&files.locations.permissions).unwrap_or_else(|fault| {
        screen.warn(&format!("answers cannot be remembered: {}", one_line(&fault.to_string())));
        Ledger::in_memory()
    });
    let (gate, approvals) =
        call_permission::build_gate(files.resolved.rules.clone(), ledger, request.yes, &screen, &stdin);
    let gate = Arc::new(gate);
    let policy: Arc<Gate> = Arc::clone(&gate);
    let pins = pins::open(&files.locations).inspect_err(|error| {
        screen
            .warn(&format!("changed tool definitions cannot be detected: {}", one_line(&error.to_string())));
    });
    let pinned = pins.as_ref().map(|file| file.pins().clone()).unwrap_or_default();
    let mut builder = Host::builder();
    if let Some(revision) = options.revision {
        builder = builder.with_revisions(RevisionPolicy::Only(revision));
    }
    if let Some(logins) = open_logins(&screen) {
        let account = AccountSelector::new(options.account.as_deref(), request.server.is_some());
        builder = builder.with_credentials(Arc::new(logins.with_account(account)));
    }
    if let Some(recorder) = &recorder {
        recorder.add_secrets(options.env.iter().map(|(_, value)| value.as_str()));
        builder = builder.with_traffic_observer(Arc::<SessionRecorder>::clone(recorder));
    }
    if let Some(handler) = &request.handler {
        builder = builder.with_handler(Arc::clone(handler));
    }
    let host = builder
        .with_name("switchboard-cli", env!("CARGO_PKG_VERSION"))
        .with_limits(limits(options))
        .with_abilities(elicitation::CAPABILITIES)
        .with_call_policy(policy)
        .with_pins(pinned, DriftPolicy::Report)
        .without_resource_tools()
        .build();
    let SessionOptions { json, verbose, .. } = request.options;
    let out = OutputStream::stdout();
    Ok(HostedServers {
        host,
        files,
        run,
        out,
        screen,
        json,
        verbose,
        request,
        recorder,
        gate,
        approvals,
        stdin,
        refusal,
        terminal,
        pins: pins.ok(),
    })
}
