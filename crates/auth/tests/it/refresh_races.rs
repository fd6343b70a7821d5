//! One refresh for each expiry, whoever notices it: tasks, authorizers, processes.

use std::sync::Arc;

use switchboard_auth::{FileStore, GrantState};

use crate::authorization_server::AuthorizationServer;
use crate::client::{TestClient, log_in, make_due, make_expired, only_grant, open};
use crate::worker::Worker;

/// Number of processes, and of expiries: the full count with `SWITCHBOARD_LONG=1`.
fn counts() -> (usize, usize) {
    let is_long = std::env::var_os("SWITCHBOARD_LONG").is_some_and(|value| value == "1");
    if is_long { (8, 100) } else { (4, 5) }
}

/// Returns clients with a store of their own each, as separate processes have.
fn clients(server: &AuthorizationServer, directory: &std::path::Path, count: usize) -> Vec<TestClient> {
    (0..count).map(|_| TestClient::new(server.mcp_address(), open(directory))).collect()
}

/// Sends requests from so many tasks of each client at the same time.
async fn request_concurrently(clients: &[TestClient], tasks: usize) {
    let mut requests = tokio::task::JoinSet::new();
    for client in clients.iter().flat_map(|client| vec![client.clone(); tasks]) {
        requests.spawn(async move { client.request().await });
    }
    let outcomes = requests.join_all().await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(200))), "{outcomes:?}");
}

async fn assert_logged_in(server: &AuthorizationServer, store: &FileStore, refreshes: usize) {
    assert_eq!((server.refreshes(), server.reuses()), (refreshes, 0));
    let stored = only_grant(store).await;
    assert_eq!(stored.grant.state, GrantState::Active);
    let current = format!("r0-{refreshes}");
    assert_eq!(stored.grant.refresh_token.unwrap().expose(), current);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b14_authorizers_refresh_a_refused_token_once() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let clients = clients(&server, &folder.path().join("auth"), 6);
    for round in 1..=5 {
        server.expire();
        request_concurrently(&clients, 6).await;
        assert_logged_in(&server, &store, round).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b18_authorizers_refresh_a_due_token_once() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    for round in 1..=6 {
        match round % 2 {
            0 => make_due(&store).await,
            _ => make_expired(&store).await,
        }
        request_concurrently(&clients(&server, &folder.path().join("auth"), 6), 6).await;
        assert_logged_in(&server, &store, round).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_store_refreshes_once_for_all_authorizers() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let clients: Vec<_> =
        (0..6).map(|_| TestClient::new(server.mcp_address(), Arc::<FileStore>::clone(&store))).collect();
    for round in 1..=5 {
        server.expire();
        request_concurrently(&clients, 6).await;
        assert_logged_in(&server, &store, round).await;
    }
}

#[tokio::test]
async fn b14_t36_processes_refresh_once_for_each_expiry() {
    let (processes, expiries) = counts();
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let directory = folder.path().join("auth");
    let store = open(&directory);
    log_in(&server, &store, "tester").await;
    let mut workers: Vec<_> = (0..processes).map(|_| Worker::start(&server, &directory)).collect();
    for expiry in 1..=expiries {
        server.expire();
        workers.iter_mut().for_each(Worker::begin_request);
        for worker in &mut workers {
            assert_eq!(worker.answer().await, "200", "expiry {expiry}");
        }
        assert_eq!(server.refreshes(), expiry);
    }
    assert_logged_in(&server, &store, expiries).await;
}
