//! Last steps: start the server, open a session, list its tools.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use switchboard::client::{ClientSession, Limits};
use switchboard::transport::link::UnreachableKind;
use switchboard::transport::{Dial, LinkError};
use switchboard::{CallError, Client};

use crate::connect::server_summary;
use crate::doctor::report::{DoctorReport, StepError, StepFailed};
use crate::error::{CommandError, ExitKind, NO_ENDPOINT, http_status_hint, unreachable_hint};
use crate::output::pluralize;

/// Time of the first message to a program, which runs from then on at the latest.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstMessage(Arc<OnceLock<Instant>>);

impl FirstMessage {
    /// Records the time of the first message.
    pub(crate) fn record(&self) {
        self.0.get_or_init(Instant::now);
    }
}

/// Transport of the examined server.
#[derive(Debug)]
pub(crate) enum DoctorTransport {
    /// A program on stdin and stdout.
    Program {
        /// Time of the first message to it.
        first_message: FirstMessage,
        /// The first line on its stdout that is not a message.
        stray_line: Arc<OnceLock<String>>,
    },
    /// A server at a URL.
    Http,
}

/// Opens a session and lists the tools. The caller closes the session.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn open_session(
    report: &mut DoctorReport,
    dial: Arc<dyn Dial>,
    transport: &DoctorTransport,
    timeout: Duration,
) -> Result<ClientSession, StepFailed> {
    let began = Instant::now();
    let mut limits = Limits::default();
    limits.startup = timeout;
    let client = Client::new().with_name("switchboard-cli", env!("CARGO_PKG_VERSION")).with_limits(limits);
    let opened = client.connect(dial).await;
    let mut handshake_start = began;
    let has_started = !matches!(&opened, Err(CallError::Link(LinkError::NotStarted(_))));
    if let (DoctorTransport::Program { first_message, .. }, true) = (transport, has_started) {
        // A program that exits immediately may not have received a message.
        handshake_start = first_message.0.get().copied().unwrap_or(began);
        report.passed("start", handshake_start.duration_since(began), "started");
    }
    let session = match opened {
        Ok(session) => session,
        Err(error) => {
            let (step, error) = explain(error.into(), transport);
            return Err(report.failed(step, handshake_start, error));
        }
    };
    match session.info() {
        Ok(terms) => report.passed("handshake", handshake_start.elapsed(), server_summary(terms)),
        Err(error) => {
            let (step, error) = explain(error.into(), transport);
            return Err(report.failed(step, handshake_start, error));
        }
    }
    list_tools(report, &session, transport).await?;
    Ok(session)
}

async fn list_tools(
    report: &mut DoctorReport,
    session: &ClientSession,
    transport: &DoctorTransport,
) -> Result<(), StepFailed> {
    let began = Instant::now();
    if session.info().is_ok_and(|terms| terms.capabilities.tools.is_none()) {
        report.passed("tools", began.elapsed(), "the server has no tools");
        return Ok(());
    }
    match session.list_tools().await {
        Ok(tools) => {
            let rejected = match tools.rejected.len() {
                0 => String::new(),
                count => format!(", {count} more are not valid and ignored"),
            };
            report.passed("tools", began.elapsed(), format!("{}{rejected}", pluralize(tools.len(), "tool")));
            Ok(())
        }
        Err(error) => {
            let (_, error) = explain(error.into(), transport);
            Err(report.failed("tools", began, error))
        }
    }
}

/// Returns the step an error belongs to, and its report.
fn explain(failure: CommandError, transport: &DoctorTransport) -> (&'static str, StepError) {
    let CommandError::Reported(report) = failure else {
        return ("handshake", StepError::new(ExitKind::Other, "interrupted", "try again"));
    };
    let stray_line = match transport {
        DoctorTransport::Program { stray_line, .. } => stray_line.get(),
        DoctorTransport::Http => None,
    };
    let is_program = matches!(transport, DoctorTransport::Program { .. });
    let (step, next) = match (report.kind, report.unreachable, report.http_status) {
        ("not_started", ..) => ("start", "run the command by itself to see what is wrong"),
        (..) if stray_line.is_some() => (
            "handshake",
            "only messages belong on stdout: send logs to stderr, or start the program in its stdio mode",
        ),
        ("exited", ..) => (
            "handshake",
            "the program exited before it answered: run its command by itself, and read its stderr",
        ),
        ("timed_out", ..) if is_program => (
            "handshake",
            "the program runs but does not answer: is it an MCP server on stdin and stdout? does it still download \
             something, or wait for a login? `startupTimeout` in its entry gives it longer",
        ),
        ("timed_out", ..) => {
            ("handshake", "the server accepts connections but does not answer: read its log")
        }
        (_, Some(kind), _) => (
            match kind {
                UnreachableKind::Dns => "name",
                UnreachableKind::Refused | UnreachableKind::Network => "connection",
                UnreachableKind::Proxy => "proxy",
                UnreachableKind::Tls => "tls",
                _ => "http",
            },
            unreachable_hint(kind),
        ),
        ("authentication", ..) => (
            "login",
            "add a header to its entry: \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}, or correct the one it has",
        ),
        ("refused", _, Some(status)) => ("http", http_status_hint(status)),
        ("remote", ..) if !is_program => ("http", NO_ENDPOINT),
        ("rate_limited", ..) => ("http", "wait, then try again"),
        ("lost", ..) if !is_program => ("http", "the connection broke: is this an MCP server? check its log"),
        ("no_common_revision", ..) => ("handshake", "update the server or this program"),
        _ => (
            "handshake",
            "the server violates the protocol; `switchboard tools --trace …` shows its messages",
        ),
    };
    let stray_line = stray_line.map(|line| format!("; its first line on stdout is not a message: {line:?}"));
    let error = StepError {
        message: format!("{}{}", report.message, stray_line.unwrap_or_default()),
        next: next.to_owned(),
        status: report.exit,
        stderr: report.stderr_tail,
        tried: Vec::new(),
    };
    (step, error)
}
