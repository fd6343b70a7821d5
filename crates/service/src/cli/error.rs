//! Errors of a command, with their messages and exit codes. Scripts rely on the exit codes.

use std::process::ExitCode;

use serde_json::{Value, json};
use switchboard_design::{Error, InvalidParams, Repair};
use switchboard_protocol::ErrorCode;
use switchboard_session::CallError;
use switchboard_session::link::LinkError;

use super::sanitize::{self, sanitize};

/// Why a command failed.
#[derive(Debug)]
pub(super) enum CliError {
    /// The command line is invalid.
    Usage { message: String, hint: Option<String> },
    /// The arguments are invalid; found before anything was sent.
    Arguments { lines: Vec<String>, invalid: InvalidParams },
    /// The call failed.
    Call(Error),
    /// Any other failure.
    Other(String),
    /// The failure was already printed; holds the exit code.
    AlreadyReported(u8),
    /// Interrupted by Ctrl-C.
    Interrupted,
    /// Standard output was closed.
    OutputClosed,
}

const LINK: u8 = 1;
const USAGE: u8 = 2;
const INTERACTION: u8 = 3;
const TOOL: u8 = 4;

impl CliError {
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// Sets the hint of a usage error.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Usage { message, .. } => Self::Usage { message, hint: Some(hint.into()) },
            other => other,
        }
    }

    /// Adds a repair to an invalid-arguments error without one.
    pub(super) fn with_repair(mut self, repair: impl FnOnce(&str) -> Option<Repair>) -> Self {
        if let Self::Arguments { invalid, .. } | Self::Call(Error::InvalidParams(invalid)) = &mut self
            && invalid.repair.is_none()
            && let Some(mut repair) = repair(&invalid.message)
        {
            repair.issues.clone_from(&invalid.issues);
            invalid.repair = Some(Box::new(repair));
        }
        self
    }

    fn status(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Arguments { .. } => USAGE,
            Self::Call(error) => status(error),
            Self::Other(_) => LINK,
            Self::AlreadyReported(status) => *status,
            Self::Interrupted => 128 + 2,
            // The status of a process killed by SIGPIPE, which other programs have here.
            Self::OutputClosed => 128 + 13,
        }
    }

    fn kind(&self) -> &'static str {
        match self.status() {
            USAGE if matches!(self, Self::Usage { .. }) => "usage",
            USAGE => "invalid_params",
            INTERACTION => "person_needed",
            TOOL => "tool",
            _ => "failed",
        }
    }

    fn repair(&self) -> Option<&Repair> {
        match self {
            Self::Arguments { invalid, .. } => invalid.repair.as_deref(),
            Self::Call(error) => error.repair(),
            _ => None,
        }
    }

    /// Prints the error to stderr and returns the exit code.
    pub(super) fn report(&self, as_json: bool, explain: bool) -> ExitCode {
        let silent = matches!(self, Self::AlreadyReported(_) | Self::Interrupted | Self::OutputClosed);
        if !silent {
            let text = if as_json { self.json(explain) } else { self.text(explain) };
            // If stderr is closed as well, the exit code remains.
            _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
        }
        ExitCode::from(self.status())
    }

    fn text(&self, explain: bool) -> String {
        let mut text = format!("error: {}\n", sanitize(&self.message()));
        if let Self::Arguments { lines, .. } = self {
            for line in lines {
                text += &format!("  {}\n", sanitize(line));
            }
        }
        if let Some(hint) = self.hint_text(explain) {
            text += &format!("hint: {hint}\n");
        }
        if let Some(repair) = self.repair().filter(|_| explain) {
            text += &format!("{}\n", sanitize(&repair.prompt()));
        }
        text
    }

    fn json(&self, explain: bool) -> String {
        let mut error = json!({"kind": self.kind(), "message": self.message()});
        if let Self::Call(call) = self {
            error["code"] = json!(call.code());
            if let Error::Tool(own) = call {
                error["name"] = json!(own.code);
                error["data"] = own.data.clone().unwrap_or(Value::Null);
            }
        }
        if let Self::Arguments { invalid, .. } | Self::Call(Error::InvalidParams(invalid)) = self {
            error["issues"] = json!(invalid.issues);
        }
        if let Some(repair) = self.repair().filter(|_| explain) {
            error["repair"] = json!({"prompt": repair.prompt(), "recovery": repair.recovery()});
        }
        let text = json!({ "error": error }).to_string();
        format!("{}\n", sanitize::json(&text))
    }

    fn message(&self) -> String {
        match self {
            Self::Usage { message, .. } | Self::Other(message) => message.clone(),
            Self::Arguments { .. } => "invalid arguments".to_owned(),
            Self::Call(Error::Transport(source)) => source.to_string(),
            Self::Call(error) if status(error) == INTERACTION => {
                format!("the service requires user interaction: {error}")
            }
            Self::Call(error) => error.to_string(),
            Self::AlreadyReported(_) | Self::Interrupted | Self::OutputClosed => String::new(),
        }
    }

    fn hint_text(&self, explain: bool) -> Option<String> {
        match self {
            Self::Usage { hint, .. } => hint.clone(),
            _ if self.repair().is_some() && !explain => {
                Some("--help shows valid arguments; --explain prints a repair prompt for a model".to_owned())
            }
            _ if self.status() == INTERACTION => Some("run it at a terminal".to_owned()),
            _ => None,
        }
    }
}

fn status(error: &Error) -> u8 {
    match error {
        Error::InvalidParams(_) => USAGE,
        Error::Tool(_) => TOOL,
        Error::MissingCapability(_) | Error::Suspended | Error::Unauthorized { .. } => INTERACTION,
        Error::Rpc(error) if error.code == ErrorCode::MISSING_CLIENT_CAPABILITY => INTERACTION,
        Error::Transport(source) => match source.downcast_ref::<CallError>() {
            Some(CallError::InputRefused(_) | CallError::Link(LinkError::Challenged(_))) => INTERACTION,
            _ => LINK,
        },
        _ => LINK,
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl From<CallError> for CliError {
    fn from(error: CallError) -> Self {
        Self::Call(match error {
            CallError::Remote(error) => Error::from_rpc(error, |_| None),
            other => Error::Transport(Box::new(other)),
        })
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Other(error.to_string()),
        }
    }
}
