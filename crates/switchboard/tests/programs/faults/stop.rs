//! Stopping, and being stopped: F012 to F014, F016 to F019, F021, F022, F025, F026.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use switchboard::client::ClientSession;
use switchboard::transport::CloseOutcome;
use switchboard::transport::link::ServerExit;
use switchboard::transport::stdio::StopTimeouts;
use switchboard_testkit::{STEP_TIMEOUT, processes_with_argument, unique_seconds, wait_for_processes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::task::JoinSet;

use crate::faults::part::{SCRIPT, cast, said};
use crate::faults::sessions::{QUICK, legacy, real, shell, times};

switchboard_testkit::trials![real:
    f012_a_server_that_ignores_term_is_killed_in_time,
    f013_a_server_that_honours_term_ends_clean,
    f014_a_stopped_server_is_continued_and_ends,
    f016_grandchildren_end_with_their_server,
    f017_a_grandchild_of_another_session_ends_too,
    f018_a_killed_host_leaves_nobody,
    f019_an_aborted_host_leaves_nobody,
    f019_a_panicking_host_leaves_nobody,
    f021_many_restarts_leave_nothing,
    f022_a_forking_tree_is_killed_to_the_last,
    f025_hostile_servers_stop_together,
    f026_an_interrupt_reaches_only_the_host,
    f026_a_second_interrupt_leaves_the_rest_to_the_shim,
];

async fn leave(session: &ClientSession) -> (ServerExit, Duration) {
    let start = Instant::now();
    match session.close_within(4 * STEP_TIMEOUT).await {
        CloseOutcome::Exited(exit) => (exit, start.elapsed()),
        other => panic!("{other:?}"),
    }
}

/// With the default times until it is killed.
async fn f012_a_server_that_ignores_term_is_killed_in_time() {
    let token = unique_seconds();
    let script = format!("trap '' TERM; sleep {token} & while :; do sleep 1; done");
    let ladder = StopTimeouts { kill: STEP_TIMEOUT, ..StopTimeouts::default() };
    let session = legacy().connect(shell(&script).stop_timeouts(ladder)).await.unwrap();
    wait_for_processes(&token, 1).await;
    let (exit, took) = leave(&session).await;
    assert_eq!(exit.signal, Some(9));
    assert!(took > Duration::from_millis(3900), "{took:?}");
    assert!(processes_with_argument(&token).is_empty());
}

async fn f013_a_server_that_honours_term_ends_clean() {
    let token = unique_seconds();
    let script = format!("trap 'exit 0' TERM; sleep {token} & while :; do sleep 0.02; done");
    let ladder = StopTimeouts { term: STEP_TIMEOUT, ..QUICK };
    let session = legacy().connect(shell(&script).stop_timeouts(ladder)).await.unwrap();
    wait_for_processes(&token, 1).await;
    let (exit, took) = leave(&session).await;
    assert_eq!((exit.code, exit.signal), (Some(0), None), "{exit}");
    assert!(took >= QUICK.eof && took < STEP_TIMEOUT, "{took:?}");
    wait_for_processes(&token, 0).await;
}

async fn f014_a_stopped_server_is_continued_and_ends() {
    let session = legacy()
        .connect(shell("kill -STOP $$; exec cat").stop_timeouts(StopTimeouts { term: STEP_TIMEOUT, ..QUICK }))
        .await
        .unwrap();
    let (exit, took) = leave(&session).await;
    assert!(exit.signal == Some(15) || exit.code == Some(0), "{exit}");
    assert!(took < STEP_TIMEOUT, "{took:?}");
}

async fn f016_grandchildren_end_with_their_server() {
    let token = unique_seconds();
    let script = format!("sh -c 'sh -c \"sleep {token}\" & sleep {token} & wait' & exec cat");
    let session = legacy().connect(shell(&script)).await.unwrap();
    wait_for_processes(&token, 2).await;
    leave(&session).await;
    wait_for_processes(&token, 0).await;
}

async fn f017_a_grandchild_of_another_session_ends_too() {
    let token = unique_seconds();
    let script = format!("setsid sh -c 'trap \"\" TERM; sleep {token} & setsid sleep {token}' & exec cat");
    let session = legacy().connect(shell(&script).stop_timeouts(QUICK)).await.unwrap();
    wait_for_processes(&token, 2).await;
    leave(&session).await;
    wait_for_processes(&token, 0).await;
}

/// A host of its own with a server whose sleepers live.
async fn host(part: &str, token: &str) -> Child {
    let script =
        format!("trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep {token}' & sleep {token}; sleep {token}");
    let host = cast(part, &[(SCRIPT, &script)]).spawn().unwrap();
    wait_for_processes(token, 2).await;
    host
}

async fn f018_a_killed_host_leaves_nobody() {
    for _ in 0..times(2, 100) {
        let token = unique_seconds();
        let mut host = host("host", &token).await;
        host.kill().await.unwrap();
        wait_for_processes(&token, 0).await;
    }
}

async fn f019_an_aborted_host_leaves_nobody() {
    crash("abort").await;
}

async fn f019_a_panicking_host_leaves_nobody() {
    crash("panic").await;
}

async fn crash(how: &str) {
    let token = unique_seconds();
    let mut host = host(how, &token).await;
    host.stdin.take().unwrap().write_all(b"x").await.unwrap();
    assert!(!host.wait().await.unwrap().success());
    wait_for_processes(&token, 0).await;
}

/// In a process of its own: other tests open descriptors too.
async fn f021_many_restarts_leave_nothing() {
    assert_eq!(said("restarts").await, "0 children, 0 descriptors, 0 tasks");
}

async fn f022_a_forking_tree_is_killed_to_the_last() {
    let token = unique_seconds();
    let tree = format!(
        "trap '' TERM; for a in 1 2 3; do (for b in 1 2 3; do (setsid sleep {token} & sleep {token}) & done; wait) & done; wait"
    );
    let session = legacy().connect(shell(&tree).stop_timeouts(QUICK)).await.unwrap();
    wait_for_processes(&token, 18).await;
    leave(&session).await;
    assert!(processes_with_argument(&token).is_empty());
}

async fn f025_hostile_servers_stop_together() {
    let count = times(12, 50);
    let token = unique_seconds();
    let script = format!("trap '' TERM; sleep {token} & while :; do sleep 10; done");
    let mut sessions = Vec::new();
    for _ in 0..count {
        let ladder = StopTimeouts { kill: STEP_TIMEOUT, ..StopTimeouts::default() };
        sessions.push(legacy().connect(shell(&script).stop_timeouts(ladder)).await.unwrap());
    }
    wait_for_processes(&token, count).await;
    let start = Instant::now();
    let mut leaving = JoinSet::new();
    for session in sessions {
        leaving.spawn(async move { leave(&session).await });
    }
    leaving.join_all().await;
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    wait_for_processes(&token, 0).await;
}

/// Interrupts a host and everything in its process group, as a terminal does.
fn interrupt(host: &Child) {
    let pid = Pid::from_raw(host.id().unwrap().cast_signed()).unwrap();
    kill_process_group(pid, Signal::INT).unwrap();
}

async fn f026_an_interrupt_reaches_only_the_host() {
    let token = unique_seconds();
    let script = format!("trap 'exit 42' INT; sleep {token} & cat >/dev/null; exit 0");
    let mut host = cast("terminal", &[(SCRIPT, &script)]).process_group(0).spawn().unwrap();
    wait_for_processes(&token, 1).await;
    let start = Instant::now();
    interrupt(&host);
    let mut said = String::new();
    host.stdout.take().unwrap().read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "Some(0)", "the server left when its input ended");
    assert_eq!(host.wait().await.unwrap().code(), Some(130));
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    wait_for_processes(&token, 0).await;
}

async fn f026_a_second_interrupt_leaves_the_rest_to_the_shim() {
    let token = unique_seconds();
    let script = format!("trap '' INT TERM; sleep {token} & while :; do sleep 1; done");
    let mut host = cast("terminal", &[(SCRIPT, &script)]).process_group(0).spawn().unwrap();
    wait_for_processes(&token, 1).await;
    interrupt(&host);
    let first = tokio::time::timeout(Duration::from_millis(500), host.wait()).await;
    assert!(first.is_err(), "it takes its time to stop the server: {first:?}");
    let start = Instant::now();
    interrupt(&host);
    assert_eq!(host.wait().await.unwrap().code(), Some(130));
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    wait_for_processes(&token, 0).await;
}
