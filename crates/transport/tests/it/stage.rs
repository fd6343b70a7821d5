//! What the tests stand on: trials, links to scripts, and a look at which processes live.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use switchboard_session::link::{ExchangeKind, Frame, Inlet, Link, LinkError, Mirror, OutgoingRequest};
use switchboard_session::{ConnectionLimits, MuxLink};
use switchboard_transport::stdio::{ChildHandle, Stdio, Supervision, spawn};

/// What only a hang exceeds, however busy the machine is: the bound of "at once" and "in time".
pub(crate) const LATE: Duration = Duration::from_secs(120);

/// A test that runs in a runtime of its own and must end.
pub(crate) fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let in_time =
            runtime.block_on(async { tokio::time::timeout(Duration::from_secs(600), test()).await });
        in_time.map_err(|_| "not done in 600 s".into())
    })
}

/// Trials named after the functions they run.
#[macro_export]
macro_rules! trials {
    ($($test:ident),* $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$($crate::stage::trial(concat!(module_path!(), "::", stringify!($test)), $test)),*]
        }
    };
}

pub(crate) fn sh(script: impl Into<String>) -> Stdio {
    Stdio::new("sh").args(["-c".to_owned(), script.into()])
}

/// The script looked after by the group only.
pub(crate) fn group(script: impl Into<String>) -> Stdio {
    sh(script).supervision(Supervision::GroupOnly)
}

pub(crate) fn link(command: &Stdio) -> (Arc<MuxLink>, ChildHandle) {
    let (pipe, child) = spawn(command).expect("the command starts");
    (MuxLink::start(pipe, ConnectionLimits::default()), child)
}

/// Asks and waits for the answer.
pub(crate) async fn ask(link: &MuxLink, id: i64) -> Result<String, LinkError> {
    let mut exchange = link.open(OutgoingRequest {
        id: id.into(),
        method: "ping",
        params: "{}",
        mirror: Mirror::default(),
        kind: ExchangeKind::Call,
    });
    exchange.done().await.map(|answer| format!("{answer:?}"))
}

/// How the link ends, and when.
pub(crate) async fn end_of(link: &MuxLink) -> LinkError {
    ask(link, 9_999).await.expect_err("nobody answers this")
}

/// A number of seconds nobody else sleeps for, to know our sleepers by.
pub(crate) fn token() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}{:04}", 10_000_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The live processes with this word in their arguments.
pub(crate) fn alive(word: &str) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").expect("/proc is there").flatten();
    numbers
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())
        })
        .collect()
}

/// Waits until so many sleepers with this word live.
pub(crate) async fn until_alive(word: &str, count: usize) {
    let start = Instant::now();
    while alive(word).len() != count {
        assert!(start.elapsed() < LATE, "{} of {count} {word} after {LATE:?}", alive(word).len());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn next_frames(inlet: &mut impl Inlet) -> (Vec<Frame>, Result<(), LinkError>) {
    let mut frames = Vec::new();
    let end = poll_fn(|cx| inlet.poll_frames(cx, &mut frames)).await;
    (frames, end)
}
