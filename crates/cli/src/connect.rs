//! Session with a server given on the command line: connects, runs the command, closes.
//!
//! Invariant: a server that was started here is stopped before the command ends. If the user interrupts that too, its
//! supervisor stops it.

mod target_server;

use std::sync::Arc;
use std::time::Duration;

use switchboard::Client;
use switchboard::client::{Change, ClientHandler, ClientSession, Limits, RevisionPolicy, SessionInfo};
use switchboard::host::Transport;
use switchboard::host::permission::ServerIdentity;
use switchboard::protocol::{Level, LogMessage, OrderedMap, Raw};
use switchboard_terminal::is_interactive;

use self::target_server::{HandshakeRecord, TargetServer};
use crate::args::{ServerTarget, SessionOptions};
use crate::elicitation::{RefusalReason, RefusingHandler, ScriptedAnswers, TerminalHandler};
use crate::error::CommandError;
use crate::output::{OutputStream, Screen};
use crate::sanitize::{one_line, sanitize};
use crate::session_recorder::SessionRecorder;
use crate::signals::Signals;

pub(crate) use target_server::{apply_options, no_server, record_stray_line};

/// Timeout for stopping a server.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// An open session, with the output streams of the command.
pub(crate) struct CommandSession {
    pub(crate) session: ClientSession,
    pub(crate) out: OutputStream,
    pub(crate) screen: Arc<Screen>,
    /// Whether to print the JSON of the protocol.
    pub(crate) json: bool,
    pub(crate) verbose: u8,
    /// The server, if it was given on the command line.
    pub(crate) ad_hoc: Option<AdHocServer>,
    handshake: Arc<HandshakeRecord>,
    refusal: RefusalReason,
    /// Handler that asks the user, if there is a terminal.
    pub(crate) terminal: Option<Arc<TerminalHandler>>,
}

impl CommandSession {
    /// Wraps a session that the caller opened and closes.
    pub(crate) fn new(
        session: ClientSession,
        out: OutputStream,
        screen: Arc<Screen>,
        options: &SessionOptions,
    ) -> Self {
        let SessionOptions { json, verbose, .. } = *options;
        let (handshake, refusal) = (Arc::default(), RefusalReason::default());
        let ad_hoc = None;
        Self { session, out, screen, json, verbose, ad_hoc, handshake, refusal, terminal: None }
    }

    /// Returns the name under which the user knows the server; never the name it reports itself.
    pub(crate) fn server_name(&self) -> String {
        self.ad_hoc.as_ref().map_or_else(|| "the server".to_owned(), |server| server.name.clone())
    }

    /// Returns the negotiated session info.
    ///
    /// # Errors
    /// Returns an error if the session is closed.
    pub(crate) fn session_info(&self) -> Result<&SessionInfo, CommandError> {
        Ok(self.session.info()?)
    }

    /// Returns the result with which the server described itself during the handshake, unchanged.
    pub(crate) fn handshake_result(&self) -> Option<Raw> {
        self.handshake.result.lock().ok()?.clone()
    }
}

/// A server given on the command line, as permission rules identify it.
pub(crate) struct AdHocServer {
    /// The program without its directory, or the host.
    pub(crate) name: String,
    pub(crate) transport: Transport,
}

impl AdHocServer {
    /// Resolves the server that the command line gives, without connecting to it.
    ///
    /// # Errors
    /// Returns an error about the command line.
    pub(crate) async fn resolve(target: &ServerTarget) -> Result<Self, CommandError> {
        let server = TargetServer::resolve(target).await?;
        Ok(Self { name: server.name(), transport: server.transport() })
    }

    /// Returns the identity under which permission answers are remembered: exactly the given command or URL.
    pub(crate) fn identity(&self) -> ServerIdentity {
        ServerIdentity::new(&self.name, &self.transport)
    }
}

/// Opens a session, runs `use_it` and closes the session. Ctrl-C cancels the work in progress and still closes in order.
///
/// # Errors
/// Returns an error if the session cannot be opened or `use_it` fails.
pub(crate) async fn with_connection<T>(
    target: &ServerTarget,
    use_it: impl AsyncFnOnce(&CommandSession) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    with_connection_and_handler(target, None, use_it).await
}

/// As [`with_connection`], with the answers of this handler to the questions of the server.
pub(crate) async fn with_connection_and_handler<T>(
    target: &ServerTarget,
    handler: Option<Arc<dyn ClientHandler>>,
    use_it: impl AsyncFnOnce(&CommandSession) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let recorder = SessionRecorder::start(&target.options)?;
    let used = connect_and_use(target, recorder.as_ref(), handler, use_it).await;
    SessionRecorder::finish(recorder, used)
}

async fn connect_and_use<T>(
    target: &ServerTarget,
    recorder: Option<&Arc<SessionRecorder>>,
    handler: Option<Arc<dyn ClientHandler>>,
    use_it: impl AsyncFnOnce(&CommandSession) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let mut signals = Signals::catch()?;
    // A session that is dropped while it opens stops its server by itself.
    let connection = tokio::select! {
        connection = open(target, recorder, handler) => connection?,
        signal = signals.next() => return Err(CommandError::Interrupted { signal }),
    };
    let used = tokio::select! {
        biased;
        signal = signals.next() => Err(CommandError::Interrupted { signal }),
        // Polled first, so that messages are printed before the results that follow them.
        never = print_notifications(&connection) => never,
        used = use_it(&connection) => used,
    };
    connection.screen.clear();
    let used = connection.refusal.explain(used);
    tokio::select! {
        _ = tokio::time::timeout(CLOSE_TIMEOUT, connection.session.close_detached()) => used,
        signal = signals.next() => Err(CommandError::Interrupted { signal }),
    }
}

async fn open(
    target: &ServerTarget,
    recorder: Option<&Arc<SessionRecorder>>,
    handler: Option<Arc<dyn ClientHandler>>,
) -> Result<CommandSession, CommandError> {
    let options = &target.options;
    let screen = Arc::new(Screen::new());
    let handshake = Arc::new(HandshakeRecord::default());
    let server = TargetServer::resolve(target).await?;
    let dial = server.dial(options, &screen, recorder, &handshake);
    let refusal = RefusalReason::default();
    let terminal = is_interactive(&screen).then(|| {
        Arc::new(TerminalHandler::new(Arc::clone(&screen), Arc::default()).for_server(&server.name()))
    });
    let client = build_client(options, handler, terminal.as_ref(), refusal.clone())?;
    let started = tokio::time::Instant::now();
    let session = screen.with_spinner(|| server.waiting_text(), client.connect(dial)).await;
    let session = session.map_err(|error| server.explain(error, &handshake))?;
    if options.verbose > 0 {
        let terms = session.info()?;
        let took = started.elapsed().as_millis();
        screen.say(&screen.out.dim(&format!("{} in {took} ms", server_summary(terms))));
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
    let SessionOptions { json, verbose, .. } = *options;
    let ad_hoc = Some(AdHocServer { name: server.name(), transport: server.transport() });
    let out = OutputStream::stdout();
    Ok(CommandSession { session, out, screen, json, verbose, ad_hoc, handshake, refusal, terminal })
}

/// Returns a summary of the server: `Demo 1.0, protocol 2026-07-28`.
pub(crate) fn server_summary(terms: &SessionInfo) -> String {
    let server = match &terms.server {
        Some(server) => {
            let name = one_line(server.title.as_deref().unwrap_or(&server.name));
            format!("{name} {}", one_line(&server.version)).trim_end().to_owned()
        }
        None => "a server without a name".to_owned(),
    };
    format!("{server}, protocol {}", terms.revision)
}

/// Returns `starting npx…`, with the last line the program wrote to stderr.
pub(crate) fn starting_text(name: &str, stderr: &str) -> String {
    match stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("starting {name}…  {}", one_line(line)),
        None => format!("starting {name}…"),
    }
}

/// Returns the state of a task on one line.
pub(crate) fn task_line(task: &Raw) -> String {
    let members: OrderedMap<Raw> = task.decode().unwrap_or_default();
    let text = |key: &str| members.get(key).and_then(|value| value.decode::<String>().ok());
    let status = text("status").unwrap_or_else(|| "running".to_owned());
    let message = text("statusMessage").map(|message| format!(": {}", one_line(&message)));
    format!("task {}{}", one_line(&status), message.unwrap_or_default())
}

fn build_client(
    options: &SessionOptions,
    handler: Option<Arc<dyn ClientHandler>>,
    terminal: Option<&Arc<TerminalHandler>>,
    refusal: RefusalReason,
) -> Result<Client, CommandError> {
    let client = Client::new().with_name("switchboard-cli", env!("CARGO_PKG_VERSION")).with_tasks();
    let mut client = client.with_limits(limits(options));
    if let Some(revision) = options.revision {
        client = client.with_revisions(RevisionPolicy::Only(revision));
    }
    let handler = match handler {
        Some(handler) => handler,
        None => client_handler(options, terminal, refusal)?,
    };
    Ok(client.with_answers(handler))
}

/// Returns the handler for the questions of servers: answers given in advance, the user at the terminal, or a refusal.
///
/// # Errors
/// Returns an error if the answers cannot be read.
pub(crate) fn client_handler(
    options: &SessionOptions,
    terminal: Option<&Arc<TerminalHandler>>,
    refusal: RefusalReason,
) -> Result<Arc<dyn ClientHandler>, CommandError> {
    let handler: Arc<dyn ClientHandler> = match (&options.answers, terminal) {
        (Some(answers), _) => Arc::new(ScriptedAnswers::read(answers, refusal)?),
        (None, Some(terminal)) => terminal.clone(),
        (None, None) => Arc::new(RefusingHandler(refusal)),
    };
    Ok(handler)
}

/// Returns the session limits with the timeout of the command line.
pub(crate) fn limits(options: &SessionOptions) -> Limits {
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

/// Prints task states, and log messages if verbose, for as long as it is polled.
async fn print_notifications<T>(connection: &CommandSession) -> Result<T, CommandError> {
    let mut changes = connection.session.changes()?;
    while let Some(change) = changes.next().await {
        match change {
            Change::Log(message) if connection.verbose > 0 => {
                connection.screen.say(&log_line(&message, &connection.screen.out));
            }
            Change::Task(task) => connection.screen.show_waiting(&task_line(&task)),
            _ => {}
        }
    }
    std::future::pending().await
}

/// Returns a log message on one line.
pub(crate) fn log_line(message: &LogMessage, out: &OutputStream) -> String {
    let data = message.data.decode::<String>().unwrap_or_else(|_| message.data.as_str().to_owned());
    let logger = message.logger.as_deref().map(|logger| format!(" {}", one_line(logger))).unwrap_or_default();
    format!("{} {}", out.dim(&format!("[{}{logger}]", message.level)), sanitize(&data))
}
