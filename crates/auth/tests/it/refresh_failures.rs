//! Refreshes that fail: what is kept, what is marked, and what is tried again.

use std::time::Duration;

use switchboard_auth::GrantState;
use switchboard_http::{AuthorizeError, HttpError};

use crate::authorization_server::{AuthorizationServer, TokenBehavior};
use crate::client::{TestClient, age_mark, log_in, make_due, needs_login, only_grant, open};

#[tokio::test]
async fn invalid_grant_marks_the_grant_and_keeps_it() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    server.expire();
    server.queue(TokenBehavior::Reject);
    let outcome = client.request().await;
    assert!(needs_login(&outcome), "{outcome:?}");
    let stored = only_grant(&store).await;
    let GrantState::NeedsLogin { reason } = &stored.grant.state else { panic!("{:?}", stored.grant.state) };
    assert!(reason.contains("invalid_grant") && reason.contains("not valid"), "{reason}");
    assert_eq!(stored.grant.refresh_token.unwrap().expose(), "r0-0");
    for client in [client, TestClient::new(server.mcp_address(), store.clone())] {
        let outcome = client.request().await;
        assert!(needs_login(&outcome), "{outcome:?}");
    }
    assert_eq!(server.presented(), ["r0-0"], "a rejected token is not presented again");
}

#[tokio::test]
async fn errors_of_the_server_keep_everything_and_are_shared_by_waiting_callers() {
    for behavior in [
        TokenBehavior::Page("503 Service Unavailable"),
        TokenBehavior::Page("502 Bad Gateway"),
        TokenBehavior::Page("429 Too Many Requests"),
        TokenBehavior::Error("server_error"),
        TokenBehavior::Error("temporarily_unavailable"),
    ] {
        let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
        let store = open(&folder.path().join("auth"));
        log_in(&server, &store, "tester").await;
        let client = TestClient::new(server.mcp_address(), store.clone());
        server.expire();
        server.queue(behavior);
        let (one, other) = tokio::join!(client.request(), client.request());
        for outcome in [one, other] {
            assert!(outcome.is_err() && !needs_login(&outcome), "{behavior:?}: {outcome:?}");
        }
        assert_eq!(server.presented(), ["r0-0"], "{behavior:?}: one failure for both");
        let stored = only_grant(&store).await;
        assert_eq!(stored.grant.refresh_token.unwrap().expose(), "r0-0");
        match behavior {
            TokenBehavior::Page(_) => age_mark(&store).await,
            _ => assert_eq!(stored.grant.state, GrantState::Active),
        }
        // Another process tries again.
        let other = TestClient::new(server.mcp_address(), store.clone());
        assert_eq!(other.request().await.unwrap(), 200, "{behavior:?}");
        // The first one takes over its token without waiting.
        assert_eq!(client.request().await.unwrap(), 200, "{behavior:?}");
        assert_eq!(server.presented(), ["r0-0", "r0-0"]);
        assert_eq!((server.refreshes(), server.reuses()), (1, 0));
    }
}

#[tokio::test]
async fn a_timeout_leaves_a_mark_and_keeps_everything() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    server.expire();
    server.queue(TokenBehavior::StallBeforeRotation);
    let request = tokio::spawn(async move { client.request().await });
    server.wait_for_stall(1).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(46)).await;
    tokio::time::resume();
    let outcome = request.await.unwrap();
    assert!(matches!(outcome, Err(HttpError::Authorize(AuthorizeError::Failed { .. }))), "{outcome:?}");
    let stored = only_grant(&store).await;
    assert!(matches!(stored.grant.state, GrantState::MaybeRotated { .. }), "{:?}", stored.grant.state);
    assert_eq!(stored.grant.refresh_token.unwrap().expose(), "r0-0");
    age_mark(&store).await;
    assert_eq!(TestClient::new(server.mcp_address(), store.clone()).request().await.unwrap(), 200);
    assert_eq!(only_grant(&store).await.grant.state, GrantState::Active);
}

#[tokio::test]
async fn an_unreadable_answer_after_a_rotation_ends_in_an_explained_login() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    server.expire();
    server.queue(TokenBehavior::UnreadableAnswer);
    let outcome = client.request().await;
    assert!(outcome.is_err() && !needs_login(&outcome), "{outcome:?}");
    age_mark(&store).await;
    let outcome = TestClient::new(server.mcp_address(), store.clone()).request().await;
    assert!(needs_login(&outcome), "{outcome:?}");
    assert!(only_grant(&store).await.grant.needs_login());
}

#[tokio::test]
async fn b12_an_answer_without_a_refresh_token_keeps_the_old_one() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    for serial in 1..=3 {
        server.expire();
        server.queue(TokenBehavior::WithoutRefreshToken);
        assert_eq!(client.request().await.unwrap(), 200);
        let grant = only_grant(&store).await.grant;
        assert_eq!(grant.access_token.expose(), format!("a0-{serial}"));
        assert_eq!(grant.refresh_token.unwrap().expose(), "r0-0");
    }
}

#[tokio::test]
async fn b12_a_token_without_an_expiry_is_used_until_it_is_refused() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    for serial in 1..=3 {
        server.expire();
        server.queue(TokenBehavior::WithoutExpiry);
        assert_eq!(client.request().await.unwrap(), 200);
        assert_eq!(client.request().await.unwrap(), 200);
        assert_eq!(only_grant(&store).await.grant.expires_at, None);
        assert_eq!(server.refreshes(), serial);
    }
}

#[tokio::test]
async fn a_dropped_caller_does_not_interrupt_the_refresh() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    server.expire();
    server.queue(TokenBehavior::StallAfterRotation);
    let caller = {
        let client = client.clone();
        tokio::spawn(async move { client.request().await })
    };
    server.wait_for_stall(1).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    server.release();
    assert_eq!(client.request().await.unwrap(), 200);
    assert_eq!((server.refreshes(), server.reuses()), (1, 0));
}

#[tokio::test]
async fn b18_a_stalled_refresh_does_not_hold_up_requests_while_the_token_is_good() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    make_due(&store).await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    server.queue(TokenBehavior::StallBeforeRotation);
    let request = {
        let client = client.clone();
        tokio::spawn(async move { client.request().await })
    };
    server.wait_for_stall(1).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    tokio::time::resume();
    assert_eq!(request.await.unwrap().unwrap(), 200, "with the old token");
    assert_eq!(server.refreshes(), 0);
    // The refresh was not given up.
    server.release();
    assert_eq!(client.request().await.unwrap(), 200);
    assert_eq!((server.refreshes(), server.presented().len()), (1, 1));
    assert_eq!(only_grant(&store).await.grant.access_token.expose(), "a0-1");
}

#[tokio::test]
async fn b18_a_failed_refresh_leaves_a_good_token_in_use() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    make_due(&store).await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    server.queue(TokenBehavior::Page("503 Service Unavailable"));
    for _ in 0..3 {
        assert_eq!(client.request().await.unwrap(), 200);
    }
    assert_eq!(server.reuses(), 0);
}
