//! Tokens that another process stored: a running one takes them over, and never removes them.

use switchboard_auth::{GrantState, TokenStore};
use switchboard_testkit::wait_until;

use crate::authorization_server::{AuthorizationServer, TokenBehavior};
use crate::client::{TestClient, log_in, needs_login, only_grant, open};
use crate::worker::{NEEDS_LOGIN, Worker};

#[tokio::test]
async fn b16_a_running_process_uses_the_login_of_another() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let directory = folder.path().join("auth");
    let mut worker = Worker::start(&server, &directory);
    assert_eq!(worker.request().await, NEEDS_LOGIN, "nobody has logged in");
    let store = open(&directory);
    log_in(&server, &store, "tester").await;
    assert_eq!(worker.request().await, "200", "after the first login");
    server.expire();
    server.queue(TokenBehavior::Reject);
    assert_eq!(worker.request().await, NEEDS_LOGIN, "the refresh token was rejected");
    log_in(&server, &store, "tester").await;
    assert_eq!(worker.request().await, "200", "after the second login");
    assert_eq!(server.refreshes(), 0);
}

#[tokio::test]
async fn b16_a_refused_token_is_replaced_by_the_stored_one_before_a_refresh() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let directory = folder.path().join("auth");
    let store = open(&directory);
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), open(&directory));
    assert_eq!(client.request().await.unwrap(), 200);
    server.expire();
    log_in(&server, &store, "tester").await;
    assert_eq!(client.request().await.unwrap(), 200);
    assert_eq!(server.presented(), [""; 0]);
}

#[tokio::test]
async fn an_adopted_token_that_is_refused_is_refreshed() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let directory = folder.path().join("auth");
    let store = open(&directory);
    log_in(&server, &store, "tester").await;
    let [client, other] = [(); 2].map(|()| TestClient::new(server.mcp_address(), open(&directory)));
    assert_eq!(client.request().await.unwrap(), 200);
    // The other process refreshes, and its token expires in turn before this process has used it.
    server.expire();
    assert_eq!(other.request().await.unwrap(), 200);
    server.expire();
    assert_eq!(client.request().await.unwrap(), 200);
    assert_eq!((server.refreshes(), server.reuses()), (2, 0));
}

#[tokio::test]
async fn a_token_that_another_process_refreshed_meanwhile_is_refreshed_again_when_it_is_refused() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let directory = folder.path().join("auth");
    log_in(&server, &open(&directory), "tester").await;
    server.expire();
    server.queue(TokenBehavior::StallAndIssueUnusable);
    let before = server.discoveries();
    let request = || {
        let client = TestClient::new(server.mcp_address(), open(&directory));
        tokio::spawn(async move { client.request().await })
    };
    let refreshing = request();
    server.wait_for_stall(1).await;
    let waiting = request();
    // It has looked for a newer token in vain, and asks for the lock next.
    wait_until("the second discovery", || server.discoveries() == before + 2).await;
    server.release();
    assert_eq!(waiting.await.unwrap().unwrap(), 200);
    // The process that got the unusable token does not refresh again, but may find that of the other process.
    assert!(matches!(refreshing.await.unwrap(), Ok(200 | 401)));
    assert_eq!((server.refreshes(), server.reuses()), (2, 0));
}

#[tokio::test]
async fn b15_a_losing_process_keeps_the_tokens_of_the_winner() {
    for client_id in ["tester", "another-client"] {
        let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
        let directory = folder.path().join("auth");
        let store = open(&directory);
        log_in(&server, &store, "tester").await;
        let loser = TestClient::new(server.mcp_address(), open(&directory));
        server.expire();
        server.queue(TokenBehavior::StallAndReject);
        let request = {
            let loser = loser.clone();
            tokio::spawn(async move { loser.request().await })
        };
        server.wait_for_stall(1).await;
        log_in(&server, &store, client_id).await;
        server.release();
        assert_eq!(
            request.await.unwrap().unwrap(),
            200,
            "{client_id}: the loser uses the token of the winner"
        );
        let stored = store.list().await.unwrap();
        let winner = stored.iter().find(|stored| stored.key.client_id == client_id).unwrap();
        assert_eq!(winner.grant.access_token.expose(), "a1-0");
        assert_eq!(winner.grant.state, GrantState::Active);
        // A third process is not misled by the rejected grant.
        let third = TestClient::new(server.mcp_address(), open(&directory));
        assert_eq!(third.request().await.unwrap(), 200, "{client_id}");
        assert_eq!(server.presented(), ["r0-0"]);
    }
}

#[tokio::test]
async fn a_logout_of_another_process_ends_the_refresh() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let directory = folder.path().join("auth");
    let store = open(&directory);
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), open(&directory));
    server.expire();
    server.queue(TokenBehavior::StallBeforeRotation);
    let request = tokio::spawn(async move { client.request().await });
    server.wait_for_stall(1).await;
    let stored = only_grant(&store).await;
    store.compare_and_set(&stored.key, Some(stored.generation), None).await.unwrap();
    server.release();
    assert!(needs_login(&request.await.unwrap()));
    assert!(store.list().await.unwrap().is_empty(), "the grant is not written again");
}
