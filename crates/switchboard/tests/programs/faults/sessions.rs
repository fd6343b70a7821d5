//! Sessions with misbehaving servers, and the trials that open them.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use switchboard::client::{ClientSession, Limits, RevisionPolicy};
use switchboard::transport::MuxLink;
use switchboard::transport::link::{BoxFuture, DialStep, Link};
use switchboard::transport::stdio::{ChildHandle, StopTimeouts, spawn};
use switchboard::transport::{CloseOutcome, ConnectionLimits, Dial, Direction, LinkError, Tap};
use switchboard::{CallError, Client, Stdio, json};
use switchboard_testkit::{STEP_TIMEOUT, TEST_TIMEOUT, Trial, current_thread, trial_on};

use crate::faults::faultd;

/// Whether the long forms of the tests run.
pub(crate) fn is_long() -> bool {
    std::env::var_os("SWITCHBOARD_LONG").is_some_and(|value| value == "1")
}

/// How often: `few` by default, `all` in the long form.
pub(crate) fn times(few: usize, all: usize) -> usize {
    if is_long() { all } else { few }
}

/// A test on a real clock that must end and leave no task behind.
pub(crate) fn real<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    let limit = if is_long() { 40 * TEST_TIMEOUT } else { TEST_TIMEOUT };
    trial_on(current_thread(), limit, &row_name(name), test)
}

/// The same with a clock that jumps to the next timer when no task can make progress.
pub(crate) fn paused<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    let mut runtime = current_thread();
    runtime.start_paused(true);
    trial_on(runtime, Duration::from_secs(7200), &row_name(name), test)
}

/// Functions are named f039_..., rows F039.
fn row_name(name: &str) -> String {
    let name = name.rsplit("::").next().unwrap_or_default();
    name.replacen('f', "F", usize::from(name.starts_with("f0")))
}

/// Stops quickly, so that no test waits for a default.
pub(crate) const QUICK: StopTimeouts =
    StopTimeouts { eof: Duration::from_millis(200), term: Duration::from_millis(300), kill: STEP_TIMEOUT };

/// Waits for a server to leave by itself, however long it takes on a busy machine.
pub(crate) const PATIENT: StopTimeouts =
    StopTimeouts { eof: STEP_TIMEOUT, term: STEP_TIMEOUT, kill: STEP_TIMEOUT };

/// This program as the misbehaving server of this name.
pub(crate) fn faultd(fault: &str) -> Stdio {
    Stdio::new(std::env::current_exe().unwrap())
        .env(faultd::FAULT, fault)
        .inherit_env("SWITCHBOARD_LONG")
        .stop_timeouts(PATIENT)
}

/// A server in shell that shakes hands and then runs this.
pub(crate) fn shell(script: &str) -> Stdio {
    let welcome = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}"#;
    sh(&format!("read a; echo '{welcome}'; read b; {script}"))
}

pub(crate) fn sh(script: &str) -> Stdio {
    Stdio::new("sh").args(["-c", script])
}

/// A client that speaks to legacy servers without a probe.
pub(crate) fn legacy() -> Client {
    Client::new().with_revisions(RevisionPolicy::LegacyOnly)
}

/// Limits with one change.
pub(crate) fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// Peer limits with one change.
pub(crate) fn peer_limits(change: impl FnOnce(&mut ConnectionLimits)) -> ConnectionLimits {
    let mut limits = ConnectionLimits::default();
    change(&mut limits);
    limits
}

/// A link that was made, and its process.
type Started = (Weak<MuxLink>, ChildHandle);

/// Starts a command, and remembers every link and process it made and every message that went by.
#[derive(Clone)]
pub(crate) struct Watched {
    command: Stdio,
    limits: ConnectionLimits,
    links: Arc<Mutex<Vec<Started>>>,
    said: Arc<Mutex<Vec<(Direction, String)>>>,
}

impl Watched {
    pub(crate) fn new(command: Stdio) -> Self {
        Self { command, limits: ConnectionLimits::default(), links: Arc::default(), said: Arc::default() }
    }

    pub(crate) fn with_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Requests under way on all links.
    pub(crate) fn pending(&self) -> usize {
        self.links
            .lock()
            .unwrap()
            .iter()
            .filter_map(|(link, _)| link.upgrade())
            .map(|link| link.pending())
            .sum()
    }

    /// The processes that were started.
    pub(crate) fn children(&self) -> Vec<ChildHandle> {
        self.links.lock().unwrap().iter().map(|(_, child)| child.clone()).collect()
    }

    /// The methods of the requests and notifications we sent.
    pub(crate) fn methods_sent(&self) -> Vec<String> {
        let said = self.said.lock().unwrap();
        said.iter()
            .filter(|(way, _)| *way == Direction::Out)
            .filter_map(|(_, text)| {
                let message: serde_json::Value = serde_json::from_str(text).ok()?;
                Some(message.get("method")?.as_str()?.to_owned())
            })
            .collect()
    }

    fn link(&self, step: DialStep, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        if let (DialStep::Legacy, Some(link)) = (step, previous)
            && link.ended().is_none()
        {
            return Ok(link);
        }
        let (pipe, child) = spawn(&self.command)?;
        let said = Arc::clone(&self.said);
        let tap = Tap::new(move |way, bytes| {
            said.lock()
                .unwrap()
                .push((way, String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned()));
        });
        let peer = MuxLink::start(pipe.with_tap(tap), self.limits.clone());
        self.links.lock().unwrap().push((Arc::downgrade(&peer), child));
        Ok(peer)
    }
}

impl Dial for Watched {
    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move { self.link(step, previous) })
    }
}

/// Calls `echo` with a nonce and gives what came back, which must be it.
pub(crate) async fn echo(session: &ClientSession, nonce: &str) -> Result<(), CallError> {
    let result = session.call_tool("echo", json!({ "nonce": nonce })).await?;
    assert_eq!(result.text(), nonce, "an answer reached another caller");
    Ok(())
}

/// Closes a session whose server leaves when its input ends.
pub(crate) async fn close_politely(session: &ClientSession) {
    match session.close_within(4 * STEP_TIMEOUT).await {
        CloseOutcome::Exited(exit) => assert_eq!((exit.code, exit.signal), (Some(0), None), "{exit}"),
        other => panic!("{other:?}"),
    }
}
