//! How a command fails: what is said about it, and the exit code, which scripts rely on.

use std::process::ExitCode;

use serde_json::{Value, json};
use switchboard_design::{Error, InvalidParams, Repair};
use switchboard_protocol::ErrorCode;
use switchboard_session::CallError;
use switchboard_session::link::LinkError;

use super::sanitize::{self, sanitize};

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(super) enum Failure {
    /// The command line is wrong.
    Usage { message: String, hint: Option<String> },
    /// The arguments do not fit, found before anything was sent.
    Arguments { said: Vec<String>, invalid: InvalidParams },
    /// What the service, the protocol or the connection said.
    Call(Error),
    /// Something else went wrong.
    Other(String),
    /// What is wrong was shown already.
    Shown(u8),
    /// Somebody pressed Ctrl-C.
    Interrupted,
    /// Nobody reads our output any more.
    OutputClosed,
}

const LINK: u8 = 1;
const USAGE: u8 = 2;
const PERSON: u8 = 3;
const TOOL: u8 = 4;

impl Failure {
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// The same with what to do next, where it is about the command line.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Usage { message, .. } => Self::Usage { message, hint: Some(hint.into()) },
            other => other,
        }
    }

    /// The same with how to repair it, where arguments did not fit and nobody has said yet.
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
            Self::Shown(status) => *status,
            Self::Interrupted => 128 + 2,
            // As if SIGPIPE had ended us, which is what others do here.
            Self::OutputClosed => 128 + 13,
        }
    }

    fn kind(&self) -> &'static str {
        match self.status() {
            USAGE if matches!(self, Self::Usage { .. }) => "usage",
            USAGE => "invalid_params",
            PERSON => "person_needed",
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

    /// Tells it, on stderr, and gives the exit code.
    pub(super) fn tell(&self, as_json: bool, explain: bool) -> ExitCode {
        let silent = matches!(self, Self::Shown(_) | Self::Interrupted | Self::OutputClosed);
        if !silent {
            let text = if as_json { self.json(explain) } else { self.people(explain) };
            // Where stderr is gone too, the exit code still speaks.
            _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
        }
        ExitCode::from(self.status())
    }

    fn people(&self, explain: bool) -> String {
        let mut text = format!("error: {}\n", sanitize(&self.message()));
        if let Self::Arguments { said, .. } = self {
            for line in said {
                text += &format!("  {}\n", sanitize(line));
            }
        }
        if let Some(hint) = self.advice(explain) {
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
            Self::Arguments { .. } => "the arguments do not fit".to_owned(),
            Self::Call(Error::Transport(source)) => source.to_string(),
            Self::Call(error) if status(error) == PERSON => {
                format!("the service wants to ask a person, and nobody is here to answer: {error}")
            }
            Self::Call(error) => error.to_string(),
            Self::Shown(_) | Self::Interrupted | Self::OutputClosed => String::new(),
        }
    }

    fn advice(&self, explain: bool) -> Option<String> {
        match self {
            Self::Usage { hint, .. } => hint.clone(),
            _ if self.repair().is_some() && !explain => {
                Some("--help shows what fits; --explain tells a model how to try again".to_owned())
            }
            _ if self.status() == PERSON => Some("run it at a terminal".to_owned()),
            _ => None,
        }
    }
}

fn status(error: &Error) -> u8 {
    match error {
        Error::InvalidParams(_) => USAGE,
        Error::Tool(_) => TOOL,
        Error::MissingCapability(_) | Error::Suspended | Error::Unauthorized { .. } => PERSON,
        Error::Rpc(error) if error.code == ErrorCode::MISSING_CLIENT_CAPABILITY => PERSON,
        Error::Transport(source) => match source.downcast_ref::<CallError>() {
            Some(CallError::InputRefused(_) | CallError::Link(LinkError::Challenged(_))) => PERSON,
            _ => LINK,
        },
        _ => LINK,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Call(match error {
            CallError::Remote(error) => Error::from_rpc(error, |_| None),
            other => Error::Transport(Box::new(other)),
        })
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Other(error.to_string()),
        }
    }
}
