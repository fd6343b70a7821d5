//! Server given on the command line: a program to start, or a URL.

use std::sync::{Arc, Mutex, OnceLock};

use switchboard::host::Transport;
use switchboard::protocol::{OrderedMap, Raw};
use switchboard::transport::stdio::ChildSlot;
use switchboard::transport::{Dial, Direction, Tap};
use switchboard::{CallError, Stdio};

use super::starting_text;
use crate::args::{self, ServerTarget, SessionOptions};
use crate::elicitation::url_host;
use crate::error::{CommandError, ExitKind, NO_ENDPOINT};
use crate::expand::Expander;
use crate::observed_dial::{MessageObserver, observed_dial};
use crate::output::Screen;
use crate::remote::{self, RemoteEndpoint};
use crate::sanitize::one_line;
use crate::session_recorder::SessionRecorder;
use crate::trace::Trace;

/// The server to connect to: a program to start, or a URL.
pub(super) enum TargetServer {
    Program {
        name: String,
        command: Box<Stdio>,
        child: ChildSlot,
        /// Values to mask in a trace.
        secrets: Vec<String>,
    },
    Remote(Box<RemoteEndpoint>),
}

impl TargetServer {
    pub(super) async fn resolve(target: &ServerTarget) -> Result<Self, CommandError> {
        check_options(target)?;
        match (&target.remote.url, target.command.split_first()) {
            (Some(url), None) => Ok(Self::Remote(Box::new(
                remote::resolve_endpoint(&target.remote, url, &target.options).await?,
            ))),
            (None, Some((program, args))) => {
                let name = one_line(&program.to_string_lossy());
                let expander = Expander::default();
                let options = expander.options(&target.options)?;
                let command = Box::new(apply_options(&options, expander.command(program, args)?));
                let mut secrets = expander.into_values();
                secrets.extend(options.env.into_iter().map(|(_, value)| value));
                Ok(Self::Program { name, command, child: ChildSlot::default(), secrets })
            }
            (None, None) => Err(no_server()),
            (Some(_), Some(_)) => {
                Err(CommandError::usage("both a URL and a command are given").hint("leave one of them out"))
            }
        }
    }

    pub(super) fn dial(
        &self,
        options: &SessionOptions,
        screen: &Arc<Screen>,
        recorder: Option<&Arc<SessionRecorder>>,
        handshake: &Arc<HandshakeRecord>,
    ) -> Arc<dyn Dial> {
        let recorder = recorder.map(|recorder| (Arc::clone(recorder), self.name()));
        match self {
            Self::Program { command, child, secrets, .. } => {
                let trace = options.trace.then(|| Trace::new(Arc::clone(screen), secrets.clone()));
                let observe = observer(
                    trace,
                    recorder.inspect(|(recorder, _)| recorder.add_secrets(secrets.clone())),
                    handshake,
                );
                let tap = Tap::new(move |direction, frame| observe(direction, frame));
                Arc::new(Stdio::clone(command).tap(tap).child_slot(child.clone()))
            }
            Self::Remote(endpoint) => {
                let trace = options.trace.then(|| Trace::new(Arc::clone(screen), endpoint.secrets.clone()));
                let recorder =
                    recorder.inspect(|(recorder, _)| recorder.add_secrets(endpoint.secrets.clone()));
                Arc::new(observed_dial(endpoint.http.clone(), observer(trace, recorder, handshake)))
            }
        }
    }

    /// Returns the name under which the user knows the server: what they typed.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Program { name, .. } => name.rsplit('/').next().unwrap_or(name).to_owned(),
            Self::Remote(endpoint) => url_host::host(endpoint.http.url()).to_owned(),
        }
    }

    pub(super) fn transport(&self) -> Transport {
        match self {
            Self::Program { command, .. } => Transport::Stdio(command.clone()),
            Self::Remote(endpoint) => Transport::Http(Box::new(endpoint.http.clone())),
        }
    }

    pub(super) fn waiting_text(&self) -> String {
        match self {
            Self::Program { name, child, .. } => {
                let stderr = child.get().map(|child| child.stderr_tail());
                starting_text(name, &stderr.unwrap_or_default())
            }
            // The short form: the query may contain a token.
            Self::Remote(endpoint) => format!("connecting to {:?}…", endpoint.address),
        }
    }

    /// Explains why the session could not be opened, with a hint for this kind of server.
    pub(super) fn explain(&self, error: CallError, handshake: &HandshakeRecord) -> CommandError {
        let is_rejected = matches!(error, CallError::Remote(_));
        let failure = CommandError::from(error);
        match self {
            Self::Program { .. } => match handshake.stray_line.get() {
                Some(line) => {
                    failure.with_detail(&format!("its first line on stdout is not a message: {line:?}"))
                }
                None => failure,
            },
            // A URL that rejects the handshake in every revision is not an MCP endpoint.
            Self::Remote(_) if is_rejected => failure.with_exit(ExitKind::Unreachable).hint(NO_ENDPOINT),
            Self::Remote(_) => failure,
        }
    }
}

/// Reports that the command line names no server.
pub(crate) fn no_server() -> CommandError {
    CommandError::usage("no server given")
        .hint("give its command after --, its URL with --url, or a configured server with --server NAME")
}

/// Rejects options that do not apply to this kind of server.
fn check_options(target: &ServerTarget) -> Result<(), CommandError> {
    let (remote, options) = (&target.remote, &target.options);
    let is_remote = remote.url.is_some();
    let for_remote = [
        (!remote.headers.is_empty(), "--header"),
        (remote.header_helper.is_some(), "--header-helper"),
        (remote.bearer_env.is_some(), "--bearer-env"),
        (remote.allow_http, "--allow-http"),
        (remote.transport != args::HttpTransport::Auto, "--transport"),
        (options.account.is_some(), "--account"),
    ];
    let (options, what) = match is_remote {
        true => (&options.program_options()[..], "a program, but this server is a URL"),
        false => (&for_remote[..], "a server at a URL, but this server is a program"),
    };
    match options.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(CommandError::usage(format!("{option} applies to {what}"))),
        None => Ok(()),
    }
}

/// Applies the session options to a program.
pub(crate) fn apply_options(options: &SessionOptions, mut command: Stdio) -> Stdio {
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

/// Observations of the handshake.
#[derive(Default)]
pub(super) struct HandshakeRecord {
    pub(super) result: Mutex<Option<Raw>>,
    /// The first line on stdout that is not a message.
    stray_line: OnceLock<String>,
}

impl HandshakeRecord {
    fn record(&self, frame: &[u8]) {
        let parsed = std::str::from_utf8(frame).ok().and_then(|text| Raw::parse(text.to_owned()).ok());
        let members: Option<OrderedMap<Raw>> = parsed.and_then(|message| message.decode().ok());
        let result = members.and_then(|mut members| members.remove("result"));
        let describes = |result: &Raw| {
            result.decode::<OrderedMap<Raw>>().is_ok_and(|members| members.contains_key("capabilities"))
        };
        if let (Some(result), Ok(mut slot)) = (result.filter(describes), self.result.lock()) {
            *slot = Some(result);
        }
    }
}

/// Records the first line on a server's stdout that is not a message.
pub(crate) fn record_stray_line(frame: &[u8], stray_line: &OnceLock<String>) {
    const SHOWN: usize = 200;
    let text = frame.trim_ascii();
    if !text.is_empty() && !text.starts_with(b"{") && !text.starts_with(b"[") {
        let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
        stray_line.get_or_init(|| one_line(&text));
    }
}

/// A recorder, and the name of the server to record.
type NamedRecorder = (Arc<SessionRecorder>, String);

fn observer(
    trace: Option<Trace>,
    recorder: Option<NamedRecorder>,
    handshake: &Arc<HandshakeRecord>,
) -> MessageObserver {
    let handshake = Arc::clone(handshake);
    Arc::new(move |direction, frame| {
        if let Some(trace) = &trace {
            trace.print(direction, frame);
        }
        if let Some((recorder, server)) = &recorder {
            recorder.record(server, direction, frame);
        }
        if direction == Direction::In {
            record_stray_line(frame, &handshake.stray_line);
        }
        // Only handshake results have this member, so few frames are parsed.
        if direction == Direction::In && frame.windows(14).any(|part| part == b"\"capabilities\"") {
            handshake.record(frame);
        }
    })
}
