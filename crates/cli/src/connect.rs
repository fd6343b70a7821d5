//! From a command line to an open session, and from there to its end, however that comes.
//!
//! Invariant: a server that was started here is stopped before the command ends, unless the user is too impatient
//! to wait; then the process that supervises it does it.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard::protocol::{LogMessage, OrderedMap};
use switchboard::{
    CallError, Change, Client, ClientSession, Dial, Level, Limits, Offer, Raw, Stdio, Tap, Terms, Way,
};

use crate::args::{Options, Target};
use crate::ask::{AtTerminal, Refused, Scripted};
use crate::failure::{Failure, NO_ENDPOINT, Status};
use crate::output::{Paper, Screen};
use crate::remote::{self, Endpoint};
use crate::sanitize::{one_line, sanitize};
use crate::signals::Signals;
use crate::trace::Trace;
use crate::watched::{Scope, See, Watched};

/// How long stopping a server may take.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);
/// After this long the user is told what is being waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// An open session, and where to write what comes of it.
pub(crate) struct Connected {
    pub(crate) session: ClientSession,
    pub(crate) paper: Paper,
    pub(crate) screen: Arc<Screen>,
    /// Whether the specification's own JSON is wanted.
    pub(crate) json: bool,
    pub(crate) verbose: u8,
    opening: Arc<Opening>,
    refused: Refused,
}

impl Connected {
    /// A session that somebody else opened, and will end.
    pub(crate) fn of(session: ClientSession, paper: Paper, screen: Arc<Screen>, options: &Options) -> Self {
        let Options { json, verbose, .. } = *options;
        let (opening, refused) = (Arc::default(), Refused::default());
        Self { session, paper, screen, json, verbose, opening, refused }
    }

    /// What the session agreed on.
    ///
    /// # Errors
    /// When it is closed.
    pub(crate) fn terms(&self) -> Result<&Terms, Failure> {
        Ok(self.session.terms()?)
    }

    /// What the server said of itself when the session opened, as it wrote it.
    pub(crate) fn opening(&self) -> Option<Raw> {
        self.opening.0.lock().ok()?.clone()
    }
}

/// The last answer that described the server.
#[derive(Default)]
struct Opening(Mutex<Option<Raw>>);

impl Opening {
    fn see(&self, frame: &[u8]) {
        let parsed = std::str::from_utf8(frame).ok().and_then(|text| Raw::parse(text.to_owned()).ok());
        let members: Option<OrderedMap<Raw>> = parsed.and_then(|message| message.decode().ok());
        let result = members.and_then(|mut members| members.remove("result"));
        let describes = |result: &Raw| {
            result.decode::<OrderedMap<Raw>>().is_ok_and(|members| members.contains_key("capabilities"))
        };
        if let (Some(result), Ok(mut kept)) = (result.filter(describes), self.0.lock()) {
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
        _ = connected.session.close_within(CLOSING) => used,
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
    let client = client(options, &screen, refused.clone())?;
    let began = tokio::time::Instant::now();
    let mut connecting = std::pin::pin!(client.connect(dial));
    let session = tokio::select! {
        session = &mut connecting => session,
        () = tokio::time::sleep(PATIENCE) => {
            screen.waiting(&server.waited_for());
            connecting.await
        }
    };
    screen.clear();
    let session = session.map_err(|error| server.explain(error))?;
    if options.verbose > 0 {
        let terms = session.terms()?;
        let took = began.elapsed().as_millis();
        screen.say(&screen.paper.dim(&format!("{} in {took} ms", introduce(terms))));
        if terms.capabilities.logging.is_some() {
            session.set_log_level(if options.verbose > 1 { Level::Debug } else { Level::Info }).await?;
        }
    }
    let Options { json, verbose, .. } = *options;
    Ok(Connected { session, paper: Paper::stdout(), screen, json, verbose, opening, refused })
}

/// Who was met: `Demo 1.0, protocol 2026-07-28`.
pub(crate) fn introduce(terms: &Terms) -> String {
    let who = match &terms.server {
        Some(server) => {
            let name = one_line(server.title.as_deref().unwrap_or(&server.name));
            format!("{name} {}", one_line(&server.version)).trim_end().to_owned()
        }
        None => "a server without a name".to_owned(),
    };
    format!("{who}, protocol {}", terms.revision)
}

/// Which server: a program that is started here, or one at an address.
enum Server {
    Program { name: String, command: Box<Stdio> },
    Remote(Box<Endpoint>),
}

impl Server {
    async fn read(target: &Target) -> Result<Self, Failure> {
        const HOW: &str = "put its command behind two dashes: switchboard tools -- npx -y \
                           @modelcontextprotocol/server-everything; give its address: --url https://…; or name one \
                           that is remembered: --server NAME";
        match (&target.remote.url, target.command.split_first()) {
            (Some(url), None) => Ok(Self::Remote(Box::new(remote::endpoint(&target.remote, url).await?))),
            (None, Some((program, args))) => {
                let name = one_line(&program.to_string_lossy());
                let command = Box::new(command(&target.options, Stdio::new(program).args(args)));
                Ok(Self::Program { name, command })
            }
            (None, None) => Err(Failure::usage("no server is named").hint(HOW)),
            (Some(_), Some(_)) => Err(Failure::usage("two servers are named, an address and a command")
                .hint("leave one of them out")),
        }
    }

    fn dial(&self, options: &Options, screen: &Arc<Screen>, opening: &Arc<Opening>) -> Arc<dyn Dial> {
        match self {
            Self::Program { command, .. } => {
                let values = options.env.iter().map(|(_, value)| value.clone());
                let see = see(options.trace.then(|| Trace::new(Arc::clone(screen), values)), opening);
                Arc::new(Stdio::clone(command).tap(Tap::new(move |way, frame| see(way, frame))))
            }
            Self::Remote(endpoint) => {
                let trace = options.trace.then(|| Trace::new(Arc::clone(screen), endpoint.secrets.clone()));
                let scope = if options.trace { Scope::Everything } else { Scope::Exchanges };
                Arc::new(Watched::new(endpoint.http.clone(), see(trace, opening), scope))
            }
        }
    }

    fn waited_for(&self) -> String {
        match self {
            Self::Program { name, .. } => format!("waiting for {name} to start…"),
            // The short form: there may be a token in the query.
            Self::Remote(endpoint) => format!("waiting for {:?}…", endpoint.address),
        }
    }

    /// Why no session was opened, with a hint that fits the server.
    fn explain(&self, error: CallError) -> Failure {
        let is_told = matches!(error, CallError::Remote(_));
        let failure = Failure::from(error);
        match self {
            Self::Program { .. } => failure,
            // An endpoint that opens no session in any revision is none.
            Self::Remote(_) if is_told => failure.status(Status::Unreachable).hint(NO_ENDPOINT),
            Self::Remote(endpoint) => {
                failure.hint_if("unreachable", remote::unreachable_hint(&endpoint.address))
            }
        }
    }
}

fn command(options: &Options, mut command: Stdio) -> Stdio {
    for (name, value) in &options.env {
        command = command.env(name, value);
    }
    for name in &options.inherit_env {
        command = command.inherit_env(name);
    }
    if let Some(directory) = &options.cwd {
        command = command.cwd(directory);
    }
    command
}

fn see(trace: Option<Trace>, opening: &Arc<Opening>) -> See {
    let opening = Arc::clone(opening);
    Arc::new(move |way, frame| {
        if let Some(trace) = &trace {
            trace.show(way, frame);
        }
        // Nothing but the opening describes the server, so this looks at little.
        if way == Way::In && frame.windows(14).any(|part| part == b"\"capabilities\"") {
            opening.see(frame);
        }
    })
}

fn client(options: &Options, screen: &Arc<Screen>, refused: Refused) -> Result<Client, Failure> {
    let mut client = Client::new().with_name("switchboard-cli", env!("CARGO_PKG_VERSION")).with_tasks();
    if let Some(revision) = options.revision {
        client = client.with_offer(Offer::Only(revision));
    }
    client = client.with_limits(limits(options));
    Ok(match &options.answers {
        Some(answers) => client.with_answers(Scripted::read(answers, refused)?),
        None if std::io::stdin().is_terminal() && screen.paper.is_terminal => {
            client.with_answers(AtTerminal::new(Arc::clone(screen), Arc::default()))
        }
        // Nobody is here: servers are told so from the start.
        None => client,
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

/// Shows log messages for as long as it is polled, where they are wanted.
async fn tell_logs<T>(connected: &Connected) -> Result<T, Failure> {
    if connected.verbose > 0 {
        let mut changes = connected.session.changes()?;
        while let Some(change) = changes.next().await {
            if let Change::Log(message) = change {
                connected.screen.say(&log_line(&message, &connected.screen.paper));
            }
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
