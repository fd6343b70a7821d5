//! The last steps: the server is started or asked, a session opens, and its tools are listed.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use switchboard::session::link::UnreachableKind;
use switchboard::{CallError, Client, ClientSession, Dial, Limits, LinkError};

use crate::connect::introduce;
use crate::doctor::report::{Report, Stop, Trouble};
use crate::failure::{Failure, NO_ENDPOINT, Status, refused_hint, unreachable_hint};
use crate::output::count;

/// When a program was first written to: it runs from then on, as far as can be told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moments(Arc<OnceLock<Instant>>);

impl Moments {
    /// Something goes to the program.
    pub(crate) fn see(&self) {
        self.0.get_or_init(Instant::now);
    }
}

/// How a server is connected to.
#[derive(Debug)]
pub(crate) enum Way {
    /// It is a program.
    Program {
        /// When it was first written to.
        moments: Moments,
        /// The first line of its stdout that is not a message.
        junk: Arc<OnceLock<String>>,
    },
    /// Over HTTP.
    Http,
}

/// Opens a session and lists the tools. The session is to be closed by whoever gets it.
///
/// # Errors
/// The step that failed.
pub(crate) async fn meet(
    report: &mut Report,
    dial: Arc<dyn Dial>,
    way: &Way,
    patience: Duration,
) -> Result<ClientSession, Stop> {
    let began = Instant::now();
    let mut limits = Limits::default();
    limits.startup = patience;
    let client = Client::new().with_name("switchboard-cli", env!("CARGO_PKG_VERSION")).with_limits(limits);
    let opened = client.connect(dial).await;
    let mut asked = began;
    let has_started = !matches!(&opened, Err(CallError::Link(LinkError::NotStarted(_))));
    if let (Way::Program { moments, .. }, true) = (way, has_started) {
        // One that ended at once may never have been written to.
        asked = moments.0.get().copied().unwrap_or(began);
        _ = report.passed("start", asked.duration_since(began), "started");
    }
    let session = match opened {
        Ok(session) => session,
        Err(error) => {
            let (step, trouble) = explain(error.into(), way);
            return Err(report.failed(step, asked, trouble));
        }
    };
    match session.info() {
        Ok(terms) => _ = report.passed("handshake", asked.elapsed(), introduce(terms)),
        Err(error) => {
            let (step, trouble) = explain(error.into(), way);
            return Err(report.failed(step, asked, trouble));
        }
    }
    list(report, &session, way).await?;
    Ok(session)
}

async fn list(report: &mut Report, session: &ClientSession, way: &Way) -> Result<(), Stop> {
    let began = Instant::now();
    if session.info().is_ok_and(|terms| terms.capabilities.tools.is_none()) {
        _ = report.passed("tools", began.elapsed(), "the server has no tools");
        return Ok(());
    }
    match session.list_tools().await {
        Ok(tools) => {
            let left_out = match tools.rejected.len() {
                0 => String::new(),
                count => format!(", {count} more are not valid and left out"),
            };
            _ = report.passed("tools", began.elapsed(), format!("{}{left_out}", count(tools.len(), "tool")));
            Ok(())
        }
        Err(error) => {
            let (_, trouble) = explain(error.into(), way);
            Err(report.failed("tools", began, trouble))
        }
    }
}

/// Which step an error belongs to, and what to do about it.
fn explain(failure: Failure, way: &Way) -> (&'static str, Trouble) {
    let Failure::Told(told) = failure else {
        return ("handshake", Trouble::new(Status::Other, "interrupted", "try again"));
    };
    let junk = match way {
        Way::Program { junk, .. } => junk.get(),
        Way::Http => None,
    };
    let is_program = matches!(way, Way::Program { .. });
    let (step, next) = match (told.kind(), told.unreachable(), told.http_status()) {
        ("not_started", ..) => ("start", "run the command by itself to see what is wrong"),
        (..) if junk.is_some() => (
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
        ("refused", _, Some(status)) => ("http", refused_hint(status)),
        ("remote", ..) if !is_program => ("http", NO_ENDPOINT),
        ("rate_limited", ..) => ("http", "wait, then try again"),
        ("lost", ..) if !is_program => {
            ("http", "the connection broke: is this a web server? its log may say more")
        }
        ("no_common_revision", ..) => ("handshake", "update the server or this program"),
        _ => (
            "handshake",
            "the server violates the protocol; `switchboard tools --trace …` shows its messages",
        ),
    };
    let junk = junk.map(|line| format!("; its first line on stdout is not a message: {line:?}"));
    let trouble = Trouble {
        said: format!("{}{}", told.message(), junk.unwrap_or_default()),
        next: next.to_owned(),
        status: told.exit_status(),
        stderr: told.stderr().map(str::to_owned),
    };
    (step, trouble)
}
