//! How a command fails: what is said about it, and the exit code, which scripts rely on.

mod hosted;

use std::io;
use std::process::ExitCode;

use http::StatusCode;
use serde::Serialize;
use switchboard::session::link::{Challenge, StartError, StartErrorKind, UnreachableKind};
use switchboard::{CallError, ErrorCode, LinkError, Raw, RpcError, TimeoutKind};
use switchboard_terminal::{Paper, size};

use crate::sanitize::{json, one_line, sanitize};

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something to tell the user about.
    Told(Box<Report>),
    /// What is wrong was shown already: only the exit code is left to say.
    Shown {
        /// The exit code.
        status: Status,
    },
    /// Nobody reads our output any more: nothing to say, and nobody to say it to.
    OutputClosed,
    /// The user, or the system, wants us to end.
    Interrupted {
        /// By this signal.
        signal: u8,
    },
}

/// What is told of a failure.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<ErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Raw>,
    #[serde(rename = "stderr", skip_serializing_if = "Option::is_none")]
    last_words: Option<String>,
    /// The status of an answer over HTTP.
    #[serde(rename = "status", skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    /// The step at which a server could not be reached.
    #[serde(skip)]
    unreachable: Option<UnreachableKind>,
    #[serde(skip)]
    status: Status,
}

/// The exit codes of all our command lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Status {
    /// Any failure without a code of its own.
    Other = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The server wants to know who we are.
    Authentication = 3,
    /// The server cannot be reached, or does not speak the protocol.
    Unreachable = 4,
    /// The tool says it failed.
    Tool = 5,
}

/// What to do when an address leads to a server but not to its endpoint.
pub(crate) const NO_ENDPOINT: &str = "check the URL path: most servers use /mcp, and those of 2024 use /sse";

/// Whom a failure is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorStyle {
    /// A person.
    People,
    /// A program.
    Json,
}

impl Failure {
    pub(crate) fn new(status: Status, kind: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Told(Box::new(Report {
            kind,
            message,
            hint: None,
            code: None,
            data: None,
            last_words: None,
            http_status: None,
            unreachable: None,
            status,
        }))
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, "usage", message)
    }

    /// The same with what to do next.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.with(|report| report.hint = Some(hint.into()))
    }

    /// The same with another fact at the end of its message.
    #[must_use]
    pub(crate) fn also(self, fact: &str) -> Self {
        self.with(|report| report.message = format!("{}; {fact}", report.message))
    }

    /// The same with the last a program wrote to stderr.
    #[must_use]
    pub(crate) fn last_words(self, words: &str) -> Self {
        let words = (!words.trim().is_empty()).then(|| words.to_owned());
        self.with(|report| report.last_words = words)
    }

    /// The same with another exit code.
    #[must_use]
    pub(crate) fn status(self, status: Status) -> Self {
        self.with(|report| report.status = status)
    }

    fn with(mut self, change: impl FnOnce(&mut Report)) -> Self {
        if let Self::Told(report) = &mut self {
            change(report);
        }
        self
    }

    /// Tells it, on stderr, and gives the exit code.
    pub(crate) fn tell(&self, style: ErrorStyle) -> ExitCode {
        match self {
            Self::Told(report) => {
                let text = match style {
                    ErrorStyle::People => report.for_people(&Paper::stderr()),
                    ErrorStyle::Json => report.as_json(),
                };
                // Where stderr is gone too, the exit code still speaks.
                _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
                ExitCode::from(report.status as u8)
            }
            Self::Shown { status } => ExitCode::from(*status as u8),
            // As if SIGPIPE had ended us, which is what others do here.
            Self::OutputClosed => ExitCode::from(128 + 13),
            Self::Interrupted { signal } => ExitCode::from(128 + signal),
        }
    }
}

impl Report {
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The status of an answer over HTTP.
    pub(crate) fn http_status(&self) -> Option<u16> {
        self.http_status
    }

    /// The step at which a server could not be reached.
    pub(crate) fn unreachable(&self) -> Option<UnreachableKind> {
        self.unreachable
    }

    /// The last a program wrote to stderr.
    pub(crate) fn stderr(&self) -> Option<&str> {
        self.last_words.as_deref()
    }

    pub(crate) fn exit_status(&self) -> Status {
        self.status
    }

    fn for_people(&self, paper: &Paper) -> String {
        let mut text = format!("{} {}\n", paper.red("error:"), sanitize(self.message.trim()));
        if let Some(data) = self.data.as_ref().filter(|data| data.len() <= 2000) {
            text += &format!("  {}\n", paper.dim(&one_line(data.as_str())));
        }
        if let Some(words) = &self.last_words {
            text += "last lines of its stderr:\n";
            let lines: Vec<&str> = words.trim_end().lines().collect();
            for line in &lines[lines.len().saturating_sub(20)..] {
                text += &format!("  {} {}\n", paper.dim("│"), sanitize(line));
            }
        }
        if let Some(hint) = &self.hint {
            text += &format!("{} {}\n", paper.cyan("hint:"), sanitize(hint));
        }
        text
    }

    fn as_json(&self) -> String {
        #[derive(Serialize)]
        struct Envelope<'a> {
            error: &'a Report,
        }
        let text = serde_json::to_string(&Envelope { error: self });
        // Server text may be in it, and stderr may be a terminal.
        text.map(|text| format!("{}\n", json(&text))).unwrap_or_default()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::new(Status::Other, "io", error.to_string()),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        use Status::{Other, Unreachable, Usage};
        let text = error.to_string();
        match error {
            CallError::Remote(error) => remote(error),
            CallError::Link(error) => link(&error),
            CallError::TimedOut { kind, .. } => Self::new(Unreachable, "timed_out", text).hint(match kind {
                TimeoutKind::Startup => {
                    "it may still be starting or downloading, or not be an MCP server; --timeout SECS waits \
                         longer, --trace shows the messages"
                }
                _ => "--timeout SECS waits longer, --trace shows the messages",
            }),
            CallError::Protocol { .. } => Self::new(Unreachable, "protocol", text)
                .hint("the server violates the protocol; --trace shows its messages"),
            CallError::NoCommonRevision { .. } => Self::new(Unreachable, "no_common_revision", text)
                .hint("leave out --revision to negotiate one"),
            CallError::Unsupported { .. } => {
                Self::new(Other, "unsupported", text).hint("`switchboard info` shows its capabilities")
            }
            CallError::InputRefused(reason) => Self::new(Other, "input_refused", reason)
                .hint("run it at a terminal, or pass --answers '{\"field\": value}'"),
            CallError::Parameters(_) => Self::new(Usage, "usage", text),
            CallError::Closed => Self::new(Unreachable, "closed", text),
            _ => Self::new(Other, "failed", text),
        }
    }
}

/// What the server itself said.
fn remote(error: RpcError) -> Failure {
    let RpcError { code, message, data } = error;
    let said = if message.trim().is_empty() { "(no message)".to_owned() } else { message };
    let (kind, text, hint) = if code == ErrorCode::MISSING_CLIENT_CAPABILITY {
        let text = format!("the server needs a capability this client does not have: {said}");
        ("input_needed", text, Some("`switchboard info` shows the capabilities of the server"))
    } else {
        let hint = match code {
            ErrorCode::METHOD_NOT_FOUND => Some("`switchboard info` shows the capabilities of the server"),
            _ => None,
        };
        ("remote", format!("the server refused: {said} (code {code})"), hint)
    };
    let failure = Failure::new(Status::Other, kind, text).with(|report| {
        report.code = Some(code);
        report.data = data;
    });
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn link(error: &LinkError) -> Failure {
    use Status::{Other, Unreachable};
    match error {
        LinkError::NotStarted(why) => not_started(why),
        LinkError::Exited(exit) => {
            let how = match (exit.code, exit.signal) {
                (_, Some(signal)) => format!("the server was killed by signal {signal}"),
                (Some(code), _) => format!("the server exited with code {code}"),
                _ => "the server exited".to_owned(),
            };
            Failure::new(Unreachable, "exited", how)
                .hint("run the server's command by itself to see what it does")
                .last_words(&exit.stderr_tail)
        }
        LinkError::TooLarge { limit } => {
            let said = format!("a message of the server is larger than the limit of {}", size(*limit as u64));
            Failure::new(Other, "too_large", said)
                .hint(format!("accept larger messages: --max-message {}M", (limit >> 20).max(1) * 4))
        }
        LinkError::Overloaded { .. } => Failure::new(Other, "overloaded", error.to_string()),
        LinkError::Malformed(_) => Failure::new(Unreachable, "malformed", error.to_string())
            .hint("the server violates the protocol; --trace shows its messages"),
        LinkError::Unreachable { kind, .. } => Failure::new(Unreachable, "unreachable", error.to_string())
            .hint(unreachable_hint(*kind))
            .with(|report| report.unreachable = Some(*kind)),
        LinkError::Challenged(challenge) => challenged(challenge),
        LinkError::Refused { status, text } => refused(*status, text),
        LinkError::RateLimited { .. } => Failure::new(Unreachable, "rate_limited", error.to_string())
            .hint("nothing was executed; try again later"),
        LinkError::SessionExpired => {
            Failure::new(Unreachable, "session_expired", error.to_string()).hint("run the command again")
        }
        LinkError::Lost { sent: true, .. } => Failure::new(Unreachable, "lost", error.to_string())
            .hint("the server may or may not have executed the request"),
        _ => Failure::new(Unreachable, "lost", error.to_string()),
    }
}

/// A login is wanted, or a better one.
fn challenged(challenge: &Challenge) -> Failure {
    let mut hint = match challenge.status {
        403 => "the credentials are not sufficient, or the server does not accept this host name".to_owned(),
        _ => "send credentials: --bearer-env NAME for a token in a variable, -H 'Name: value', or \
              --header-helper CMD"
            .to_owned(),
    };
    if let Some(scope) = &challenge.scope {
        hint += &format!("; required scope: {scope}");
    }
    if let Some(metadata) = &challenge.resource_metadata {
        hint += &format!("; how to get them: {metadata}");
    }
    Failure::new(Status::Authentication, "authentication", challenge.to_string())
        .hint(hint)
        .with(|report| report.http_status = Some(challenge.status))
}

/// What to do about a server that cannot be reached.
pub(crate) fn unreachable_hint(kind: UnreachableKind) -> &'static str {
    match kind {
        UnreachableKind::Dns => "check the spelling of the host, and the network or VPN it needs",
        UnreachableKind::Refused => "start the server, or check the port: nothing listens there",
        UnreachableKind::Network => "check the host, the port, and whether a firewall is in between",
        UnreachableKind::Proxy => "check the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY",
        UnreachableKind::Tls => {
            "check that the server speaks https at this port; SSL_CERT_FILE=FILE.pem trusts a certificate of your own"
        }
        _ => "check the host, the port and the network",
    }
}

/// An answer over HTTP that is not a message of the protocol. `text` is what the server wrote, or the type of its answer.
fn refused(status: u16, text: &str) -> Failure {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let answered = match reason {
        Some(reason) => format!("{status} {reason}"),
        None => status.to_string(),
    };
    let text = text.trim();
    // Of a success the text is the media type, and then the beginning of the body.
    let media = text.split([':', ';']).next().unwrap_or(text);
    let said = match status {
        200..300 if media.contains("html") => {
            format!("got a web page ({status} {media}), not MCP; check the URL path")
        }
        200..300 => format!("got {status} {text}, not MCP; check the URL path"),
        300..400 => format!("the server redirects: {text}"),
        _ if text.is_empty() => format!("the server answered {answered}"),
        _ => format!("the server answered {answered}: {text}"),
    };
    Failure::new(Status::Unreachable, "refused", said)
        .hint(refused_hint(status))
        .with(|report| report.http_status = Some(status))
}

/// What to do about an answer over HTTP that is not a message of the protocol.
pub(crate) fn refused_hint(status: u16) -> &'static str {
    match status {
        200..300 | 404 | 405 | 410 => NO_ENDPOINT,
        300..400 => "use the URL it redirects to, if you trust it",
        500..600 => "the server failed: read its log, or try again later",
        _ => "--trace shows the request; another --transport or --revision may help",
    }
}

fn not_started(why: &StartError) -> Failure {
    Failure::new(Status::Unreachable, "not_started", why.to_string()).hint(start_hint(why.kind))
}

/// What to do about a program that does not start.
pub(crate) fn start_hint(fault: StartErrorKind) -> &'static str {
    match fault {
        StartErrorKind::NotFound => {
            "check the spelling, install it, or give its full path (`which NAME` prints it)"
        }
        StartErrorKind::NotExecutable => {
            "make it executable (chmod +x), or name its interpreter: -- python3 server.py"
        }
        StartErrorKind::Directory => {
            "name a program inside it, or the command that runs it: -- node DIR/index.js"
        }
        StartErrorKind::BadDirectory => "check the working directory (`cwd`)",
        StartErrorKind::OutOfResources => "end other programs, or raise the limits (ulimit)",
        _ => "run the command by itself to see what is wrong",
    }
}
