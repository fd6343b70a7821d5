//! Notices of legacy servers that name no call: completed URL elicitations, and log messages over a pipe with several calls in
//! flight. They reach the client they belong to, or nobody.

use std::sync::Arc;

use switchboard::client::{Change, ChangeStream, RevisionPolicy};
use switchboard::protocol::Level;
use switchboard::server::Caller;
use switchboard::transport::link::{SingleLink, pair};
use switchboard::transport::{ConnectionLimits, MuxLink};
use switchboard::{Client, Http, InProcess, json};
use switchboard_session::ClientSession;
use switchboard_testkit::{trial_leaving_tasks, trials};
use tokio::task::JoinSet;

use crate::cells::{Bench, Cell, Reach, Side, serve_http};
use crate::person::Person;

trials! {
    trial_leaving_tasks:
        a_completed_visit_is_announced_after_the_call_in_both_transports,
        a_log_message_of_one_session_reaches_it_once,
        a_log_message_of_several_sessions_reaches_nobody,
}

/// How a client reaches the gateway.
#[derive(Clone, Copy, Debug)]
enum Transport {
    Pipe,
    Http,
}

async fn connect(bench: &Bench, person: &Arc<Person>, transport: Transport) -> (ClientSession, JoinSet<()>) {
    let client = Client::new().with_revisions(RevisionPolicy::LegacyOnly).with_answers(Arc::clone(person));
    let mut tasks = JoinSet::new();
    let session = match transport {
        Transport::Http => {
            let url = serve_http(bench.gateway.server(), &mut tasks).await;
            client.connect(Http::new(url)).await
        }
        Transport::Pipe => {
            let (near, far) = pair();
            let server = Arc::clone(bench.gateway.server());
            tasks.spawn(async move { _ = server.serve(far).await });
            client.connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await
        }
    };
    (session.unwrap(), tasks)
}

async fn a_completed_visit_is_announced_after_the_call_in_both_transports() {
    for reach in [Reach::InProcess, Reach::Child, Reach::Http] {
        for transport in [Transport::Pipe, Transport::Http] {
            let cell = Cell { client: Side::Legacy, upstream: Side::Legacy, reach };
            let bench = cell.open().await;
            let (ada, _serving) = connect(&bench, &Person::new("ada"), transport).await;
            let (bob, _serving_bob) = connect(&bench, &Person::new("bob"), transport).await;
            let (mut changes, mut others) = (ada.changes().unwrap(), bob.changes().unwrap());
            let accepted = ada.call_tool("up__visit", json!({})).await.unwrap();
            assert_eq!(accepted.text(), "Accept");
            // The call is over; the user visits the page, and the server notices it.
            bench.host.call_tool("up", "visited", json!({})).await.unwrap();
            assert_eq!(next_visit(&mut changes).await, "visit-7", "{cell:?} {transport:?}");
            // What follows arrives at the other client without it.
            bench.host.call_tool("up", "toggle", json!({})).await.unwrap();
            loop {
                match others.next().await.unwrap() {
                    Change::Tools => break,
                    Change::ElicitationDone { id } => panic!("{cell:?}: {id} is of another client"),
                    _ => {}
                }
            }
            bench.close().await;
        }
    }
}

async fn next_visit(changes: &mut ChangeStream) -> String {
    loop {
        if let Change::ElicitationDone { id } = changes.next().await.unwrap() {
            return id;
        }
    }
}

async fn log_client(bench: &Bench, name: &str) -> ClientSession {
    let session = Client::new()
        .with_revisions(RevisionPolicy::LegacyOnly)
        .connect(InProcess::new(bench.gateway.server()).with_caller(Caller::new(name)))
        .await
        .unwrap();
    session.set_log_level(Level::Info).await.unwrap();
    session
}

/// Runs two calls at once, of which one logs, and returns how many messages each session got.
async fn logs_of_two_calls(bench: &Bench, sessions: [&ClientSession; 2]) -> [usize; 2] {
    let mut changes = sessions.map(|session| session.changes().unwrap());
    let mut calls = JoinSet::new();
    for (at, session) in sessions.into_iter().enumerate() {
        let arguments = if at == 0 { json!({ "logs": true }) } else { json!({}) };
        calls.spawn(session.call_tool("up__log_when_two", arguments).into_future());
    }
    bench.counted("logged", 1).await;
    bench.host.call_tool("up", "counts", json!({ "release": true })).await.unwrap();
    while let Some(done) = calls.join_next().await {
        assert_eq!(done.unwrap().unwrap().text(), "logged");
    }
    // Changes arrive in order: what was logged is in front of this one.
    bench.host.call_tool("up", "toggle", json!({})).await.unwrap();
    let mut seen = [0, 0];
    for (at, changes) in changes.iter_mut().enumerate() {
        loop {
            match changes.next().await.unwrap() {
                Change::Log(_) => seen[at] += 1,
                Change::Tools => break,
                _ => {}
            }
        }
    }
    seen
}

/// A server over a pipe, which all clients share.
fn cell() -> Cell {
    Cell { client: Side::Legacy, upstream: Side::Legacy, reach: Reach::Child }
}

async fn a_log_message_of_one_session_reaches_it_once() {
    let bench = cell().open().await;
    let ada = log_client(&bench, "ada").await;
    // Two streams of one session.
    assert_eq!(logs_of_two_calls(&bench, [&ada, &ada]).await, [1, 1]);
    bench.close().await;
}

async fn a_log_message_of_several_sessions_reaches_nobody() {
    let bench = cell().open().await;
    let (ada, bob) = (log_client(&bench, "ada").await, log_client(&bench, "bob").await);
    assert_eq!(logs_of_two_calls(&bench, [&ada, &bob]).await, [0, 0]);
    bench.close().await;
}
