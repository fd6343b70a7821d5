//! Sessions of the legacy era over a real socket: how they end, how many there are, and what can be replayed.

use serde_json::json;
use switchboard::{HttpOptions, ListenerLimits, Offer};

use crate::http_faults::raw::{Stand, legacy_call, post, request};
use crate::http_faults::stage::ms;

async fn stand(options: HttpOptions) -> Stand {
    Stand::with(options, ListenerLimits::default(), Offer::Any).await
}

async fn listed(stand: &Stand, session: &str) -> u16 {
    let session = format!("mcp-session-id: {session}");
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"});
    stand.ask(&post(&[&session], &body.to_string())).await.status
}

/// Opens the stream of a session, from this event on.
fn from(session: &str, last: &str) -> Vec<u8> {
    let (session, last) = (format!("mcp-session-id: {session}"), format!("last-event-id: {last}"));
    request("GET", &[&session, &last, "accept: text/event-stream"], "")
}

#[tokio::test]
async fn a_session_that_is_idle_too_long_is_forgotten() {
    let mut options = HttpOptions::default();
    options.session_idle = ms(4000);
    let stand = stand(options).await;
    let (used, idle) = (stand.initialize().await, stand.initialize().await);
    for _ in 0..3 {
        tokio::time::sleep(ms(1500)).await;
        assert_eq!(listed(&stand, &used).await, 200, "each use begins the time anew");
    }
    assert_eq!(listed(&stand, &idle).await, 404);
    tokio::time::sleep(ms(4500)).await;
    assert_eq!(listed(&stand, &used).await, 404);
}

#[tokio::test]
async fn beyond_the_most_sessions_the_longest_idle_one_gives_way() {
    let mut options = HttpOptions::default();
    options.sessions = 3;
    let stand = stand(options).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(stand.initialize().await);
    }
    assert_eq!(listed(&stand, &sessions[0]).await, 200);
    let fourth = stand.initialize().await;
    assert_eq!(listed(&stand, &sessions[1]).await, 404, "the one that was idle longest");
    for kept in [&sessions[0], &sessions[2], &fourth] {
        assert_eq!(listed(&stand, kept).await, 200);
    }
}

#[tokio::test]
async fn a_session_is_left_for_good() {
    let stand = stand(HttpOptions::default()).await;
    let session = stand.initialize().await;
    let header = format!("mcp-session-id: {session}");
    assert_eq!(stand.ask(&request("DELETE", &[&header], "")).await.status, 204);
    assert_eq!(listed(&stand, &session).await, 404);
    assert_eq!(stand.ask(&request("DELETE", &[&header], "")).await.status, 404);
}

#[tokio::test]
async fn a_broken_stream_is_replayed_after_the_last_event() {
    let stand = stand(HttpOptions::default()).await;
    let session = stand.initialize().await;
    let whole = stand.ask(&legacy_call(&session, "speaks", 2)).await;
    let ids: Vec<&str> = whole.body.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert!(ids.len() >= 3, "an event to come back with, what was said, and the answer: {}", whole.body);
    for (number, id) in ids.iter().enumerate() {
        let replayed = stand.ask(&from(&session, id)).await;
        assert_eq!(replayed.body.matches("id: ").count(), ids.len() - number - 1, "{}", replayed.body);
    }
    let other = stand.initialize().await;
    assert_eq!(stand.ask(&from(&other, ids[0])).await.status, 404, "not for another session");
    assert_eq!(stand.ask(&from(&session, "s999-1")).await.status, 404);
}

#[tokio::test]
async fn what_can_be_replayed_is_bounded() {
    for by_bytes in [false, true] {
        let mut options = HttpOptions::default();
        if by_bytes {
            options.replay_bytes = 600;
        } else {
            options.replay_events = 4;
        }
        let stand = stand(options).await;
        let session = stand.initialize().await;
        let (mut first, mut kept) = (None, 0);
        for id in 2..12 {
            let whole = stand.ask(&legacy_call(&session, "speaks", id)).await;
            let begun = whole.body.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
            let replayed = stand.ask(&from(&session, &begun)).await;
            kept = kept.max(replayed.body.matches("id: ").count());
            first.get_or_insert(begun);
        }
        assert!(kept <= 4, "{kept}");
        let old = stand.ask(&from(&session, &first.unwrap())).await;
        assert!(!old.body.contains("id: "), "the oldest is gone: {}", old.body);
    }
}

#[tokio::test]
async fn a_session_has_to_be_named_and_known() {
    let stand = stand(HttpOptions::default()).await;
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}).to_string();
    assert_eq!(stand.ask(&post(&[], &body)).await.status, 400);
    assert_eq!(listed(&stand, "nonsense").await, 404);
    let session = format!("mcp-session-id: {}", stand.initialize().await);
    let version = "mcp-protocol-version: 1999-01-01";
    assert_eq!(stand.ask(&post(&[&session, version], &body)).await.status, 400);
    assert_eq!(stand.ask(&request("GET", &[&session, "accept: application/json"], "")).await.status, 406);
}
