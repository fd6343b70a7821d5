//! Stopping, and being stopped: F012 to F022, F025.

use std::time::{Duration, Instant};

use switchboard_session::link::{CloseOutcome, Link, ServerExit};
use switchboard_testkit::{
    STEP_TIMEOUT, processes_with_argument, trial_leaving_tasks, unique_seconds, wait_for_processes,
    wait_for_reaping,
};
use switchboard_transport::stdio::{Stdio, StopTimeouts};
use tokio::io::AsyncWriteExt;

use crate::links::{ask, group, link, sh};
use crate::part::{SCRIPT, cast};

switchboard_testkit::trials![trial_leaving_tasks:
    the_end_of_input_is_enough_for_a_polite_server,
    term_stops_a_server_that_ignores_the_end_of_input,
    a_server_that_ignores_term_is_killed_with_its_tree,
    a_stopped_server_is_continued_and_ends,
    dropping_the_link_kills_the_tree,
    dropping_outside_a_runtime_kills_and_leaves_no_zombie,
    fifty_hostile_servers_stop_together,
    no_zombie_and_no_descriptor_is_left_by_many_restarts,
    a_forking_tree_is_killed_to_the_last,
    s9_a_server_that_kills_its_supervisor_does_not_survive,
    s9_a_stopped_supervisor_does_not_save_its_server,
    a11_the_pid_of_a_child_is_the_servers_own,
    a_killed_host_leaves_nobody,
    an_aborted_host_leaves_nobody,
    a_spawning_thread_may_end,
    without_the_supervisor_a_killed_host_only_closes_the_pipes,
    c11_a_detached_close_waits_for_nobody_and_the_supervisor_stops_the_tree,
    c11_without_the_supervisor_a_detached_close_is_a_close,
];

const QUICK: StopTimeouts =
    StopTimeouts { eof: Duration::from_millis(200), term: Duration::from_millis(300), kill: STEP_TIMEOUT };

/// The default times until a server is killed, and then all the time that a busy machine needs.
fn usual() -> StopTimeouts {
    StopTimeouts { kill: STEP_TIMEOUT, ..StopTimeouts::default() }
}

async fn leave(link: &impl Link) -> (ServerExit, Duration) {
    let start = Instant::now();
    match link.close(4 * STEP_TIMEOUT).await {
        CloseOutcome::Exited(exit) => (exit, start.elapsed()),
        other => panic!("{other:?}"),
    }
}

async fn the_end_of_input_is_enough_for_a_polite_server() {
    for command in [sh("exec cat"), group("exec cat")] {
        let (link, _) = link(&command.stop_timeouts(StopTimeouts { eof: STEP_TIMEOUT, ..QUICK }));
        let (exit, took) = leave(&*link).await;
        assert_eq!((exit.code, exit.signal), (Some(0), None));
        assert!(took < STEP_TIMEOUT, "{took:?}");
    }
}

/// F013.
async fn term_stops_a_server_that_ignores_the_end_of_input() {
    let ready = r#"echo '{"jsonrpc":"2.0","id":1,"result":{}}'"#;
    let script = format!("trap 'exit 0' TERM; {ready}; while :; do sleep 0.05; done");
    for command in [sh(&script), group(&script)] {
        let (link, _) =
            link(&command.stop_timeouts(StopTimeouts { term: STEP_TIMEOUT, ..StopTimeouts::default() }));
        ask(&link, 1).await.unwrap();
        let (exit, took) = leave(&*link).await;
        assert_eq!((exit.code, exit.signal), (Some(0), None), "{exit}");
        assert!(took > Duration::from_millis(1900) && took < STEP_TIMEOUT, "{took:?}");
    }
}

/// F012, F016, F017.
async fn a_server_that_ignores_term_is_killed_with_its_tree() {
    let token = unique_seconds();
    let script = format!("trap '' TERM; sleep {token} & setsid sleep {token} & while :; do sleep 1; done");
    let (link, _) = link(&sh(script).stop_timeouts(usual()));
    wait_for_processes(&token, 2).await;
    let (exit, took) = leave(&*link).await;
    assert_eq!(exit.signal, Some(9));
    assert!(took > Duration::from_millis(3900) && took < STEP_TIMEOUT, "{took:?}");
    assert!(processes_with_argument(&token).is_empty());

    // The second line: the group goes, by the same clock.
    let (link, _) = crate::links::link(
        &group(format!("trap '' TERM; sleep {token} & while :; do sleep 1; done")).stop_timeouts(QUICK),
    );
    wait_for_processes(&token, 1).await;
    let (exit, took) = leave(&*link).await;
    assert_eq!(exit.signal, Some(9));
    assert!(took >= Duration::from_millis(500) && took < STEP_TIMEOUT, "{took:?}");
    wait_for_processes(&token, 0).await;
}

/// F014.
async fn a_stopped_server_is_continued_and_ends() {
    for command in [sh("kill -STOP $$; exec cat"), group("kill -STOP $$; exec cat")] {
        let (link, _) = link(&command.stop_timeouts(StopTimeouts { term: STEP_TIMEOUT, ..QUICK }));
        let (exit, took) = leave(&*link).await;
        assert!(exit.signal == Some(15) || exit.code == Some(0), "{exit}");
        assert!(took < STEP_TIMEOUT, "{took:?}");
    }
}

async fn dropping_the_link_kills_the_tree() {
    let token = unique_seconds();
    let script = format!("trap '' TERM; setsid sleep {token} & sleep {token}");
    let (link, child) = link(&sh(script));
    wait_for_processes(&token, 2).await;
    drop(link);
    wait_for_processes(&token, 0).await;
    child.exited().await;
}

async fn dropping_outside_a_runtime_kills_and_leaves_no_zombie() {
    for command in [sh("exec cat"), group("exec cat")] {
        let (link, child) = link(&command);
        std::thread::spawn(move || drop(link)).join().unwrap();
        child.exited().await;
        wait_for_reaping(child.root_pid()).await;
    }
}

/// F025.
async fn fifty_hostile_servers_stop_together() {
    let token = unique_seconds();
    let script = format!("trap '' TERM; sleep {token} & while :; do sleep 10; done");
    let links: Vec<_> = (0..50).map(|_| link(&sh(&script).stop_timeouts(usual())).0).collect();
    wait_for_processes(&token, 50).await;
    let start = Instant::now();
    let leaving: Vec<_> = links
        .into_iter()
        .map(|link| tokio::spawn(async move { link.close(4 * STEP_TIMEOUT).await }))
        .collect();
    for left in leaving {
        left.await.unwrap();
    }
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    wait_for_processes(&token, 0).await;
}

/// F021.
async fn no_zombie_and_no_descriptor_is_left_by_many_restarts() {
    // In a process of its own: other tests open descriptors too.
    let said = crate::part::said("restarts", &[]).await;
    assert_eq!(said, "0 children, 0 descriptors");
}

/// F022, as a bounded tree.
async fn a_forking_tree_is_killed_to_the_last() {
    let token = unique_seconds();
    let fork = format!(
        "trap '' TERM; for a in 1 2 3; do (for b in 1 2 3; do (setsid sleep {token} & sleep {token}) & done; wait) & done; wait"
    );
    let (link, _) = link(&sh(fork).stop_timeouts(QUICK));
    wait_for_processes(&token, 18).await;
    leave(&*link).await;
    assert!(processes_with_argument(&token).is_empty());
}

/// A server that kills its supervisor ends with it, and so does all it started.
async fn s9_a_server_that_kills_its_supervisor_does_not_survive() {
    for script in [
        // At once, before it said a word.
        "kill -9 $PPID; sleep TOKEN & sleep TOKEN",
        // Once it was asked something, with a child in a session of its own.
        "sleep TOKEN & setsid sleep TOKEN & read line; kill -9 $PPID; sleep TOKEN",
        // After it answered, from a session of its own.
        "trap '' TERM; host=$PPID; read line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; \
         setsid sh -c \"sleep TOKEN & read line; kill -9 $host; sleep TOKEN\"",
    ] {
        let token = unique_seconds();
        let (link, child) = link(&sh(script.replace("TOKEN", &token)));
        let _answer = ask(&link, 1).await;
        let _answer = ask(&link, 2).await;
        child.exited().await;
        drop(link);
        wait_for_processes(&token, 0).await;
    }
}

/// A supervisor that its server keeps stopped is killed, and the server with it.
async fn s9_a_stopped_supervisor_does_not_save_its_server() {
    let token = unique_seconds();
    let script = format!("trap '' TERM; while :; do kill -STOP $PPID; sleep 0.01; done & sleep {token}");
    let (link, _child) = link(&sh(script).stop_timeouts(QUICK));
    wait_for_processes(&token, 1).await;
    let _closed = link.close(Duration::from_secs(5)).await;
    wait_for_processes(&token, 0).await;
}

async fn a11_the_pid_of_a_child_is_the_servers_own() {
    for command in [sh("echo $$ >&2; exec cat"), group("echo $$ >&2; exec cat")] {
        let (link, child) = link(&command);
        let said = loop {
            let said = child.stderr_tail();
            if said.contains('\n') {
                break said;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        assert_eq!(child.pid().unwrap().to_string(), said.trim());
        assert_ne!(child.supervisor_pid(), child.pid());
        drop(link);
    }
}

/// F018.
async fn a_killed_host_leaves_nobody() {
    for _ in 0..5 {
        let token = unique_seconds();
        let script = format!(
            "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep {token}' & sleep {token}; sleep {token}"
        );
        let mut host =
            cast("host", &[(SCRIPT, &script)]).stderr(std::process::Stdio::null()).spawn().unwrap();
        wait_for_processes(&token, 2).await;
        host.kill().await.unwrap();
        wait_for_processes(&token, 0).await;
    }
}

/// F019.
async fn an_aborted_host_leaves_nobody() {
    let token = unique_seconds();
    let script = format!("setsid sleep {token} & sleep {token}");
    let mut host = cast("abort", &[(SCRIPT, &script)]).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_for_processes(&token, 2).await;
    host.stdin.take().unwrap().write_all(b"x").await.unwrap();
    assert!(!host.wait().await.unwrap().success());
    wait_for_processes(&token, 0).await;
}

/// F020.
async fn a_spawning_thread_may_end() {
    let handle = tokio::runtime::Handle::current();
    let started = std::thread::spawn(move || {
        let _inside = handle.enter();
        link(&Stdio::new("sh").args(["-c", r#"read a; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; cat"#]))
    });
    let (link, _child) = started.join().unwrap();
    ask(&link, 1).await.unwrap();
}

/// What is promised without the supervisor: the end of input, no more.
async fn without_the_supervisor_a_killed_host_only_closes_the_pipes() {
    let (polite, deaf) = (unique_seconds(), unique_seconds());
    let script = format!("sleep {deaf} & echo $! >&2; cat; kill $!; exec sleep {polite}.0");
    let mut host =
        cast("group-host", &[(SCRIPT, &script)]).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_for_processes(&deaf, 1).await;
    host.kill().await.unwrap();
    // The end of its input lets it clean up by itself; what ignores that lives on.
    wait_for_processes(&deaf, 0).await;
    let left = format!("{polite}.0");
    wait_for_processes(&left, 1).await;
    for pid in processes_with_argument(&left) {
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
}

/// Heeds neither the end of its input nor TERM.
fn stubborn(token: &str) -> String {
    let ready = r#"echo '{"jsonrpc":"2.0","id":1,"result":{}}'"#;
    format!("trap '' TERM; sleep {token} & setsid sleep {token} & {ready}; while :; do sleep 0.05; done")
}

/// C11.
async fn c11_a_detached_close_waits_for_nobody_and_the_supervisor_stops_the_tree() {
    const LONG: Duration = Duration::from_secs(60);
    let token = unique_seconds();
    // It would take ten minutes until it is asked to stop.
    let patient = StopTimeouts { eof: Duration::from_secs(600), ..QUICK };
    let (first, supervisor) = link(&sh(stubborn(&token)).stop_timeouts(patient));
    ask(&first, 1).await.unwrap();
    wait_for_processes(&token, 2).await;
    assert!(matches!(first.close_detached(LONG).await, CloseOutcome::Detached));
    drop(first);
    assert_eq!(processes_with_argument(&token).len(), 2, "the supervisor goes by its ladder, not by us");
    let supervisor = rustix::process::Pid::from_raw(supervisor.root_pid().cast_signed()).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::TERM).unwrap();
    wait_for_processes(&token, 0).await;

    let (second, _) = link(&sh(stubborn(&token)).stop_timeouts(QUICK));
    ask(&second, 1).await.unwrap();
    wait_for_processes(&token, 2).await;
    assert!(matches!(second.close_detached(LONG).await, CloseOutcome::Detached));
    wait_for_processes(&token, 0).await;
}

async fn c11_without_the_supervisor_a_detached_close_is_a_close() {
    let (link, _) = link(&group("exec cat"));
    let ended = link.close_detached(Duration::from_secs(5)).await;
    assert!(matches!(ended, CloseOutcome::Exited(exit) if exit.code == Some(0)));
}
