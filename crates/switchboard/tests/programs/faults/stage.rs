//! What the tests stand on: trials, sessions with misbehaving servers, and a look at which processes live.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use switchboard::client::{ClientSession, Limits, RevisionPolicy};
use switchboard::transport::MuxLink;
use switchboard::transport::link::{BoxFuture, DialStep, Link};
use switchboard::transport::stdio::{ChildHandle, StopTimeouts, spawn};
use switchboard::transport::{CloseOutcome, ConnectionLimits, Dial, Direction, LinkError, Tap};
use switchboard::{CallError, Client, Stdio, json};

use crate::faults::faultd;

/// Only a test that hangs takes longer; the long forms may.
const MOST: Duration = Duration::from_secs(600);

/// What only a hang exceeds, however busy the machine is: the bound of "at once" and "in time".
pub(crate) const LATE: Duration = Duration::from_secs(120);

/// Whether the long forms of the tests run.
pub(crate) fn is_long() -> bool {
    std::env::var_os("SWITCHBOARD_LONG").is_some_and(|value| value == "1")
}

/// How often: `few` by default, `all` in the long form.
pub(crate) fn times(few: usize, all: usize) -> usize {
    if is_long() { all } else { few }
}

/// A test that runs in a runtime of its own, must end, and must leave no task behind.
pub(crate) fn real<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    trial(name, false, test)
}

/// The same with a clock that jumps to the next timer when nothing else is to be done.
pub(crate) fn paused<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    trial(name, true, test)
}

fn trial<F: Future<Output = ()>>(
    name: &str,
    paused: bool,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    // Functions are named f039_..., rows F039.
    let name = name.replacen('f', "F", usize::from(name.starts_with("f0")));
    Trial::test(name, move || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(paused).build()?;
        runtime.block_on(async {
            let most = if is_long() { 40 * MOST } else { MOST };
            let most = if paused { Duration::from_secs(7200) } else { most };
            tokio::time::timeout(most, test()).await.map_err(|_| format!("not done in {most:?}"))?;
            no_task_is_left().await;
            Ok(())
        })
    })
}

/// Waits until everything a test started has ended.
async fn no_task_is_left() {
    let metrics = tokio::runtime::Handle::current().metrics();
    for _ in 0..24_000 {
        if metrics.num_alive_tasks() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{} tasks are left", metrics.num_alive_tasks());
}

/// Trials named after the functions they run.
#[macro_export]
macro_rules! trials {
    ($kind:ident: $($test:ident),* $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$($crate::faults::stage::$kind(stringify!($test), $test)),*]
        }
    };
}

/// Stops quickly, so that no test waits for a default.
pub(crate) const QUICK: StopTimeouts =
    StopTimeouts { eof: Duration::from_millis(200), term: Duration::from_millis(300), kill: LATE };

/// Waits for a server to leave by itself, however long it takes on a busy machine.
pub(crate) const PATIENT: StopTimeouts = StopTimeouts { eof: LATE, term: LATE, kill: LATE };

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

    fn link(&self, rung: DialStep, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        if let (DialStep::Legacy, Some(link)) = (rung, previous)
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
        rung: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move { self.link(rung, previous) })
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
    match session.close_within(4 * LATE).await {
        CloseOutcome::Exited(exit) => assert_eq!((exit.code, exit.signal), (Some(0), None), "{exit}"),
        other => panic!("{other:?}"),
    }
}

/// A number of seconds nobody else sleeps for, to know our sleepers by.
pub(crate) fn token() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}{:04}", 20_000_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The live processes with this word in their arguments.
pub(crate) fn alive(word: &str) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    numbers
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())
        })
        .collect()
}

/// Waits until so many processes with this word live.
pub(crate) async fn until_alive(word: &str, count: usize) {
    let start = Instant::now();
    while alive(word).len() != count {
        assert!(start.elapsed() < LATE, "{} of {count} {word} after {LATE:?}", alive(word).len());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until a process of this number is gone.
pub(crate) async fn until_gone(pid: u32) {
    let start = Instant::now();
    while std::path::Path::new(&format!("/proc/{pid}/stat")).exists() {
        assert!(start.elapsed() < LATE, "process {pid} is still there after {LATE:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
