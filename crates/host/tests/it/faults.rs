//! What servers do wrong, and what a host makes of it. Named after the rows of the error table.

use std::time::Instant;

use switchboard_host::config::RestartPolicy;
use switchboard_host::{ConnectionError, Host, HostError, Status, StatusKind};
use switchboard_session::CallError;
use switchboard_session::link::{LinkError, StartErrorKind};
use switchboard_testkit::{STEP_TIMEOUT, block_on, trial};

use crate::hosts::{add_failing, child, names, reopened, sh, until};
use crate::toy;

switchboard_testkit::trials![trial:
    f003_a_server_that_exits_during_the_handshake_is_tried_so_often_and_no_more,
    f008_a_crash_ends_every_call_on_it_and_replays_none,
    f025_hostile_servers_are_stopped_in_parallel,
    f028_a_server_that_exits_again_and_again_is_given_up_and_a_reconnect_begins_anew,
    f153_without_descriptors_a_server_is_not_started_and_the_others_go_on,
    f160_a_server_of_the_future_is_told_what_is_spoken,
];

async fn f003_a_server_that_exits_during_the_handshake_is_tried_so_often_and_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let tries = directory.path().join("tries");
    // Each time otherwise, so that it looks like bad luck and not like a mistake.
    let script = format!("echo x >> {0}; exit $(wc -l < {0})", tries.display());
    let host = Host::builder().build();
    let mut spec = sh(&script);
    spec.restart = RestartPolicy::WithBackoff { max_failures: 3 };
    add_failing(&host, "bad", spec).await;
    let status = until(&host, "bad", |status| matches!(status, Status::Failed(_))).await;
    assert!(status.to_string().contains("exited with code"), "{status}");
    let tried = std::fs::read_to_string(&tries).unwrap().lines().count();
    // The ladder of eras may start a server once more to ask it in the older way.
    assert!((3..=6).contains(&tried), "{tried}");
    host.close().await;
}

async fn f008_a_crash_ends_every_call_on_it_and_replays_none() {
    let host = Host::builder().without_resource_tools().build();
    host.connect("toy", child("toy")).await.unwrap();
    let pending: Vec<_> = (0..10)
        .map(|_| {
            let call = host.call_tool("toy", "forever", ());
            tokio::spawn(async move { call.await })
        })
        .collect();
    tokio::task::yield_now().await;
    let began = Instant::now();
    host.call_tool("toy", "die", ()).await.unwrap_err();
    for call in pending {
        let error = call.await.unwrap().unwrap_err();
        assert!(error.outcome_unknown(), "{error}");
        let HostError::Call { error, .. } = error else { panic!("{error}") };
        assert!(matches!(*error, CallError::Link(LinkError::Exited(_))), "{error}");
    }
    assert!(began.elapsed() < STEP_TIMEOUT, "{:?}", began.elapsed());
    reopened(&host, "toy", 1).await;
    assert_eq!(names(&host).len(), 9);
    host.call_tool("toy", "echo", ()).await.unwrap();
    host.close().await;
}

async fn f025_hostile_servers_are_stopped_in_parallel() {
    // Answers the handshake, then neither its stdin's end nor a polite signal makes it leave.
    let script = r#"
        trap '' TERM HUP INT
        while read line; do
            id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
            case "$line" in
                *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}';;
                *server/discover*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
            esac
        done
        while :; do sleep 0.2; done"#;
    let host = Host::builder().build();
    let done = host.set_servers((0..20).map(|n| (format!("h{n}"), sh(script)))).await;
    assert!(done.errors.is_empty(), "{:?}", done.errors);
    let began = Instant::now();
    host.close().await;
    assert!(began.elapsed() < STEP_TIMEOUT, "{:?}", began.elapsed());
}

async fn f028_a_server_that_exits_again_and_again_is_given_up_and_a_reconnect_begins_anew() {
    let host = Host::builder().build();
    add_failing(&host, "bad", child("stillborn")).await;
    until(&host, "bad", |status| matches!(status, Status::Failed(_))).await;
    // From the beginning: it is not failed at once, but tried again first.
    let error = host.reconnect("bad").await.unwrap_err();
    assert!(matches!(error, HostError::Connect { .. }), "{error}");
    assert!(matches!(host.state("bad").unwrap(), Status::BackingOff { attempt: 1, .. }));
    until(&host, "bad", |status| matches!(status, Status::Failed(_))).await;
    host.close().await;
}

/// The part of this program that runs short of descriptors.
pub(crate) const SCARCE: &str = "scarce";

async fn f153_without_descriptors_a_server_is_not_started_and_the_others_go_on() {
    let mut scarce = std::process::Command::new("sh");
    scarce.args(["-c", "ulimit -n 96; exec \"$0\""]).arg(std::env::current_exe().unwrap());
    scarce.env(toy::PART, SCARCE).stdin(std::process::Stdio::null());
    let output = tokio::task::spawn_blocking(move || scarce.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Plays that part: starts servers until there is no room for another.
pub(crate) fn play() {
    block_on(async {
        let host = Host::builder().build();
        let mut started = Vec::new();
        let error = loop {
            let name = format!("s{}", started.len());
            assert!(started.len() < 96, "there is no end to them");
            let mut spec = child("toy");
            spec.restart = RestartPolicy::Never;
            match host.connect(name.as_str(), spec).await {
                Ok(()) => started.push(name),
                Err(error) => break error,
            }
        };
        let HostError::Connect { failure, .. } = &error else { panic!("{error}") };
        let ConnectionError::Session(CallError::Link(LinkError::NotStarted(why))) = &**failure else {
            panic!("{error}")
        };
        assert_eq!(why.kind, StartErrorKind::OutOfResources, "{error}");
        for name in &started {
            host.call_tool(name.as_str(), "echo", ()).await.unwrap();
            assert_eq!(host.server_status(name).unwrap().status, StatusKind::Connected);
        }
        host.close().await;
    });
}

async fn f160_a_server_of_the_future_is_told_what_is_spoken() {
    let script = r#"
        while read line; do
            id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
            case "$line" in
                *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}';;
                *server/discover*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
            esac
        done"#;
    let host = Host::builder().build();
    let error = add_failing(&host, "future", sh(script)).await;
    assert!(error.to_string().contains("2099-01-01"), "{error}");
    assert!(error.to_string().contains("2025-06-18"), "{error}");
    assert!(matches!(host.state("future").unwrap(), Status::Failed(_)), "trying again would not help");
    host.close().await;
}
