//! Process sharing: who shares the process of a server with whom, when it is started, and when it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use switchboard::client::{
    CallError, Change, ClientHandler, HandlerCapabilities, HandlerError, RequestingServer, Subscription,
};
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::config::{SharePolicy, StartPolicy};
use switchboard::host::{Host, ManifestStore, ServerSpec, SessionLimits, Status};
use switchboard::protocol::Root;
use switchboard::server::Caller;
use switchboard::transport::link::BoxFuture;
use switchboard::{Client, Http, InProcess, Stdio, json};
use switchboard_session::ClientSession;
use switchboard_testkit::{STEP_TIMEOUT, is_running, trial_leaving_tasks, trials, wait_for_exit, wait_until};
use tokio::task::JoinSet;

use crate::cells::{Side, serve_http};
use crate::person::Person;
use crate::upstream;

trials! {
    trial_leaving_tasks:
        every_principal_has_a_process_of_its_own,
        a_crash_of_one_principals_process_does_not_touch_the_others,
        all_share_one_process_if_the_server_says_so,
        a_session_of_a_client_has_a_process_of_its_own_if_the_server_says_so,
        clients_with_the_same_roots_share_a_process_if_the_server_says_so,
        a_change_of_roots_concerns_only_its_client,
        principals_that_are_asked_at_the_same_time_get_their_own_questions,
        no_process_runs_at_the_start_and_the_catalog_is_complete,
        idle_processes_are_stopped_and_started_again,
        sessions_are_limited_with_a_typed_error,
        no_process_is_left_behind,
        updates_reach_only_the_principal_whose_process_announced_them,
        clients_of_one_principal_share_a_subscription,
        a_refusal_of_the_server_is_the_error_of_the_client,
        a_subscription_survives_the_process_and_keeps_it_from_being_idle,
}

const SIDES: [Side; 2] = [Side::Legacy, Side::Modern];

fn child(side: Side) -> ServerSpec {
    let part = if side == Side::Legacy { "legacy" } else { "modern" };
    let stdio = Stdio::new(std::env::current_exe().unwrap()).env(upstream::PART, part);
    ServerSpec::from(stdio).startup_timeout(STEP_TIMEOUT)
}

async fn open(spec: ServerSpec) -> Gateway {
    let host = Gateway::host_builder().build();
    host.connect("up", spec).await.unwrap();
    Gateway::new(host, GatewayOptions::default())
}

/// A client of a principal, or of nobody.
async fn client(gateway: &Gateway, side: Side, principal: Option<&str>) -> ClientSession {
    client_with(gateway, side, principal, &Person::new("ada"), "/home").await
}

async fn client_with(
    gateway: &Gateway,
    side: Side,
    principal: Option<&str>,
    person: &Arc<Person>,
    root: &str,
) -> ClientSession {
    let dial = InProcess::new(gateway.server());
    let dial = match principal {
        Some(principal) => dial.with_caller(Caller::new(principal)),
        None => dial,
    };
    let client = Client::new().with_revisions(side.revisions()).with_answers(Arc::clone(person));
    client.with_roots([Root::new(format!("file://{root}"))]).connect(dial).await.unwrap()
}

async fn pid(session: &ClientSession) -> u32 {
    session.call_tool("up__pid", json!({})).await.unwrap().text().parse().unwrap()
}

/// How often the process of a session ran `echo`.
async fn echoes(session: &ClientSession) -> i64 {
    let text = session.call_tool("up__counts", json!({})).await.unwrap().text();
    let counts: upstream::Counts = switchboard::protocol::Raw::parse(text).unwrap().decode().unwrap();
    counts.get("runs of echo").copied().unwrap_or_default()
}

fn main_pid(host: &Host) -> Option<u32> {
    host.child("up").unwrap().and_then(|child| child.pid())
}

async fn every_principal_has_a_process_of_its_own() {
    for (side, upstream) in SIDES.into_iter().flat_map(|side| SIDES.map(|upstream| (side, upstream))) {
        let gateway = open(child(upstream)).await;
        let (ada, bob) =
            (client(&gateway, side, Some("ada")).await, client(&gateway, side, Some("bob")).await);
        let (nobody, other) = (client(&gateway, side, None).await, client(&gateway, side, None).await);
        let again = client(&gateway, side, Some("ada")).await;
        for _ in 0..3 {
            ada.call_tool("up__echo", json!({})).await.unwrap();
        }
        bob.call_tool("up__echo", json!({})).await.unwrap();
        assert_eq!((echoes(&ada).await, echoes(&bob).await), (3, 1), "{side:?} {upstream:?}");
        assert_eq!((echoes(&again).await, echoes(&nobody).await), (3, 0), "{side:?} {upstream:?}");
        let pids = [pid(&ada).await, pid(&bob).await, pid(&nobody).await];
        assert!(pids[0] != pids[1] && pids[1] != pids[2] && pids[0] != pids[2], "{pids:?}");
        assert_eq!(pid(&other).await, pids[2], "callers without an identity are one principal");
        assert_eq!(gateway.status().servers[0].sessions, 2);
        gateway.host().close().await;
        assert!(!pids.into_iter().any(is_running));
    }
}

async fn a_crash_of_one_principals_process_does_not_touch_the_others() {
    for upstream in SIDES {
        let gateway = open(child(upstream)).await;
        let ada = client(&gateway, Side::Modern, Some("ada")).await;
        let bob = client(&gateway, Side::Legacy, Some("bob")).await;
        let (first, others) = (pid(&ada).await, pid(&bob).await);
        bob.call_tool("up__echo", json!({})).await.unwrap();
        let Err(CallError::Remote(error)) = ada.call_tool("up__die", json!({})).await else {
            panic!("it died")
        };
        assert!(error.data.unwrap().as_str().contains("upstream_failed"), "{}", error.message);
        assert_eq!((pid(&bob).await, echoes(&bob).await), (others, 1), "{upstream:?}");
        assert_ne!(pid(&ada).await, first, "{upstream:?}: the next call has another process");
        gateway.host().close().await;
    }
}

async fn all_share_one_process_if_the_server_says_so() {
    let gateway = open(child(Side::Modern).share(SharePolicy::Always)).await;
    let (ada, bob) =
        (client(&gateway, Side::Legacy, Some("ada")).await, client(&gateway, Side::Modern, None).await);
    assert_eq!(pid(&ada).await, pid(&bob).await);
    assert_eq!(gateway.status().servers[0].sessions, 0);
    gateway.host().close().await;
}

async fn a_session_of_a_client_has_a_process_of_its_own_if_the_server_says_so() {
    let gateway = open(child(Side::Modern).share(SharePolicy::PerSession)).await;
    let one = client(&gateway, Side::Legacy, Some("ada")).await;
    let two = client(&gateway, Side::Legacy, Some("ada")).await;
    let nobody = client(&gateway, Side::Legacy, None).await;
    let pids = [pid(&one).await, pid(&two).await, pid(&nobody).await];
    assert!(pids[0] != pids[1] && pids[1] != pids[2] && pids[0] != pids[2], "{pids:?}");
    assert_eq!(pid(&one).await, pids[0]);
    // A modern client without a connection has no session: its principal decides.
    let modern = [
        client(&gateway, Side::Modern, Some("ada")).await,
        client(&gateway, Side::Modern, Some("ada")).await,
    ];
    assert_eq!(pid(&modern[0]).await, pid(&modern[1]).await);
    gateway.host().close().await;
}

async fn clients_with_the_same_roots_share_a_process_if_the_server_says_so() {
    for side in SIDES {
        let gateway = open(child(Side::Modern).share(SharePolicy::PerRoot)).await;
        let person = Person::new("ada");
        let connect =
            async |principal, root| client_with(&gateway, side, Some(principal), &person, root).await;
        let (one, same) = (connect("ada", "/a").await, connect("ada", "/a").await);
        let (other, bob) = (connect("ada", "/b").await, connect("bob", "/a").await);
        let first = pid(&one).await;
        assert_eq!(pid(&same).await, first, "{side:?}");
        assert_ne!(pid(&other).await, first, "{side:?}: other roots");
        assert_ne!(pid(&bob).await, first, "{side:?}: another principal");
        let asked = other.call_tool("up__ask", json!({})).await.unwrap().text();
        assert_eq!(asked, "ada", "{side:?}: its own questions pass beside that for the roots");
        same.set_roots([Root::new("file:///b")]).unwrap();
        let moved = pid(&other).await;
        while pid(&same).await != moved {
            // The notification of a legacy client is under way.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(pid(&one).await, first, "{side:?}");
        gateway.host().close().await;
    }
}

/// A user who counts how often the roots are asked for.
#[derive(Default)]
struct RootsOwner {
    asked: AtomicUsize,
}

impl ClientHandler for RootsOwner {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_roots()
    }

    fn roots<'a>(
        &'a self,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<Option<Vec<Root>>, HandlerError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Some(vec![Root::new("file:///a")])) })
    }
}

async fn a_change_of_roots_concerns_only_its_client() {
    for is_http in [false, true] {
        let gateway = open(child(Side::Modern).share(SharePolicy::PerRoot)).await;
        let mut serving = JoinSet::new();
        let url = serve_http(gateway.server(), &mut serving).await;
        let connect = async |client: Client| match is_http {
            true => client.connect(Http::new(url.as_str())).await.unwrap(),
            false => client.connect(InProcess::new(gateway.server())).await.unwrap(),
        };
        let legacy = || Client::new().with_revisions(Side::Legacy.revisions());
        let owner = Arc::new(RootsOwner::default());
        let ada = connect(legacy().with_answers(Arc::clone(&owner))).await;
        let bob = connect(legacy().with_roots([Root::new("file:///b")])).await;
        let (first, moved) = (pid(&ada).await, pid(&bob).await);
        assert_ne!(first, moved, "{is_http}");
        bob.set_roots([Root::new("file:///a")]).unwrap();
        while pid(&bob).await != first {
            // The notification is under way.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(pid(&ada).await, first, "{is_http}");
        assert_eq!(owner.asked.load(Ordering::Relaxed), 1, "hers have not changed: {is_http}");
        gateway.host().close().await;
    }
}

async fn principals_that_are_asked_at_the_same_time_get_their_own_questions() {
    for side in SIDES {
        let gateway = open(child(Side::Legacy)).await;
        let mut clients = Vec::new();
        for name in ["ada", "bob", "eve"] {
            let person = Person::new(name);
            clients.push(client_with(&gateway, side, Some(name), &person, "/home").await);
        }
        // On one process questions during calls of several clients would be ambiguous.
        for _ in 0..5 {
            let ask = |at: usize| clients[at].call_tool("up__ask", json!({}));
            let (ada, bob, eve) = tokio::join!(ask(0), ask(1), ask(2));
            let said = [ada, bob, eve].map(|said| said.unwrap().text());
            assert_eq!(said, ["ada", "bob", "eve"], "{side:?}");
        }
        gateway.host().close().await;
    }
}

async fn no_process_runs_at_the_start_and_the_catalog_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let store = ManifestStore::new(folder.path().join("manifests"));
    let spec = || child(Side::Modern).start(StartPolicy::WhenUsed).idle_timeout(Duration::from_secs(600));
    let first = open(spec()).await;
    let listed = client(&first, Side::Legacy, None).await.list_tools().await.unwrap().len();
    tokio::select! {
        never = store.follow(first.host()) => match never {},
        () = wait_until("the manifest", || store.load("up", &spec()).unwrap().is_some()) => {}
    }
    first.host().close().await;

    let manifest = store.load("up", &spec()).unwrap().unwrap();
    let gateway = open(spec().with_manifest(manifest)).await;
    let session = client(&gateway, Side::Modern, None).await;
    assert_eq!(session.list_tools().await.unwrap().len(), listed);
    assert_eq!(session.list_prompts().await.unwrap().len(), 2);
    assert_eq!(session.list_resources().await.unwrap().len(), 2);
    assert_eq!(session.list_resource_templates().await.unwrap().len(), 1);
    assert!(session.info().unwrap().instructions.as_ref().unwrap().contains("Ask before you act."));
    assert_eq!(main_pid(gateway.host()), None, "nothing was started");
    assert!(gateway.status().servers[0].asleep);
    let process = pid(&session).await;
    assert_eq!(main_pid(gateway.host()), Some(process));
    assert!(matches!(gateway.host().state("up").unwrap(), Status::Ready(_)));
    gateway.host().close().await;
}

async fn idle_processes_are_stopped_and_started_again() {
    let spec = child(Side::Legacy).start(StartPolicy::WhenUsed).idle_timeout(Duration::from_millis(50));
    let gateway = open(spec).await;
    let (ada, nobody) =
        (client(&gateway, Side::Modern, Some("ada")).await, client(&gateway, Side::Legacy, None).await);
    for session in [&ada, &nobody] {
        let first = pid(session).await;
        wait_for_exit(first).await;
        assert_ne!(pid(session).await, first);
    }
    wait_until("all to be stopped", || {
        let server = &gateway.status().servers[0];
        server.asleep && server.sessions == 0
    })
    .await;
    assert_eq!(ada.list_tools().await.unwrap().len(), upstream::TOOLS.len(), "the catalog stays");
    gateway.host().close().await;
}

async fn sessions_are_limited_with_a_typed_error() {
    let limits = SessionLimits::default().with_per_server(1);
    let host = Gateway::host_builder().with_session_limits(limits).build();
    host.connect("up", child(Side::Modern)).await.unwrap();
    let gateway = Gateway::new(host, GatewayOptions::default());
    let (ada, bob) = (
        client(&gateway, Side::Modern, Some("ada")).await,
        client(&gateway, Side::Legacy, Some("bob")).await,
    );
    let waiting = tokio::spawn(ada.call_tool("up__wait", json!({})).into_future());
    wait_until("the session of Ada", || gateway.status().servers[0].sessions == 1).await;
    let Err(CallError::Remote(error)) = bob.call_tool("up__echo", json!({})).await else {
        panic!("too many")
    };
    assert!(error.data.unwrap().as_str().contains("too_many_sessions"), "{}", error.message);
    assert!(error.message.contains("at most 1 sessions"), "{}", error.message);
    // A session that nobody uses makes room.
    waiting.abort();
    let mut called = bob.call_tool("up__echo", json!({})).await;
    while let Err(CallError::Remote(error)) = &called {
        assert!(error.message.contains("at most 1 sessions"), "{}", error.message);
        called = bob.call_tool("up__echo", json!({})).await;
    }
    called.unwrap();
    assert_eq!(gateway.status().servers[0].sessions, 1);
    gateway.host().close().await;
}

async fn no_process_is_left_behind() {
    let gateway = open(child(Side::Modern)).await;
    let mut pids = Vec::new();
    for name in ["ada", "bob", "eve"] {
        pids.push(pid(&client(&gateway, Side::Modern, Some(name)).await).await);
    }
    drop(gateway);
    for pid in pids {
        wait_for_exit(pid).await;
    }
}

/// Waits for one update.
async fn update(subscription: &mut Subscription) {
    let change = subscription.next().await;
    assert!(matches!(&change, Some(Change::Resource { uri }) if uri == "note://one"), "{change:?}");
}

/// Returns whether nothing has arrived.
async fn is_quiet(subscription: &mut Subscription) -> bool {
    tokio::time::timeout(Duration::ZERO, subscription.next()).await.is_err()
}

async fn touch(session: &ClientSession) {
    session.call_tool("up__touch", json!({})).await.unwrap();
}

async fn updates_reach_only_the_principal_whose_process_announced_them() {
    for (side, upstream) in SIDES.into_iter().flat_map(|side| SIDES.map(|upstream| (side, upstream))) {
        let gateway = open(child(upstream)).await;
        let ada = client(&gateway, side, Some("ada")).await;
        let bob = client(&gateway, side, Some("bob")).await;
        let nobody = client(&gateway, side, None).await;
        let mut of_ada = ada.subscribe("note://one").await.unwrap();
        let mut of_bob = bob.subscribe("note://one").await.unwrap();
        let mut of_nobody = nobody.subscribe("note://one").await.unwrap();
        assert_eq!(gateway.status().subscriptions, 3, "{side:?} {upstream:?}");
        touch(&ada).await;
        update(&mut of_ada).await;
        // An update is passed to all who hear it at once.
        assert!(is_quiet(&mut of_bob).await && is_quiet(&mut of_nobody).await, "{side:?} {upstream:?}");
        touch(&bob).await;
        update(&mut of_bob).await;
        touch(&nobody).await;
        update(&mut of_nobody).await;
        assert!(is_quiet(&mut of_ada).await && is_quiet(&mut of_bob).await, "{side:?} {upstream:?}");
        drop((of_ada, of_bob, of_nobody));
        wait_until("the end of all subscriptions", || gateway.status().subscriptions == 0).await;
        gateway.host().close().await;
    }
}

async fn clients_of_one_principal_share_a_subscription() {
    for side in SIDES {
        let gateway = open(child(Side::Modern)).await;
        let (one, two) =
            (client(&gateway, side, Some("ada")).await, client(&gateway, side, Some("ada")).await);
        let mut of_one = one.subscribe("note://one").await.unwrap();
        let mut of_two = two.subscribe("note://one").await.unwrap();
        assert_eq!(gateway.status().subscriptions, 1, "{side:?}");
        touch(&one).await;
        update(&mut of_one).await;
        update(&mut of_two).await;
        drop((one, of_one));
        touch(&two).await;
        update(&mut of_two).await;
        assert_eq!(gateway.status().subscriptions, 1, "{side:?}");
        gateway.host().close().await;
    }
}

async fn a_refusal_of_the_server_is_the_error_of_the_client() {
    for (side, upstream) in SIDES.into_iter().flat_map(|side| SIDES.map(|upstream| (side, upstream))) {
        let gateway = open(child(upstream)).await;
        let ada = client(&gateway, side, Some("ada")).await;
        let Err(CallError::Remote(error)) = ada.subscribe("page://refused").await else { panic!("refused") };
        assert!(error.message.contains("never changes"), "{side:?} {upstream:?}: {}", error.message);
        assert_eq!(gateway.status().subscriptions, 0);
        ada.subscribe("page://7").await.unwrap();
        gateway.host().close().await;
    }
}

async fn a_subscription_survives_the_process_and_keeps_it_from_being_idle() {
    let gateway = open(child(Side::Modern).idle_timeout(Duration::from_millis(50))).await;
    let (ada, bob) = (
        client(&gateway, Side::Modern, Some("ada")).await,
        client(&gateway, Side::Modern, Some("bob")).await,
    );
    let mut subscription = ada.subscribe("note://one").await.unwrap();
    let (first, unused) = (pid(&ada).await, pid(&bob).await);
    wait_for_exit(unused).await;
    assert_eq!(pid(&ada).await, first, "in use by the subscription");
    ada.call_tool("up__die", json!({})).await.unwrap_err();
    // Updates in between may be missed, which counts as one.
    update(&mut subscription).await;
    assert_ne!(pid(&ada).await, first);
    touch(&ada).await;
    update(&mut subscription).await;
    gateway.host().close().await;
}
