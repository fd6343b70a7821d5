//! One server: how it starts, how it is lost, and what follows.

use std::time::{Duration, Instant};

use switchboard_host::config::{OffReason, RestartPolicy, StartPolicy};
use switchboard_host::{ConnectionError, Host, HostError, Status, StatusKind};
use switchboard_testkit::{STEP_TIMEOUT, is_running, trial, wait_for_exit};

use crate::hosts::{add_failing, child, host_of, in_process, names, reopened, sh, until};
use crate::toy::Toy;

switchboard_testkit::trials![trial:
    a_child_process_is_started_and_its_tools_are_listed,
    a_killed_server_is_started_again,
    with_restart_never_a_lost_server_stays_failed_until_it_is_reconnected,
    a_server_that_exits_twice_alike_is_given_up_with_its_last_words,
    a_missing_program_fails_at_once_and_is_not_tried_again,
    a_server_that_hangs_is_given_up_at_its_own_deadline,
    a_failure_is_never_remembered,
    status_does_not_wait_for_a_server_that_hangs,
    a_disabled_server_is_not_started_until_it_is_enabled,
    an_unapproved_server_is_not_started,
    a_lazy_server_shows_its_remembered_tools_and_starts_with_the_first_call,
    a_list_that_fails_leaves_the_server_connected_and_degraded,
    dropping_the_host_ends_its_servers,
    closing_the_host_ends_its_servers_in_order,
];

async fn pid(host: &Host, server: &str) -> u32 {
    host.call_tool(server, "pid", ()).await.unwrap().text().parse().unwrap()
}

async fn a_child_process_is_started_and_its_tools_are_listed() {
    for part in ["toy", "legacy"] {
        let host = Host::builder().without_resource_tools().build();
        host.connect("toy", child(part)).await.unwrap();
        assert!(names(&host).contains(&"mcp__toy__echo".to_owned()), "{:?}", names(&host));
        let pid = pid(&host, "toy").await;
        assert!(is_running(pid));
        assert_eq!(host.child("toy").unwrap().unwrap().pid(), Some(pid), "a11: the server's own");
        host.disconnect("toy").await.unwrap();
        assert!(!is_running(pid), "{part}");
        assert!(names(&host).is_empty());
    }
}

async fn a_killed_server_is_started_again() {
    let host = Host::builder().build();
    host.connect("toy", child("toy")).await.unwrap();
    let first = pid(&host, "toy").await;
    let lost = host.call_tool("toy", "die", ()).await.unwrap_err();
    assert!(lost.outcome_unknown(), "{lost}");
    until(&host, "toy", |status| !matches!(status, Status::Ready(_))).await;
    assert!(host.find_tool("echo").is_some(), "its tools stay listed meanwhile");
    reopened(&host, "toy", 1).await;
    let second = pid(&host, "toy").await;
    assert_ne!(first, second);
    host.close().await;
}

async fn with_restart_never_a_lost_server_stays_failed_until_it_is_reconnected() {
    let host = Host::builder().build();
    let mut spec = child("toy");
    spec.restart = RestartPolicy::Never;
    host.connect("toy", spec).await.unwrap();
    host.call_tool("toy", "die", ()).await.unwrap_err();
    let status = until(&host, "toy", |status| matches!(status, Status::Failed(_))).await;
    assert!(status.to_string().contains("exited with code 7"), "{status}");
    let refused = host.call_tool("toy", "echo", ()).await.unwrap_err();
    assert!(matches!(refused, HostError::NotReady { .. }), "{refused}");
    host.reconnect("toy").await.unwrap();
    host.call_tool("toy", "echo", ()).await.unwrap();
    host.close().await;
}

async fn a_server_that_exits_twice_alike_is_given_up_with_its_last_words() {
    let host = Host::builder().build();
    add_failing(&host, "bad", child("stillborn")).await;
    let status = until(&host, "bad", |status| matches!(status, Status::Failed(_))).await;
    let Status::Failed(failure) = status else { panic!("{status}") };
    assert_eq!(failure.stderr_tail().map(str::trim), Some("no such setting: colour"));
    let report = host.server_status("bad").unwrap();
    assert_eq!(report.status, StatusKind::Failed);
    assert!(report.error.unwrap().contains("no such setting: colour"));
    host.close().await;
}

async fn a_missing_program_fails_at_once_and_is_not_tried_again() {
    let host = Host::builder().build();
    let missing = crate::checklist::missing();
    let error = add_failing(&host, "missing", missing).await;
    assert!(matches!(error, HostError::Connect { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/server"), "{error}");
    assert!(matches!(host.state("missing").unwrap(), Status::Failed(_)));
    host.close().await;
}

async fn a_server_that_hangs_is_given_up_at_its_own_deadline() {
    let host = Host::builder().build();
    let mut spec = sh("echo waiting for the database >&2; cat >/dev/null");
    spec.startup_timeout = Duration::from_millis(500);
    spec.restart = RestartPolicy::Never;
    let began = Instant::now();
    let error = host.connect("hangs", spec).await.unwrap_err();
    assert!(began.elapsed() < STEP_TIMEOUT, "{:?}", began.elapsed());
    assert!(error.to_string().contains("no answer within"), "{error}");
    assert!(error.to_string().contains("waiting for the database"), "{error}");
    host.close().await;
}

async fn a_failure_is_never_remembered() {
    let host = Host::builder().without_resource_tools().build();
    let error = add_failing(&host, "later", in_process("later")).await;
    let HostError::Connect { failure, .. } = &error else { panic!("{error}") };
    assert!(matches!(**failure, ConnectionError::NotRegistered { .. }), "{error}");
    // By connecting it again, by setting the same servers, or by reconnecting it.
    host.connect("later", in_process("later")).await.unwrap_err();
    let toy = Toy::new(&["now"]);
    host.register("later", &toy.server("later"));
    let done = host.set_servers([("later", in_process("later"))]).await;
    assert!(done.added.is_empty() && done.errors.is_empty(), "{done:?}");
    assert_eq!(names(&host), ["mcp__later__now"]);
    host.reconnect("later").await.unwrap();
    host.close().await;
}

async fn status_does_not_wait_for_a_server_that_hangs() {
    let host = Host::builder().build();
    let connecting = host.connect("hangs", sh("cat >/dev/null"));
    let looking = async {
        until(&host, "hangs", |status| matches!(status, Status::Starting { .. })).await;
        let began = Instant::now();
        assert_eq!(host.server_status("hangs").unwrap().status, StatusKind::Pending);
        assert_eq!(host.status().len(), 1);
        assert!(began.elapsed() < STEP_TIMEOUT);
    };
    tokio::select! {
        biased;
        _ = connecting => panic!("it hangs"),
        () = looking => {}
    }
    host.close().await;
}

async fn a_disabled_server_is_not_started_until_it_is_enabled() {
    let host = Host::builder().without_resource_tools().build();
    let toy = Toy::new(&["a"]);
    host.register("toy", &toy.server("toy"));
    let mut spec = in_process("toy");
    spec.start = StartPolicy::Off(OffReason::Disabled);
    host.connect("toy", spec).await.unwrap();
    assert_eq!(host.server_status("toy").unwrap().status, StatusKind::Disabled);
    assert_eq!(toy.lists.load(std::sync::atomic::Ordering::SeqCst), 0);
    assert!(matches!(host.reconnect("toy").await, Err(HostError::NotReady { .. })));
    host.toggle("toy", true).await.unwrap();
    assert_eq!(names(&host), ["mcp__toy__a"]);
    host.close().await;
}

async fn an_unapproved_server_is_not_started() {
    let host = Host::builder().build();
    let mut spec = sh("touch /nowhere/never");
    spec.start = StartPolicy::Off(OffReason::Unapproved);
    host.connect("project", spec).await.unwrap();
    assert_eq!(host.server_status("project").unwrap().status, StatusKind::Pending);
    for refused in [host.toggle("project", true).await, host.reconnect("project").await] {
        let error = refused.unwrap_err();
        assert!(error.next_step().contains("approve"), "{error}: {}", error.next_step());
    }
    host.close().await;
}

async fn a_lazy_server_shows_its_remembered_tools_and_starts_with_the_first_call() {
    let first = Host::builder().without_resource_tools().build();
    first.connect("toy", child("toy")).await.unwrap();
    let written = serde_json::to_string(&first.manifest("toy").unwrap()).unwrap();
    first.close().await;

    let host = Host::builder().without_resource_tools().build();
    let mut spec = child("toy");
    spec.start = StartPolicy::WhenUsed;
    let desired = spec.with_manifest(serde_json::from_str(&written).unwrap());
    host.connect("toy", desired).await.unwrap();
    assert!(matches!(host.state("toy").unwrap(), Status::Asleep));
    assert!(names(&host).contains(&"mcp__toy__echo".to_owned()));
    let process = pid(&host, "toy").await;
    assert!(is_running(process));
    assert!(matches!(host.state("toy").unwrap(), Status::Ready(_)));
    host.close().await;
}

async fn a_list_that_fails_leaves_the_server_connected_and_degraded() {
    let toy = Toy::new(&["a"]);
    *toy.is_broken.lock() = true;
    let host = host_of(&[("toy", &toy.server("toy"))]).await;
    assert!(matches!(host.state("toy").unwrap(), Status::Degraded { .. }));
    assert_eq!(host.server_status("toy").unwrap().status, StatusKind::Connected);
    // It is asked again by itself.
    *toy.is_broken.lock() = false;
    until(&host, "toy", |status| matches!(status, Status::Ready(_))).await;
    assert_eq!(names(&host), ["mcp__toy__a"]);
    host.close().await;
}

async fn dropping_the_host_ends_its_servers() {
    let host = Host::builder().build();
    host.connect("toy", child("toy")).await.unwrap();
    let process = pid(&host, "toy").await;
    let catalog = host.catalog();
    drop(host);
    wait_for_exit(process).await;
    assert!(catalog.find("echo").is_some(), "a snapshot does not change");
}

async fn closing_the_host_ends_its_servers_in_order() {
    let host = Host::builder().without_resource_tools().build();
    host.connect("one", child("toy")).await.unwrap();
    host.connect("two", child("toy")).await.unwrap();
    let pids = [pid(&host, "one").await, pid(&host, "two").await];
    host.close().await;
    assert!(pids.iter().all(|pid| !is_running(*pid)));
    assert!(host.servers().is_empty() && host.all_tools().is_empty());
    assert!(matches!(host.connect("three", child("toy")).await, Err(HostError::Closed)));
}
