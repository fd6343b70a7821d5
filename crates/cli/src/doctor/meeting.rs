//! The last steps: the server is started or asked, a session opens, and its tools are listed.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use switchboard::{CallError, Client, ClientSession, Dial, Limits, LinkError};

use crate::connect::introduce;
use crate::doctor::report::{Report, Stop, Trouble};
use crate::failure::{Failure, NO_ENDPOINT, Status};

/// When a program was first written to: it runs from then on, as far as can be told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moments(Arc<OnceLock<Instant>>);

impl Moments {
    /// Something goes to the program.
    pub(crate) fn see(&self) {
        self.0.get_or_init(Instant::now);
    }
}

/// How a server is met.
#[derive(Debug)]
pub(crate) enum Way {
    /// It is a program; this says when it was first written to.
    Program(Moments),
    /// Over plain HTTP.
    Plain,
    /// Over HTTPS.
    Secure,
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
    if let (Way::Program(moments), true) = (way, has_started) {
        // One that ended at once may never have been written to.
        asked = moments.0.get().copied().unwrap_or(began);
        _ = report.passed("start", asked.duration_since(began), "the program runs");
    }
    let session = match opened {
        Ok(session) => session,
        Err(error) => {
            let (step, trouble) = explain(error.into(), way);
            return Err(report.failed(step, asked, trouble));
        }
    };
    match session.terms() {
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
    if session.terms().is_ok_and(|terms| terms.capabilities.tools.is_none()) {
        _ = report.passed("tools", began.elapsed(), "it offers none");
        return Ok(());
    }
    match session.list_tools().await {
        Ok(tools) => {
            let left_out = match tools.rejected.len() {
                0 => String::new(),
                count => format!(", and {count} that are not valid and left out"),
            };
            _ = report.passed("tools", began.elapsed(), format!("it lists {}{left_out}", tools.len()));
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
        return ("handshake", Trouble::new(Status::Other, "it was interrupted", "try again"));
    };
    let is_program = matches!(way, Way::Program(_));
    let (step, next) = match told.kind() {
        "not_started" => ("start", "run the command by itself to see what is wrong"),
        "exited" => (
            "handshake",
            "the program ended before it said anything: run its command by itself, and read what it wrote to stderr",
        ),
        "timed_out" if is_program => (
            "handshake",
            "the program runs and does not answer: is it an MCP server on stdin and stdout? does it still install \
             something, or wait for a login? `startupTimeout` in its entry gives it longer",
        ),
        "timed_out" => ("handshake", "somebody listens there and does not answer: its log may say why"),
        "unreachable" if matches!(way, Way::Plain) => {
            ("http", "somebody listens there, and it is no web server")
        }
        "unreachable" => (
            "tls",
            "check that the server speaks https there, and its certificate; SSL_CERT_FILE=FILE.pem trusts one of \
             your own",
        ),
        "authentication" => (
            "login",
            "give its entry a header: \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}, or correct the one it has",
        ),
        "refused" | "remote" if !is_program => ("http", NO_ENDPOINT),
        "rate_limited" => ("http", "wait, then try again"),
        "no_common_revision" => ("handshake", "update the server or this program"),
        _ => (
            "handshake",
            "this is a fault of the server; `switchboard tools --trace -- CMD` shows what it sends",
        ),
    };
    let trouble = Trouble {
        said: told.message().to_owned(),
        next: next.to_owned(),
        status: told.exit_status(),
        stderr: told.stderr().map(str::to_owned),
    };
    (step, trouble)
}
