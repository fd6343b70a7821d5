//! Errors of commands: the report for the user, and the exit code, which scripts rely on.

mod host;

use std::io;
use std::process::ExitCode;

use http::StatusCode;
use serde::Serialize;
use switchboard::CallError;
use switchboard::client::TimeoutKind;
use switchboard::protocol::{ErrorCode, Raw, RpcError};
use switchboard::transport::LinkError;
use switchboard::transport::link::{
    Challenge, LoginRequirement, StartError, StartErrorKind, UnreachableKind,
};
use switchboard_terminal::{OutputStream, format_size};

use crate::provider_advice::explain_failure;
use crate::sanitize::{json, one_line, sanitize};

use host::wider_login_step;
pub(crate) use host::{login_step, with_account};

/// Error of a command.
#[derive(Debug)]
#[must_use]
pub(crate) enum CommandError {
    /// An error to report to the user.
    Reported(Box<ErrorReport>),
    /// The error was already printed; only the exit code is left.
    AlreadyReported {
        /// The exit code.
        exit: ExitKind,
    },
    /// The reader of standard output is gone; nothing is printed.
    OutputClosed,
    /// The program was interrupted by a signal.
    Interrupted {
        /// The signal number.
        signal: u8,
    },
}

/// Report of an error.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorReport {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<ErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Raw>,
    #[serde(rename = "stderr", skip_serializing_if = "Option::is_none")]
    pub(crate) stderr_tail: Option<String>,
    /// Status of an HTTP response.
    #[serde(rename = "status", skip_serializing_if = "Option::is_none")]
    pub(crate) http_status: Option<u16>,
    /// Step at which the connection failed.
    #[serde(skip)]
    pub(crate) unreachable: Option<UnreachableKind>,
    #[serde(skip)]
    pub(crate) exit: ExitKind,
}

/// Exit codes of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitKind {
    /// Any other error.
    Other = 1,
    /// The command line is not valid.
    Usage = 2,
    /// The server requires authentication.
    Authentication = 3,
    /// The server cannot be reached, or violates the protocol.
    Unreachable = 4,
    /// The tool reported an error.
    Tool = 5,
}

/// Hint for a URL that reaches a server but not its MCP endpoint.
pub(crate) const NO_ENDPOINT: &str = "check the URL path: most servers use /mcp, and those of 2024 use /sse";

/// Format in which errors are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// Text for people.
    Text,
    /// One JSON object.
    Json,
}

impl CommandError {
    pub(crate) fn new(exit: ExitKind, kind: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Reported(Box::new(ErrorReport {
            kind,
            message,
            hint: None,
            code: None,
            data: None,
            stderr_tail: None,
            http_status: None,
            unreachable: None,
            exit,
        }))
    }

    /// Creates a failure with the exit code of failures that have none of their own.
    pub(crate) fn other(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(ExitKind::Other, kind, message)
    }

    /// Creates an error about the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitKind::Usage, "usage", message)
    }

    /// Sets the hint: what to do next.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.update(|report| report.hint = Some(hint.into()))
    }

    /// Appends a detail to the message.
    pub(crate) fn with_detail(self, fact: &str) -> Self {
        self.update(|report| report.message = format!("{}; {fact}", report.message))
    }

    /// Adds the last lines a program wrote to stderr.
    pub(crate) fn with_stderr(self, stderr: &str) -> Self {
        let stderr = (!stderr.trim().is_empty()).then(|| stderr.to_owned());
        self.update(|report| report.stderr_tail = stderr)
    }

    /// Sets the exit code.
    pub(crate) fn with_exit(self, exit: ExitKind) -> Self {
        self.update(|report| report.exit = exit)
    }

    fn update(mut self, change: impl FnOnce(&mut ErrorReport)) -> Self {
        if let Self::Reported(report) = &mut self {
            change(report);
        }
        self
    }

    /// Prints the error to stderr and returns the exit code.
    pub(crate) fn report(&self, format: ErrorFormat) -> ExitCode {
        match self {
            Self::Reported(report) => {
                let text = match format {
                    ErrorFormat::Text => report.to_text(&OutputStream::stderr()),
                    ErrorFormat::Json => report.to_json(),
                };
                // If stderr is closed too, the exit code remains.
                _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
                ExitCode::from(report.exit as u8)
            }
            Self::AlreadyReported { exit } => ExitCode::from(*exit as u8),
            // The exit code of a process killed by SIGPIPE, as other programs do.
            Self::OutputClosed => ExitCode::from(128 + 13),
            Self::Interrupted { signal } => ExitCode::from(128 + signal),
        }
    }
}

impl ErrorReport {
    fn to_text(&self, out: &OutputStream) -> String {
        let mut text = format!("{} {}\n", out.red("error:"), sanitize(self.message.trim()));
        if let Some(data) = self.data.as_ref().filter(|data| data.len() <= 2000) {
            text += &format!("  {}\n", out.dim(&one_line(data.as_str())));
        }
        if let Some(stderr) = &self.stderr_tail {
            text += "last lines of its stderr:\n";
            let lines: Vec<&str> = stderr.trim_end().lines().collect();
            for line in &lines[lines.len().saturating_sub(20)..] {
                text += &format!("  {} {}\n", out.dim("│"), sanitize(line));
            }
        }
        if let Some(hint) = &self.hint {
            text += &format!("{} {}\n", out.cyan("hint:"), sanitize(hint));
        }
        text
    }

    fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct ErrorObject<'a> {
            error: &'a ErrorReport,
        }
        let text = serde_json::to_string(&ErrorObject { error: self });
        // The report may contain server text, and stderr may be a terminal.
        text.map(|text| format!("{}\n", json(&text))).unwrap_or_default()
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::other("io", error.to_string()),
        }
    }
}

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        use ExitKind::{Other, Unreachable, Usage};
        let text = error.to_string();
        match error {
            CallError::Remote(error) => remote_error(error),
            CallError::Link(error) => link_error(&error),
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

/// Reports an error response of the server.
fn remote_error(error: RpcError) -> CommandError {
    let RpcError { code, message, data } = error;
    let message = if message.trim().is_empty() { "(no message)".to_owned() } else { message };
    let (kind, text) = match code {
        ErrorCode::MISSING_CLIENT_CAPABILITY => {
            ("input_needed", format!("the server needs a capability this client does not have: {message}"))
        }
        _ => ("remote", format!("the server refused: {message} (code {code})")),
    };
    let failure = CommandError::other(kind, text).update(|report| {
        report.code = Some(code);
        report.data = data;
    });
    match code {
        ErrorCode::MISSING_CLIENT_CAPABILITY | ErrorCode::METHOD_NOT_FOUND => {
            failure.hint("`switchboard info` shows the capabilities of the server")
        }
        _ => failure,
    }
}

fn link_error(error: &LinkError) -> CommandError {
    use ExitKind::{Other, Unreachable};
    match error {
        LinkError::NotStarted(why) => start_error(why),
        LinkError::Exited(exit) => {
            let how = match (exit.code, exit.signal) {
                (_, Some(signal)) => format!("the server was killed by signal {signal}"),
                (Some(code), _) => format!("the server exited with code {code}"),
                _ => "the server exited".to_owned(),
            };
            CommandError::new(Unreachable, "exited", how)
                .hint("run the server's command by itself to see what it does")
                .with_stderr(&exit.stderr_tail)
        }
        LinkError::TooLarge { limit } => {
            let message =
                format!("a message of the server is larger than the limit of {}", format_size(*limit as u64));
            CommandError::new(Other, "too_large", message)
                .hint(format!("accept larger messages: --max-message {}M", (limit >> 20).max(1) * 4))
        }
        LinkError::Overloaded { .. } => CommandError::new(Other, "overloaded", error.to_string()),
        LinkError::Malformed(_) => CommandError::new(Unreachable, "malformed", error.to_string())
            .hint("the server violates the protocol; --trace shows its messages"),
        LinkError::Unreachable { kind, .. } => {
            let text = error.to_string();
            // A refresh that the authorization server refused has a code that says more.
            let advice = explain_failure(&[&text]).filter(|_| *kind == UnreachableKind::Other);
            let hint = match advice {
                Some(advice) => format!("{}: {}", advice.meaning, advice.help),
                None => unreachable_hint(*kind).to_owned(),
            };
            CommandError::new(Unreachable, "unreachable", text)
                .hint(hint)
                .update(|report| report.unreachable = Some(*kind))
        }
        LinkError::Challenged(challenge) => challenge_error(challenge),
        LinkError::Refused { status, text } => http_rejection(*status, text),
        LinkError::RateLimited { .. } => CommandError::new(Unreachable, "rate_limited", error.to_string())
            .hint("nothing was executed; try again later"),
        LinkError::SessionExpired => {
            CommandError::new(Unreachable, "session_expired", error.to_string()).hint("run the command again")
        }
        LinkError::Lost { sent: true, .. } => CommandError::new(Unreachable, "lost", error.to_string())
            .hint("the server may or may not have executed the request"),
        _ => CommandError::new(Unreachable, "lost", error.to_string()),
    }
}

/// Reports an authentication challenge.
fn challenge_error(challenge: &Challenge) -> CommandError {
    let error = || {
        CommandError::new(ExitKind::Authentication, "authentication", challenge.to_string())
            .update(|report| report.http_status = Some(challenge.status))
    };
    if let Some(step) = wider_login_step("URL", challenge) {
        return error().hint(step);
    }
    let mut hint = match challenge.status {
        _ if challenge.requirement != LoginRequirement::Login => login_step("URL", &challenge.requirement),
        403 => "the credentials are not sufficient, or the server does not accept this host name".to_owned(),
        _ => "log in with `switchboard login URL`, or send credentials: --bearer-env NAME for a token in a variable, -H \
              'Name: value', or --header-helper CMD"
            .to_owned(),
    };
    if let Some(scope) = &challenge.scope {
        hint += &format!("; required scope: {scope}");
    }
    if let Some(metadata) = &challenge.resource_metadata {
        hint += &format!("; how to get them: {metadata}");
    }
    error().hint(hint)
}

/// Returns a hint for a server that cannot be reached.
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

/// Reports an HTTP response that is not a message of the protocol. `text` is its body, or its media type.
fn http_rejection(status: u16, text: &str) -> CommandError {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let answered = match reason {
        Some(reason) => format!("{status} {reason}"),
        None => status.to_string(),
    };
    let text = text.trim();
    // For a successful status the text is the media type, followed by the beginning of the body.
    let media = text.split([':', ';']).next().unwrap_or(text);
    let message = match status {
        200..300 if media.contains("html") => {
            format!("got a web page ({status} {media}), not MCP; check the URL path")
        }
        200..300 => format!("got {status} {text}, not MCP; check the URL path"),
        300..400 => format!("the server redirects: {text}"),
        _ if text.is_empty() => format!("the server answered {answered}"),
        _ => format!("the server answered {answered}: {text}"),
    };
    CommandError::new(ExitKind::Unreachable, "refused", message)
        .hint(http_status_hint(status))
        .update(|report| report.http_status = Some(status))
}

/// Returns a hint for an HTTP response that is not a message of the protocol.
pub(crate) fn http_status_hint(status: u16) -> &'static str {
    match status {
        200..300 | 404 | 405 | 410 => NO_ENDPOINT,
        300..400 => "use the URL it redirects to, if you trust it",
        500..600 => "the server failed: read its log, or try again later",
        _ => "--trace shows the request; another --transport or --revision may help",
    }
}

fn start_error(why: &StartError) -> CommandError {
    CommandError::new(ExitKind::Unreachable, "not_started", why.to_string()).hint(start_hint(why.kind))
}

/// Returns a hint for a program that does not start.
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
