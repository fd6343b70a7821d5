//! From a command line to an open session, and from there to its end, however that comes.
//!
//! Invariant: a server that was started here is stopped before the command ends, unless the user is too impatient
//! to wait; then the process that supervises it does it.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use switchboard::host::Transport;
use switchboard::host::permission::ServerIdentity;
use switchboard::protocol::{LogMessage, OrderedMap};
use switchboard::session::link::{BoxFuture, Link, Rung};
use switchboard::transport::stdio::ChildHandle;
use switchboard::{
    CallError, Change, Client, ClientSession, Dial, Direction, Level, Limits, LinkError, Raw, RevisionPolicy,
    SessionInfo, Stdio, Tap,
};
use switchboard_terminal::is_interactive;

use crate::args::{self, Options, Target};
use crate::ask::{AtTerminal, Nobody, Refused, Scripted, web_host};
use crate::expand::Expander;
use crate::failure::{Failure, NO_ENDPOINT, Status};
use crate::output::{Paper, Screen};
use crate::remote::{self, Endpoint};
use crate::sanitize::{one_line, sanitize};
use crate::signals::Signals;
use crate::trace::Trace;
use crate::watched::{Scope, See, Watched};

/// How long stopping a server may take.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);

/// An open session, and where to write what comes of it.
pub(crate) struct Connected {
    pub(crate) session: ClientSession,
    pub(crate) paper: Paper,
    pub(crate) screen: Arc<Screen>,
    /// Whether the specification's own JSON is wanted.
    pub(crate) json: bool,
    pub(crate) verbose: u8,
    /// A server that is not configured, as permission knows it.
    pub(crate) unconfigured: Option<Unconfigured>,
    opening: Arc<Opening>,
    refused: Refused,
    /// Whoever sits at the terminal, if there is somebody.
    pub(crate) people: Option<Arc<AtTerminal>>,
}

impl Connected {
    /// A session that somebody else opened, and will end.
    pub(crate) fn of(session: ClientSession, paper: Paper, screen: Arc<Screen>, options: &Options) -> Self {
        let Options { json, verbose, .. } = *options;
        let (opening, refused) = (Arc::default(), Refused::default());
        let unconfigured = None;
        Self { session, paper, screen, json, verbose, unconfigured, opening, refused, people: None }
    }

    /// What the user knows the server by; never what it calls itself.
    pub(crate) fn who(&self) -> String {
        self.unconfigured.as_ref().map_or_else(|| "the server".to_owned(), |server| server.name.clone())
    }

    /// What the session agreed on.
    ///
    /// # Errors
    /// When it is closed.
    pub(crate) fn terms(&self) -> Result<&SessionInfo, Failure> {
        Ok(self.session.terms()?)
    }

    /// What the server said of itself when the session opened, as it wrote it.
    pub(crate) fn opening(&self) -> Option<Raw> {
        self.opening.result.lock().ok()?.clone()
    }
}

/// A server named on the command line, as permission knows it.
pub(crate) struct Unconfigured {
    /// What was typed: the program without its directory, or the host.
    pub(crate) name: String,
    pub(crate) transport: Transport,
}

impl Unconfigured {
    /// Answers are remembered about exactly what was typed.
    pub(crate) fn identity(&self) -> ServerIdentity {
        ServerIdentity::new(&self.name, &self.transport)
    }
}

/// The last answer that described the server.
#[derive(Default)]
struct Opening {
    result: Mutex<Option<Raw>>,
    /// The first line of its stdout that is not a message.
    junk: OnceLock<String>,
}

impl Opening {
    fn see(&self, frame: &[u8]) {
        let parsed = std::str::from_utf8(frame).ok().and_then(|text| Raw::parse(text.to_owned()).ok());
        let members: Option<OrderedMap<Raw>> = parsed.and_then(|message| message.decode().ok());
        let result = members.and_then(|mut members| members.remove("result"));
        let describes = |result: &Raw| {
            result.decode::<OrderedMap<Raw>>().is_ok_and(|members| members.contains_key("capabilities"))
        };
        if let (Some(result), Ok(mut kept)) = (result.filter(describes), self.result.lock()) {
            *kept = Some(result);
        }
    }
}

/// Opens a session, uses it, and ends it. Ctrl-C cancels what is under way and still ends it in order.
///
/// # Errors
/// Why the session did not open, or why its use failed.
pub(crate) async fn with<T>(
    target: &Target,
    use_it: impl AsyncFnOnce(&Connected) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut signals = Signals::catch()?;
    // Dropped while it opens, a session ends its server by itself.
    let connected = tokio::select! {
        connected = open(target) => connected?,
        signal = signals.next() => return Err(Failure::Interrupted { signal }),
    };
    let used = tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::Interrupted { signal }),
        // Before the use, so that what the server said first is read first.
        never = tell_logs(&connected) => never,
        used = use_it(&connected) => used,
    };
    connected.screen.clear();
    let used = match (used, connected.refused.why()) {
        (Err(Failure::Told(_)), Some(why)) => Err(CallError::InputRefused(why.to_owned()).into()),
        (used, _) => used,
    };
    tokio::select! {
        _ = tokio::time::timeout(CLOSING, connected.session.close_detached()) => used,
        signal = signals.next() => Err(Failure::Interrupted { signal }),
    }
}

async fn open(target: &Target) -> Result<Connected, Failure> {
    let options = &target.options;
    let screen = Arc::new(Screen::new());
    let opening = Arc::new(Opening::default());
    let server = Server::read(target).await?;
    let dial = server.dial(options, &screen, &opening);
    let refused = Refused::default();
    let people = is_interactive(&screen)
        .then(|| Arc::new(AtTerminal::new(Arc::clone(&screen), Arc::default()).for_server(&server.name())));
    let client = client(options, people.as_ref(), refused.clone())?;
    let began = tokio::time::Instant::now();
    let session = screen.while_waiting(|| server.waited_for(), client.connect(dial)).await;
    let session = session.map_err(|error| server.explain(error, &opening))?;
    if options.verbose > 0 {
        let terms = session.terms()?;
        let took = began.elapsed().as_millis();
        screen.say(&screen.paper.dim(&format!("{} in {took} ms", introduce(terms))));
        if terms.capabilities.logging.is_some() {
            let level = if options.verbose > 1 { Level::Debug } else { Level::Info };
            if let Err(error) = session.set_log_level(level).await {
                screen.warn(&format!(
                    "the server refused to send log messages: {}",
                    one_line(&error.to_string())
                ));
            }
        }
    }
    let Options { json, verbose, .. } = *options;
    let unconfigured = Some(Unconfigured { name: server.name(), transport: server.transport() });
    let paper = Paper::stdout();
    Ok(Connected { session, paper, screen, json, verbose, unconfigured, opening, refused, people })
}

/// Who was met: `Demo 1.0, protocol 2026-07-28`.
pub(crate) fn introduce(terms: &SessionInfo) -> String {
    let who = match &terms.server {
        Some(server) => {
            let name = one_line(server.title.as_deref().unwrap_or(&server.name));
            format!("{name} {}", one_line(&server.version)).trim_end().to_owned()
        }
        None => "a server without a name".to_owned(),
    };
    format!("{who}, protocol {}", terms.revision)
}

/// `starting npx…`, and the last line the program wrote to stderr.
pub(crate) fn starting_text(name: &str, stderr: &str) -> String {
    match stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("starting {name}…  {}", one_line(line)),
        None => format!("starting {name}…"),
    }
}

/// The state of a task on one line.
pub(crate) fn task_line(task: &Raw) -> String {
    let members: OrderedMap<Raw> = task.decode().unwrap_or_default();
    let text = |key: &str| members.get(key).and_then(|value| value.decode::<String>().ok());
    let status = text("status").unwrap_or_else(|| "running".to_owned());
    let message = text("statusMessage").map(|message| format!(": {}", one_line(&message)));
    format!("task {}{}", one_line(&status), message.unwrap_or_default())
}

/// The process of a server that is being started, if there is one.
#[derive(Default)]
struct ChildSlot(Mutex<Option<ChildHandle>>);

impl ChildSlot {
    /// The last lines the process wrote to stderr.
    fn stderr_tail(&self) -> String {
        let child = self.0.lock().ok().and_then(|child| child.clone());
        child.map(|child| child.stderr_tail()).unwrap_or_default()
    }
}

/// Starts a program and keeps a handle of its process.
struct Spawn {
    command: Stdio,
    child: Arc<ChildSlot>,
}

impl Dial for Spawn {
    fn dial(
        &self,
        rung: Rung,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move {
            match (rung, previous) {
                (Rung::Legacy, Some(link)) if link.ended().is_none() => Ok(link),
                _ => {
                    let (link, child) = self.command.start()?;
                    if let Ok(mut slot) = self.child.0.lock() {
                        *slot = Some(child);
                    }
                    Ok(link as Arc<dyn Link>)
                }
            }
        })
    }
}

/// Which server: a program that is started here, or one at an address.
enum Server {
    Program {
        name: String,
        command: Box<Stdio>,
        child: Arc<ChildSlot>,
        /// What must not be seen in a trace.
        secrets: Vec<String>,
    },
    Remote(Box<Endpoint>),
}

impl Server {
    async fn read(target: &Target) -> Result<Self, Failure> {
        const HOW: &str =
            "give its command after --, its URL with --url, or a remembered server with --server NAME";
        check(target)?;
        match (&target.remote.url, target.command.split_first()) {
            (Some(url), None) => Ok(Self::Remote(Box::new(
                remote::endpoint(&target.remote, url, target.options.max_message).await?,
            ))),
            (None, Some((program, args))) => {
                let name = one_line(&program.to_string_lossy());
                let expander = Expander::default();
                let options = expander.options(&target.options)?;
                let command = Box::new(equipped(&options, expander.command(program, args)?));
                let mut secrets = expander.into_values();
                secrets.extend(options.env.into_iter().map(|(_, value)| value));
                Ok(Self::Program { name, command, child: Arc::default(), secrets })
            }
            (None, None) => Err(Failure::usage("no server given").hint(HOW)),
            (Some(_), Some(_)) => {
                Err(Failure::usage("both a URL and a command are given").hint("leave one of them out"))
            }
        }
    }

    fn dial(&self, options: &Options, screen: &Arc<Screen>, opening: &Arc<Opening>) -> Arc<dyn Dial> {
        match self {
            Self::Program { command, child, secrets, .. } => {
                let trace = options.trace.then(|| Trace::new(Arc::clone(screen), secrets.clone()));
                let see = see(trace, opening);
                let command = Stdio::clone(command).tap(Tap::new(move |way, frame| see(way, frame)));
                Arc::new(Spawn { command, child: Arc::clone(child) })
            }
            Self::Remote(endpoint) => {
                let trace = options.trace.then(|| Trace::new(Arc::clone(screen), endpoint.secrets.clone()));
                let scope = if options.trace { Scope::Everything } else { Scope::Exchanges };
                Arc::new(Watched::new(endpoint.http.clone(), see(trace, opening), scope))
            }
        }
    }

    /// What the user knows it by: what they typed.
    fn name(&self) -> String {
        match self {
            Self::Program { name, .. } => name.rsplit('/').next().unwrap_or(name).to_owned(),
            Self::Remote(endpoint) => web_host::host(endpoint.http.url()).to_owned(),
        }
    }

    fn transport(&self) -> Transport {
        match self {
            Self::Program { command, .. } => Transport::Stdio(command.clone()),
            Self::Remote(endpoint) => Transport::Http(Box::new(endpoint.http.clone())),
        }
    }

    fn waited_for(&self) -> String {
        match self {
            Self::Program { name, child, .. } => starting_text(name, &child.stderr_tail()),
            // The short form: there may be a token in the query.
            Self::Remote(endpoint) => format!("connecting to {:?}…", endpoint.address),
        }
    }

    /// Why no session was opened, with a hint that fits the server.
    fn explain(&self, error: CallError, opening: &Opening) -> Failure {
        let is_told = matches!(error, CallError::Remote(_));
        let failure = Failure::from(error);
        match self {
            Self::Program { .. } => match opening.junk.get() {
                Some(line) => failure.also(&format!("its first line on stdout is not a message: {line:?}")),
                None => failure,
            },
            // An endpoint that opens no session in any revision is none.
            Self::Remote(_) if is_told => failure.status(Status::Unreachable).hint(NO_ENDPOINT),
            Self::Remote(_) => failure,
        }
    }
}

/// Options for one kind of server, given for the other.
fn check(target: &Target) -> Result<(), Failure> {
    let (remote, options) = (&target.remote, &target.options);
    let is_remote = remote.url.is_some();
    let for_remote = [
        (!remote.headers.is_empty(), "--header"),
        (remote.header_helper.is_some(), "--header-helper"),
        (remote.bearer_env.is_some(), "--bearer-env"),
        (remote.allow_http, "--allow-http"),
        (remote.transport != args::Transport::Auto, "--transport"),
    ];
    let for_program = [
        (!options.env.is_empty(), "--env"),
        (!options.inherit_env.is_empty(), "--inherit-env"),
        (options.cwd.is_some(), "--cwd"),
    ];
    let (given, what) = match is_remote {
        true => (&for_program[..], "a program, and this server is at an address"),
        false => (&for_remote[..], "a server at an address, and this one is a program"),
    };
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(Failure::usage(format!("{option} is for {what}"))),
        None => Ok(()),
    }
}

/// The command with what the options give it.
fn equipped(options: &Options, mut command: Stdio) -> Stdio {
    for (name, value) in &options.env {
        command = command.env(name, value);
    }
    for name in &options.inherit_env {
        command = command.inherit_env(name);
    }
    if let Some(directory) = &options.cwd {
        command = command.cwd(directory);
    }
    if let Some(bytes) = options.max_message {
        command = command.line_limit(bytes);
    }
    command
}

/// Keeps the first line that a server writes to stdout and that is not a message.
pub(crate) fn note_junk(frame: &[u8], junk: &OnceLock<String>) {
    const SHOWN: usize = 200;
    let text = frame.trim_ascii();
    if !text.is_empty() && !text.starts_with(b"{") && !text.starts_with(b"[") {
        let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
        junk.get_or_init(|| one_line(&text));
    }
}

fn see(trace: Option<Trace>, opening: &Arc<Opening>) -> See {
    let opening = Arc::clone(opening);
    Arc::new(move |way, frame| {
        if let Some(trace) = &trace {
            trace.show(way, frame);
        }
        if way == Direction::In {
            note_junk(frame, &opening.junk);
        }
        // Nothing but the opening describes the server, so this looks at little.
        if way == Direction::In && frame.windows(14).any(|part| part == b"\"capabilities\"") {
            opening.see(frame);
        }
    })
}

fn client(options: &Options, people: Option<&Arc<AtTerminal>>, refused: Refused) -> Result<Client, Failure> {
    let mut client = Client::new().with_name("switchboard-cli", env!("CARGO_PKG_VERSION")).with_tasks();
    if let Some(revision) = options.revision {
        client = client.with_offer(RevisionPolicy::Only(revision));
    }
    client = client.with_limits(limits(options));
    Ok(match (&options.answers, people) {
        (Some(answers), _) => client.with_answers(Scripted::read(answers, refused)?),
        (None, Some(people)) => client.with_answers(Arc::clone(people)),
        (None, None) => client.with_answers(Nobody(refused)),
    })
}

/// How long a session waits, as far as the command line says.
pub(crate) fn limits(options: &Options) -> Limits {
    let mut limits = Limits::default();
    if let Some(time) = options.timeout {
        for limit in [
            &mut limits.startup,
            &mut limits.call_idle,
            &mut limits.call_total,
            &mut limits.read,
            &mut limits.complete,
            &mut limits.page,
            &mut limits.list,
        ] {
            *limit = time;
        }
    }
    limits
}

/// Shows the state of tasks, and log messages where they are wanted, for as long as it is polled.
async fn tell_logs<T>(connected: &Connected) -> Result<T, Failure> {
    let mut changes = connected.session.changes()?;
    while let Some(change) = changes.next().await {
        match change {
            Change::Log(message) if connected.verbose > 0 => {
                connected.screen.say(&log_line(&message, &connected.screen.paper));
            }
            Change::Task(task) => connected.screen.waiting(&task_line(&task)),
            _ => {}
        }
    }
    std::future::pending().await
}

/// A log message on a line.
pub(crate) fn log_line(message: &LogMessage, paper: &Paper) -> String {
    let data = message.data.decode::<String>().unwrap_or_else(|_| message.data.as_str().to_owned());
    let logger = message.logger.as_deref().map(|logger| format!(" {}", one_line(logger))).unwrap_or_default();
    format!("{} {}", paper.dim(&format!("[{}{logger}]", message.level)), sanitize(&data))
}
