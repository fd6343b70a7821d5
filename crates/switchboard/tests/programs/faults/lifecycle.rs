//! How servers start, fail to, and end: F001 to F011, F020, F023, F024.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard::client::{ClientSession, EraHint, SessionState, TimeoutKind};
use switchboard::transport::LinkError;
use switchboard::transport::link::StartErrorKind;
use switchboard::{CallError, Client, Stdio};
use switchboard_testkit::{STEP_TIMEOUT, unique_seconds, wait_for_processes, wait_for_reaping};

use crate::faults::part::PART;
use crate::faults::sessions::{
    QUICK, Watched, close_politely, echo, faultd, legacy, limits, peer_limits, real, sh,
};

switchboard_testkit::trials![real:
    f001_what_cannot_start_is_named_at_once,
    f002_an_exit_without_a_word_is_seen_at_once,
    f003_an_exit_during_the_handshake_carries_its_last_words,
    f004_a_server_that_dies_of_the_probe_is_started_again,
    f004_a_server_that_answers_the_probe_and_dies_is_started_again,
    f004_a_known_legacy_server_gets_no_probe,
    f005_a_server_that_ignores_the_probe_keeps_its_process,
    f006_a_slow_start_holds_up_nobody_else,
    f007_a_server_that_hangs_is_killed_at_the_startup_time,
    f008_a_crash_fails_every_call_once_and_replays_none,
    f009_a_closed_stdout_is_a_lost_connection,
    f010_a_closed_stdin_is_a_lost_connection_after_the_grace,
    f011_the_exit_is_the_end_not_the_pipes,
    f020_the_thread_that_started_a_server_may_end,
    f023_a_number_used_again_is_not_signalled,
    f024_a_daemon_is_an_exit_and_its_descendants_end,
    f054_a_server_that_stops_reading_is_ended,
];

fn exit_code(error: &CallError) -> Option<i32> {
    match error {
        CallError::Link(LinkError::Exited(exit)) => exit.code,
        _ => None,
    }
}

async fn f001_what_cannot_start_is_named_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server");
    std::fs::write(&file, "hello").unwrap();
    let missing = Stdio::new("no-such-server").env("PATH", "/usr/bin:/nowhere");
    for (command, fault, names) in [
        (missing, StartErrorKind::NotFound, "searched 2 folders of PATH"),
        (Stdio::new(&file), StartErrorKind::NotExecutable, "server"),
        (Stdio::new("cat").cwd("/nowhere"), StartErrorKind::BadDirectory, "/nowhere"),
    ] {
        let watched = Watched::new(command);
        let session = Client::new().session(watched.clone());
        let start = Instant::now();
        let error = session.initialize().await.unwrap_err();
        assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
        let CallError::Link(LinkError::NotStarted(why)) = &error else { panic!("{error:?}") };
        assert_eq!(why.kind, fault);
        assert!(error.to_string().contains(names), "{error}");
        assert!(matches!(session.state(), SessionState::Failed(CallError::Link(LinkError::NotStarted(_)))));
        assert!(watched.children().is_empty(), "it is not tried again");
    }
}

async fn f002_an_exit_without_a_word_is_seen_at_once() {
    for client in [legacy(), Client::new()] {
        let start = Instant::now();
        let error = client.connect(faultd("exit-0")).await.unwrap_err();
        assert_eq!(exit_code(&error), Some(0), "{error:?}");
        assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    }
}

async fn f003_an_exit_during_the_handshake_carries_its_last_words() {
    let watched = Watched::new(faultd("exit-3-in-handshake"));
    let session = legacy().session(watched.clone());
    let error = session.initialize().await.unwrap_err();
    assert_eq!(exit_code(&error), Some(3), "{error:?}");
    assert!(error.to_string().contains("no such database"), "{error}");
    assert!(matches!(session.state(), SessionState::Failed(_)));
    assert_eq!(watched.children().len(), 1, "starting again is not for the session");
    let again = session.initialize().await.unwrap_err();
    assert_eq!(exit_code(&again), Some(3));
}

async fn f004_a_server_that_dies_of_the_probe_is_started_again() {
    starts_again("dies-of-probe").await;
}

/// Some say what is wrong first.
async fn f004_a_server_that_answers_the_probe_and_dies_is_started_again() {
    starts_again("answers-probe-and-dies").await;
}

async fn starts_again(fault: &str) {
    let watched = Watched::new(faultd(fault));
    let start = Instant::now();
    let session = Client::new().connect(watched.clone()).await.unwrap();
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    assert_eq!(watched.children().len(), 2);
    let probes = watched.methods_sent().iter().filter(|method| *method == "server/discover").count();
    assert_eq!(probes, 1, "the second process is asked the old way at once");
    echo(&session, "n").await.unwrap();
    close_politely(&session).await;
}

async fn f004_a_known_legacy_server_gets_no_probe() {
    let watched = Watched::new(faultd("dies-of-probe"));
    let session = Client::new().with_era_hint(EraHint::Legacy).connect(watched.clone()).await.unwrap();
    assert_eq!(watched.children().len(), 1);
    assert_eq!(watched.methods_sent(), ["initialize", "notifications/initialized"]);
    close_politely(&session).await;
}

async fn f005_a_server_that_ignores_the_probe_keeps_its_process() {
    let watched = Watched::new(faultd("ignores-probe"));
    let quick = limits(|limits| limits.probe = Duration::from_millis(200));
    let session = Client::new().with_limits(quick).connect(watched.clone()).await.unwrap();
    assert_eq!(watched.children().len(), 1);
    assert_eq!(&watched.methods_sent()[..2], ["server/discover", "initialize"]);
    echo(&session, "n").await.unwrap();
    close_politely(&session).await;
}

async fn f006_a_slow_start_holds_up_nobody_else() {
    assert_eq!(limits(|_| {}).startup, Duration::from_secs(60));
    let dir = tempfile::tempdir().unwrap();
    let gate = dir.path().join("gate");
    assert!(tokio::process::Command::new("mkfifo").arg(&gate).status().await.unwrap().success());
    let slow = legacy().session(faultd("slow").env("GATE", &gate));
    let opening = {
        let slow = slow.clone();
        tokio::spawn(async move { slow.initialize().await })
    };
    let quick = legacy().connect(faultd("none")).await.unwrap();
    echo(&quick, "n").await.unwrap();
    assert!(matches!(slow.state(), SessionState::Created), "it is still starting");
    assert!(matches!(slow.call_tool("echo", json!({})).await, Err(CallError::NotInitialized)));
    tokio::task::spawn_blocking(move || std::fs::write(gate, b"go")).await.unwrap().unwrap();
    opening.await.unwrap().unwrap();
    assert!(matches!(slow.state(), SessionState::Ready));
    echo(&slow, "n").await.unwrap();
    close_politely(&quick).await;
    close_politely(&slow).await;
}

async fn f007_a_server_that_hangs_is_killed_at_the_startup_time() {
    let watched = Watched::new(faultd("hang"));
    let after = Duration::from_millis(300);
    let session = legacy().with_limits(limits(|limits| limits.startup = after)).session(watched.clone());
    let start = Instant::now();
    let error = session.initialize().await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { kind: TimeoutKind::Startup, .. }), "{error:?}");
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    wait_for_reaping(watched.children()[0].root_pid()).await;
}

async fn f008_a_crash_fails_every_call_once_and_replays_none() {
    let watched = Watched::new(faultd("segv"));
    let session = legacy().connect(watched.clone()).await.unwrap();
    let start = Instant::now();
    let hold = || session.call_tool("hold", json!({})).into_future();
    let (a, b, c) = tokio::join!(hold(), hold(), session.call_tool("fault", json!({})).into_future());
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    for error in [a.unwrap_err(), b.unwrap_err(), c.unwrap_err()] {
        assert!(
            matches!(&error, CallError::Link(LinkError::Exited(exit)) if exit.signal == Some(11)),
            "{error:?}"
        );
        assert!(error.outcome_unknown() && !error.is_retryable());
    }
    failed(&session).await;
    assert!(matches!(session.list_tools().await, Err(CallError::Link(LinkError::Exited(_)))));
    assert_eq!(watched.pending(), 0);
    let calls = watched.methods_sent().iter().filter(|method| *method == "tools/call").count();
    assert_eq!((calls, watched.children().len()), (3, 1), "nothing is sent twice");
}

async fn failed(session: &ClientSession) {
    session.watch_state().wait_for(|state| matches!(state, SessionState::Failed(_))).await.unwrap();
}

async fn f009_a_closed_stdout_is_a_lost_connection() {
    let watched = Watched::new(faultd("closes-stdout"));
    let session = legacy().connect(watched.clone()).await.unwrap();
    let start = Instant::now();
    let error = session.call_tool("fault", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Lost { .. })), "{error:?}");
    let took = start.elapsed();
    assert!(took > Duration::from_millis(1900) && took < STEP_TIMEOUT, "{took:?}");
    failed(&session).await;
    wait_for_reaping(watched.children()[0].root_pid()).await;
}

async fn f010_a_closed_stdin_is_a_lost_connection_after_the_grace() {
    let grace = Duration::from_millis(400);
    let watched = Watched::new(faultd("closes-stdin"))
        .with_limits(peer_limits(|limits| limits.write_failed_grace = grace));
    let session = legacy().connect(watched.clone()).await.unwrap();
    session.call_tool("fault", json!({"nonce": "n"})).await.expect("it still answers");
    let start = Instant::now();
    let error = session.call_tool("echo", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Lost { .. })), "{error:?}");
    let took = start.elapsed();
    assert!(took >= grace && took < STEP_TIMEOUT, "{took:?}");
    assert_eq!(watched.pending(), 0);
    wait_for_reaping(watched.children()[0].root_pid()).await;
}

async fn f011_the_exit_is_the_end_not_the_pipes() {
    let token = unique_seconds();
    let session = legacy().connect(faultd("leaves-a-grandchild").env("TOKEN", &token)).await.unwrap();
    let start = Instant::now();
    let error = session.call_tool("fault", json!({})).await.unwrap_err();
    assert_eq!(exit_code(&error), Some(5), "{error:?}");
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    wait_for_processes(&token, 0).await;
}

async fn f020_the_thread_that_started_a_server_may_end() {
    let handle = tokio::runtime::Handle::current();
    let connected = tokio::task::spawn_blocking(move || {
        std::thread::spawn(move || handle.block_on(async { legacy().connect(faultd("none")).await })).join()
    });
    let session = connected.await.unwrap().unwrap().unwrap();
    echo(&session, "n").await.unwrap();
    close_politely(&session).await;
}

/// In a namespace of its own, where the next number can be chosen; without one, only that nothing is hit.
async fn f023_a_number_used_again_is_not_signalled() {
    let us = std::env::current_exe().unwrap();
    let apart = ["-Urpf", "--mount-proc"];
    let can = tokio::process::Command::new("unshare")
        .args(apart)
        .arg("true")
        .stderr(std::process::Stdio::null())
        .status()
        .await;
    let mut command = if can.is_ok_and(|status| status.success()) {
        let mut command = tokio::process::Command::new("unshare");
        command.args(apart).arg(us);
        command
    } else {
        tokio::process::Command::new(us)
    };
    let output = command.env(PART, "reuse").kill_on_drop(true).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said == "reused reused " || said == "unused unused ", "{said}");
}

async fn f024_a_daemon_is_an_exit_and_its_descendants_end() {
    let token = unique_seconds();
    let script = format!("(setsid sh -c 'trap \"\" TERM; sleep {token} & wait' &); read a; exit 0");
    let error = legacy().connect(sh(&script).stop_timeouts(QUICK)).await.unwrap_err();
    assert_eq!(exit_code(&error), Some(0), "{error:?}");
    wait_for_processes(&token, 0).await;
}

async fn f054_a_server_that_stops_reading_is_ended() {
    let stall = Duration::from_millis(300);
    let watched =
        Watched::new(faultd("stops-reading").stop_timeouts(QUICK)).with_limits(peer_limits(|limits| {
            limits.write_stall = stall;
            limits.write_failed_grace = Duration::from_millis(100);
        }));
    let session = legacy().connect(watched.clone()).await.unwrap();
    session.call_tool("fault", json!({"nonce": "n"})).await.unwrap();
    let start = Instant::now();
    let error = session.call_tool("echo", json!({"large": "x".repeat(4 << 20)})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Lost { sent: true, .. })), "{error:?}");
    let took = start.elapsed();
    assert!(took >= stall && took < STEP_TIMEOUT, "{took:?}");
    wait_for_reaping(watched.children()[0].root_pid()).await;
    failed(&session).await;
}
