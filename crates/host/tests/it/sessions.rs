//! Keyed sessions: opened by their first call, isolated, bounded, stopped when they are idle, and never left behind.

use std::time::Duration;

use switchboard_host::config::StartPolicy;
use switchboard_host::{
    Host, HostError, Manifest, Run, SessionKey, SessionLimit, SessionLimits, SessionScope, Status,
};
use switchboard_protocol::Root;
use switchboard_session::RevisionPolicy;
use switchboard_session::client::{ClientHandler, HandlerCapabilities};
use switchboard_testkit::{STEP_TIMEOUT, is_running, trial, wait_for_exit, wait_until};

use crate::calls::Called;
use crate::hosts::{child, host_of, host_with, in_process, names, paused_trial, sh, until};
use crate::toy::{Toy, tool};

switchboard_testkit::trials![
    trial:
        concurrent_first_calls_share_one_start,
        every_key_has_a_process_of_its_own,
        a_crash_of_one_session_does_not_touch_the_others,
        a_failed_start_is_reported_to_all_callers,
        an_idle_session_is_stopped_and_started_again_by_the_next_call,
        a_lazy_server_goes_back_to_sleep_and_keeps_its_catalog,
        sessions_end_with_their_server,
        dropping_the_host_leaves_no_session_behind,
        a_session_that_nobody_uses_makes_room,
        sessions_are_bounded_per_server_and_in_all,
        one_owner_does_not_take_all_sessions,
        questions_of_a_session_reach_only_its_callers,
        a_session_has_its_own_roots;
    paused_trial:
        a_failed_start_is_not_retried_before_its_pause_is_over,
        a_session_in_use_is_not_idle,
        a_server_that_starts_at_once_is_never_stopped_as_idle,
];

fn scope(name: &str) -> SessionScope {
    SessionScope::new(SessionKey::new([name]))
}

async fn text(host: &Host, tool: &str, scope: &SessionScope) -> String {
    host.call_tool("toy", tool, ()).in_session(scope).await.unwrap().text()
}

async fn pid(host: &Host, scope: &SessionScope) -> u32 {
    text(host, "pid", scope).await.parse().unwrap()
}

fn sessions(host: &Host) -> usize {
    host.server_status("toy").unwrap().sessions
}

async fn concurrent_first_calls_share_one_start() {
    for part in ["counting", "legacy"] {
        let host = Host::builder().build();
        host.connect("toy", child(part)).await.unwrap();
        let main: u32 = host.call_tool("toy", "pid", ()).await.unwrap().text().parse().unwrap();
        let calls: Vec<_> = (0..32)
            .map(|_| tokio::spawn(host.call_tool("toy", "pid", ()).in_session(&scope("ada")).into_future()))
            .collect();
        let mut pids = Vec::new();
        for call in calls {
            pids.push(call.await.unwrap().unwrap().text().parse::<u32>().unwrap());
        }
        assert!(pids.iter().all(|pid| *pid == pids[0]), "{part}: one process: {pids:?}");
        assert_ne!(pids[0], main, "{part}: not that of the main session");
        assert_eq!(sessions(&host), 1);
        host.close().await;
        assert!(!is_running(pids[0]), "{part}");
    }
}

async fn every_key_has_a_process_of_its_own() {
    let host = Host::builder().build();
    host.connect("toy", child("counting")).await.unwrap();
    let (ada, bob) = (scope("ada"), scope("bob"));
    // The server counts its calls: neither sees those of the other, nor those of the main session.
    host.call_tool("toy", "count", ()).await.unwrap();
    for expected in ["1", "2", "3"] {
        assert_eq!(text(&host, "count", &ada).await, expected);
    }
    assert_eq!(text(&host, "count", &bob).await, "1");
    assert_eq!(host.call_tool("toy", "count", ()).await.unwrap().text(), "2");
    assert_eq!(sessions(&host), 2);
    let read = host.request(
        "toy",
        "tools/call",
        switchboard_protocol::Raw::from(serde_json::json!({"name": "count"})),
    );
    assert!(read.in_session(&ada).await.unwrap().as_str().contains('4'), "requests, too");
    assert_eq!(host.server_metrics("toy").unwrap().calls, 6, "the server's calls are counted together");
    host.close().await;
}

async fn a_crash_of_one_session_does_not_touch_the_others() {
    let host = Host::builder().build();
    host.connect("toy", child("counting")).await.unwrap();
    let (ada, bob) = (scope("ada"), scope("bob"));
    let (first, other) = (pid(&host, &ada).await, pid(&host, &bob).await);
    let lost = host.call_tool("toy", "die", ()).in_session(&ada).await.unwrap_err();
    assert!(lost.outcome_unknown(), "{lost}");
    assert_eq!(pid(&host, &bob).await, other);
    let second = pid(&host, &ada).await;
    assert_ne!(first, second, "the next call starts it anew");
    assert_eq!(text(&host, "count", &ada).await, "1");
    assert!(matches!(host.state("toy").unwrap(), Status::Ready(_)), "the main session goes on");
    host.close().await;
}

async fn a_failed_start_is_reported_to_all_callers() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let script = format!("echo start >> '{}'; exit 3", starts.display());
    let spec = sh(&script).start(StartPolicy::WhenUsed).with_manifest(Manifest::new([tool("echo")]));
    let host = Host::builder().build();
    host.connect("toy", spec).await.unwrap();
    let count = || std::fs::read_to_string(&starts).unwrap_or_default().lines().count();
    assert_eq!(count(), 0);
    let call = || host.call_tool("toy", "echo", ()).in_session(&scope("ada")).into_future();
    let calls: Vec<_> = (0..8).map(|_| tokio::spawn(call())).collect();
    for outcome in calls {
        let error = outcome.await.unwrap().unwrap_err();
        let HostError::NotReady { status, .. } = &error else { panic!("{error}") };
        assert!(matches!(**status, Status::Failed(_)) && error.to_string().contains("exited"), "{error}");
    }
    assert_eq!(sessions(&host), 0);
    // After a pause it is tried again.
    let first = count();
    while count() == first {
        call().await.unwrap_err();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    host.close().await;
}

async fn a_failed_start_is_not_retried_before_its_pause_is_over() {
    let host = Host::builder().build();
    let spec = in_process("toy").start(StartPolicy::WhenUsed).with_manifest(Manifest::new([tool("echo")]));
    host.connect("toy", spec).await.unwrap();
    let ada = scope("ada");
    let call = async || host.call_tool("toy", "echo", ()).in_session(&ada).await;
    call().await.unwrap_err();
    // Now a start would succeed.
    let toy = Toy::full();
    host.register("toy", &toy.server("toy"));
    for _ in 0..100 {
        call().await.unwrap_err();
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    call().await.unwrap();
    host.close().await;
}

async fn an_idle_session_is_stopped_and_started_again_by_the_next_call() {
    let host = Host::builder().build();
    host.connect("toy", child("counting").idle_timeout(Duration::from_millis(50))).await.unwrap();
    let ada = scope("ada");
    let first = pid(&host, &ada).await;
    wait_for_exit(first).await;
    wait_until("the session to end", || sessions(&host) == 0).await;
    let second = pid(&host, &ada).await;
    assert_ne!(first, second);
    assert!(
        matches!(host.state("toy").unwrap(), Status::Ready(_)),
        "the main session starts at once and stays"
    );
    host.close().await;
}

async fn a_lazy_server_goes_back_to_sleep_and_keeps_its_catalog() {
    let host = Host::builder().without_resource_tools().build();
    let spec = child("counting").start(StartPolicy::WhenUsed).idle_timeout(Duration::from_millis(50));
    host.connect("toy", spec).await.unwrap();
    // Its tools were unknown, so it was started once; nobody uses it.
    until(&host, "toy", |status| matches!(status, Status::Asleep)).await;
    assert!(host.server_status("toy").unwrap().asleep);
    assert!(names(&host).contains(&"mcp__toy__echo".to_owned()));
    assert_eq!(host.instructions().len(), 1, "they are remembered");
    let manifest = host.manifest("toy").unwrap();
    assert!(manifest.server_info.is_some() && !manifest.tools.is_empty());
    for _ in 0..3 {
        let process: u32 = host.call_tool("toy", "pid", ()).await.unwrap().text().parse().unwrap();
        wait_for_exit(process).await;
    }
    host.close().await;
}

async fn sessions_end_with_their_server() {
    let host = Host::builder().build();
    let ada = scope("ada");
    host.connect("toy", child("counting")).await.unwrap();
    let first = pid(&host, &ada).await;
    host.toggle("toy", false).await.unwrap();
    wait_for_exit(first).await;
    let refused = host.call_tool("toy", "pid", ()).in_session(&ada).await.unwrap_err();
    assert!(matches!(refused, HostError::NotReady { .. }), "{refused}");
    host.toggle("toy", true).await.unwrap();

    let second = pid(&host, &ada).await;
    host.reconnect("toy").await.unwrap();
    wait_for_exit(second).await;

    let third = pid(&host, &ada).await;
    let changed = child("counting").call_timeout(STEP_TIMEOUT);
    host.set_servers([("toy", changed)]).await;
    wait_for_exit(third).await;

    let fourth = pid(&host, &ada).await;
    host.disconnect("toy").await.unwrap();
    assert!(!is_running(fourth), "waited for");

    host.connect("toy", child("counting")).await.unwrap();
    let fifth = pid(&host, &ada).await;
    host.close().await;
    assert!(!is_running(fifth), "waited for");
}

async fn dropping_the_host_leaves_no_session_behind() {
    let host = Host::builder().build();
    host.connect("toy", child("counting")).await.unwrap();
    let mut pids = Vec::new();
    for name in ["ada", "bob", "eve"] {
        pids.push(pid(&host, &scope(name)).await);
    }
    drop(host);
    for pid in pids {
        wait_for_exit(pid).await;
    }
}

async fn a_session_that_nobody_uses_makes_room() {
    let host = Host::builder().with_session_limits(SessionLimits::default().with_per_server(2)).build();
    host.connect("toy", child("counting")).await.unwrap();
    let (ada, bob, eve) = (scope("ada"), scope("bob"), scope("eve"));
    let (first, second) = (pid(&host, &ada).await, pid(&host, &bob).await);
    assert_eq!(pid(&host, &ada).await, first);
    let third = pid(&host, &eve).await;
    assert!(!is_running(second), "the least recently used one has ended before");
    assert_eq!((pid(&host, &ada).await, pid(&host, &eve).await), (first, third));
    assert_eq!(sessions(&host), 2);
    assert_ne!(pid(&host, &bob).await, second, "opened again");
    host.close().await;
    assert!(!is_running(first) && !is_running(third));
}

async fn sessions_are_bounded_per_server_and_in_all() {
    let limits = SessionLimits::default().with_per_server(2).with_total(3);
    let (one, two) = (Toy::full(), Toy::full());
    let builder = Host::builder().with_session_limits(limits);
    let host = host_with(builder, &[("one", &one.server("one")), ("two", &two.server("two"))]).await;
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(scope);
    let run = Run::new();
    occupy(&host, &run, "one", (&one, &ada)).await;
    occupy(&host, &run, "one", (&one, &bob)).await;
    assert_eq!(limit(&host, "one", &eve).await, SessionLimit::Server(2));
    occupy(&host, &run, "two", (&two, &ada)).await;
    assert_eq!(limit(&host, "two", &bob).await, SessionLimit::Host(3));
    assert_eq!((one.called(), two.called()), (2, 1), "nothing was sent");
    // In the total, a session with another server makes room, too.
    host.call_tool("one", "echo", ()).in_session(&ada).await.unwrap();
    run.cancel();
    let call = async || host.call_tool("two", "echo", ()).in_session(&bob).await;
    let mut called = call().await;
    while matches!(called, Err(HostError::TooManySessions { .. })) {
        tokio::task::yield_now().await;
        called = call().await;
    }
    called.unwrap();
    let count = |server| host.server_status(server).unwrap().sessions;
    assert_eq!(count("one") + count("two"), 3);
    host.close().await;
}

async fn one_owner_does_not_take_all_sessions() {
    let limits = SessionLimits::default().with_per_server(3).with_per_owner(2);
    let toy = Toy::full();
    let host = host_with(Host::builder().with_session_limits(limits), &[("toy", &toy.server("toy"))]).await;
    let of = |owner: &str, name: &str| scope(name).with_owner(SessionKey::new([owner]));
    // Any number in turn: the owner's own make room.
    for at in 0..10 {
        text(&host, "echo", &of("ada", &format!("{at}"))).await;
        assert_eq!(sessions(&host), if at == 0 { 1 } else { 2 });
    }
    let run = Run::new();
    for name in ["1", "2"] {
        occupy(&host, &run, "toy", (&toy, &of("ada", name))).await;
    }
    assert_eq!(limit(&host, "toy", &of("ada", "3")).await, SessionLimit::Owner(2));
    let refused = host.call_tool("toy", "echo", ()).in_session(&of("ada", "3")).await.unwrap_err();
    assert!(refused.to_string().contains("one caller has at most 2 sessions"), "{refused}");
    text(&host, "echo", &of("bob", "1")).await;
    run.cancel();
    host.close().await;
}

/// Uses a session until the run is cancelled.
async fn occupy(host: &Host, run: &Run, server: &str, (toy, scope): (&Toy, &SessionScope)) {
    let before = toy.called();
    tokio::spawn(host.call_tool(server, "forever", ()).within(run).in_session(scope).into_future());
    wait_until("the call", || toy.called() > before).await;
}

/// The limit that a call reaches.
async fn limit(host: &Host, server: &str, scope: &SessionScope) -> SessionLimit {
    match host.call_tool(server, "echo", ()).in_session(scope).await {
        Err(HostError::TooManySessions { limit, .. }) => limit,
        other => panic!("{other:?}"),
    }
}

async fn questions_of_a_session_reach_only_its_callers() {
    let builder = Host::builder().with_abilities(HandlerCapabilities::none().with_forms());
    let host = host_with(builder, &[("toy", &Toy::full().served("toy", RevisionPolicy::LegacyOnly))]).await;
    let waiting = Run::with_handler(Called("Eve"));
    // A call of another run in the main session, and one in another session: neither makes the question ambiguous.
    let others = [
        tokio::spawn(host.call_tool("toy", "forever", ()).within(&waiting).into_future()),
        tokio::spawn(
            host.call_tool("toy", "forever", ()).within(&waiting).in_session(&scope("eve")).into_future(),
        ),
    ];
    for name in ["Ada", "Bob"] {
        let run = Run::with_handler(Called(name));
        let said = host.call_tool("toy", "ask", ()).within(&run).in_session(&scope(name)).await.unwrap();
        assert!(said.text().contains(name), "{}", said.text());
    }
    waiting.cancel();
    for other in others {
        other.await.unwrap().unwrap_err();
    }
    host.close().await;
}

/// Has the roots of its session.
struct SessionRoots;

impl ClientHandler for SessionRoots {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_roots()
    }
}

async fn a_session_has_its_own_roots() {
    for offer in [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
        let builder = Host::builder()
            .with_abilities(HandlerCapabilities::none().with_roots())
            .with_roots([Root::new("file:///host")]);
        let host = host_with(builder, &[("toy", &Toy::new(&["roots"]).served("toy", offer))]).await;
        let ada = scope("ada").with_roots([Root::new("file:///ada")]);
        let roots = async |scope: &SessionScope| {
            let run = Run::with_handler(SessionRoots);
            host.call_tool("toy", "roots", ()).within(&run).in_session(scope).await.unwrap().text()
        };
        assert_eq!(roots(&ada).await, "file:///ada");
        assert_eq!(roots(&scope("bob")).await, "file:///host");
        host.set_roots([Root::new("file:///moved")]);
        assert_eq!(roots(&ada).await, "file:///ada");
        assert_eq!(roots(&scope("bob")).await, "file:///moved");
        host.close().await;
    }
}

async fn a_session_in_use_is_not_idle() {
    let host = Host::builder().build();
    let toy = Toy::full();
    host.register("toy", &toy.server("toy"));
    host.connect("toy", in_process("toy").idle_timeout(Duration::from_secs(60))).await.unwrap();
    let run = Run::new();
    let ada = scope("ada");
    let call = host.call_tool("toy", "forever", ()).idle_timeout(Duration::MAX).timeout(Duration::MAX);
    let call = tokio::spawn(call.within(&run).in_session(&ada).into_future());
    wait_until("the call", || toy.called() == 1).await;
    // Hours of a call are use.
    tokio::time::sleep(Duration::from_secs(6 * 3600)).await;
    assert_eq!(sessions(&host), 1);
    run.cancel();
    call.await.unwrap().unwrap_err();
    // It is stopped a minute after the last use, not before.
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(sessions(&host), 1);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(sessions(&host), 0);
    text(&host, "echo", &ada).await;
    assert_eq!(sessions(&host), 1);
    host.close().await;
}

async fn a_server_that_starts_at_once_is_never_stopped_as_idle() {
    let host = host_of(&[]).await;
    let toy = Toy::full();
    host.register("toy", &toy.server("toy"));
    host.connect("toy", in_process("toy").idle_timeout(Duration::from_secs(60))).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(matches!(host.state("toy").unwrap(), Status::Ready(_)));
    host.close().await;
}
