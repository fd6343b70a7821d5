//! How a command fails: what is said about it, and the exit code, which scripts rely on.

mod hosted;

use std::io;
use std::process::ExitCode;

use serde::Serialize;
use switchboard::session::link::{Challenge, NotStarted, StartFault};
use switchboard::{CallError, ErrorCode, LinkError, Phase, Raw, RpcError};

use crate::output::Paper;
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
pub(crate) const NO_ENDPOINT: &str = "is the path right? most servers use /mcp, and those of 2024 use /sse";

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

    /// The same with what to do next, where it is of this kind.
    #[must_use]
    pub(crate) fn hint_if(self, kind: &str, hint: impl Into<String>) -> Self {
        self.with(|report| {
            if report.kind == kind {
                report.hint = Some(hint.into());
            }
        })
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
            text += "the last it wrote to stderr:\n";
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
            CallError::TimedOut { phase, .. } => {
                Self::new(Unreachable, "timed_out", text).hint(match phase {
                    Phase::Startup => {
                        "the server may still be starting or installing itself, or be no MCP server; \
                         --timeout gives it longer, --trace shows what it says"
                    }
                    _ => "--timeout gives it longer, --trace shows what goes on",
                })
            }
            CallError::Protocol { .. } => Self::new(Unreachable, "protocol", text)
                .hint("this is a fault of the server; --trace shows what it sent"),
            CallError::NoCommonRevision { .. } => Self::new(Unreachable, "no_common_revision", text)
                .hint("leave out --revision to let both sides choose"),
            CallError::Unsupported { .. } => {
                Self::new(Other, "unsupported", text).hint("`switchboard info` shows what it offers")
            }
            CallError::InputRefused(reason) => Self::new(Other, "input_refused", reason)
                .hint("answer at a terminal, or give --answers '{\"field\": value}'"),
            CallError::Parameters(_) => Self::new(Usage, "usage", text),
            CallError::Closed => Self::new(Unreachable, "closed", text),
            _ => Self::new(Other, "failed", text),
        }
    }
}

/// What the server itself said.
fn remote(error: RpcError) -> Failure {
    let RpcError { code, message, data } = error;
    let said = if message.trim().is_empty() { "(it does not say why)".to_owned() } else { message };
    let (kind, text, hint) = if code == ErrorCode::MISSING_CLIENT_CAPABILITY {
        let text = format!("the server wants to ask the user, and nobody is here to answer: {said}");
        ("input_needed", text, Some("run it at a terminal, or give --answers '{\"field\": value}'"))
    } else {
        let hint = match code {
            ErrorCode::METHOD_NOT_FOUND => Some("`switchboard info` shows what the server offers"),
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
                (_, Some(signal)) => format!("the server was ended by signal {signal}"),
                (Some(code), _) => format!("the server exited with code {code}"),
                _ => "the server exited".to_owned(),
            };
            Failure::new(Unreachable, "exited", how)
                .hint("run the server's command by itself to see how it behaves")
                .last_words(&exit.stderr_tail)
        }
        LinkError::TooLarge { .. } => Failure::new(Other, "too_large", error.to_string()),
        LinkError::Overloaded { .. } => Failure::new(Other, "overloaded", error.to_string()),
        LinkError::Malformed(_) => Failure::new(Unreachable, "malformed", error.to_string())
            .hint("this is a fault of the server; --trace shows what it sent"),
        LinkError::Unreachable { .. } => Failure::new(Unreachable, "unreachable", error.to_string())
            .hint("is the server running there? check the host, the port and the network"),
        LinkError::Challenged(challenge) => challenged(challenge),
        LinkError::Refused { status, .. } => refused(*status, error.to_string()),
        LinkError::RateLimited { .. } => Failure::new(Unreachable, "rate_limited", error.to_string())
            .hint("nothing was carried out; try again later"),
        LinkError::SessionExpired => {
            Failure::new(Unreachable, "session_expired", error.to_string()).hint("run the command again")
        }
        LinkError::Lost { sent: true, .. } => Failure::new(Unreachable, "lost", error.to_string())
            .hint("whether the server did what was asked is not known"),
        _ => Failure::new(Unreachable, "lost", error.to_string()),
    }
}

/// A login is wanted, or a better one.
fn challenged(challenge: &Challenge) -> Failure {
    let mut hint = match challenge.status {
        403 => "the server knows who asks and says no: what was sent may not be enough, or this machine's \
                name for the server may not be allowed there"
            .to_owned(),
        _ => "send credentials: --bearer-env NAME for a token in a variable, --header 'Name: value', or \
              --header-helper CMD"
            .to_owned(),
    };
    if let Some(scope) = &challenge.scope {
        hint += &format!("; it wants the scope {scope}");
    }
    if let Some(metadata) = &challenge.resource_metadata {
        hint += &format!("; {metadata} says where to get them");
    }
    Failure::new(Status::Authentication, "authentication", challenge.to_string())
        .hint(hint)
        .with(|report| report.http_status = Some(challenge.status))
}

/// An answer over HTTP that is none of the protocol.
fn refused(status: u16, text: String) -> Failure {
    let hint = match status {
        404 | 410 => NO_ENDPOINT,
        405 => {
            "no messages are taken there; is the path right? most servers use /mcp, and those of 2024 use /sse"
        }
        200..300 => "this is no MCP server, or not its endpoint; is the path right? most servers use /mcp",
        300..400 => "give the address it points to, if you trust it",
        500..600 => "the server is in trouble, or what stands before it is; its log says more",
        _ => "--trace shows what was asked; another --transport or --revision may suit the server",
    };
    Failure::new(Status::Unreachable, "refused", text)
        .hint(hint)
        .with(|report| report.http_status = Some(status))
}

fn not_started(why: &NotStarted) -> Failure {
    let hint = match why.fault {
        StartFault::NotFound => {
            "check the spelling, give the full path, or change PATH for it with --env PATH=…"
        }
        StartFault::NotExecutable => {
            "make it executable (chmod +x), or name the interpreter: -- python3 server.py"
        }
        StartFault::BadDirectory => "check --cwd",
        StartFault::OutOfResources => "end other programs, or raise the limits (ulimit)",
        _ => "run the command by itself to see what is wrong",
    };
    Failure::new(Status::Unreachable, "not_started", why.to_string()).hint(hint)
}
