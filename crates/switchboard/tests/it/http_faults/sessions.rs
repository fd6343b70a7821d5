//! Sessions of the legacy era over a real socket: how they end, how many there are, and what can be replayed.

use serde_json::json;
use switchboard::client::RevisionPolicy;
use switchboard::server::{HttpServerOptions, ListenerLimits};
use switchboard_testkit::STEP_TIMEOUT;

use crate::http_faults::crowd::is_long;
use crate::http_faults::raw::{Stand, legacy_call, modern, post, request};
use crate::http_faults::scripted_server::ms;

async fn stand(options: HttpServerOptions) -> Stand {
    Stand::with(options, ListenerLimits::default(), RevisionPolicy::Any).await
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
    let mut options = HttpServerOptions::default();
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
    let mut options = HttpServerOptions::default();
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
    let stand = stand(HttpServerOptions::default()).await;
    let session = stand.initialize().await;
    let header = format!("mcp-session-id: {session}");
    assert_eq!(stand.ask(&request("DELETE", &[&header], "")).await.status, 204);
    assert_eq!(listed(&stand, &session).await, 404);
    assert_eq!(stand.ask(&request("DELETE", &[&header], "")).await.status, 404);
}

#[tokio::test]
async fn a_broken_stream_is_replayed_after_the_last_event() {
    let stand = stand(HttpServerOptions::default()).await;
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
        let mut options = HttpServerOptions::default();
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
    let stand = stand(HttpServerOptions::default()).await;
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}).to_string();
    assert_eq!(stand.ask(&post(&[], &body)).await.status, 400);
    assert_eq!(listed(&stand, "nonsense").await, 404);
    let session = format!("mcp-session-id: {}", stand.initialize().await);
    let version = "mcp-protocol-version: 1999-01-01";
    assert_eq!(stand.ask(&post(&[&session, version], &body)).await.status, 400);
    assert_eq!(stand.ask(&request("GET", &[&session, "accept: application/json"], "")).await.status, 406);
}

/// Runs in a process of its own: its peak of memory is what counts.
#[test]
#[ignore = "a part that another test plays"]
fn part_large_replies() {
    let sessions = if is_long() { 1_000 } else { 36 };
    switchboard_testkit::block_on(async {
        let stand = stand(HttpServerOptions::default()).await;
        let text = "x".repeat(3_900_000);
        for _ in 0..sessions {
            let session = format!("mcp-session-id: {}", stand.initialize().await);
            let params = json!({"name": "speaks_and_echoes", "arguments": {"text": text}, "_meta": {"progressToken": 1}});
            let body =
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}).to_string();
            let accept = "accept: application/json, text/event-stream";
            let answer = stand.ask(&post(&[&session, accept], &body)).await;
            assert!(answer.is_stream() && answer.body.len() > text.len(), "{}", answer.head);
        }
        let peak = switchboard_testkit::memory_kib("VmHWM");
        assert!(peak < 128 * 1024, "{sessions} sessions, {peak} kB");
    });
}

#[tokio::test]
async fn s4_many_sessions_with_the_largest_replies_stay_within_128_mib() {
    let program = std::env::current_exe().unwrap();
    let mut part = tokio::process::Command::new(program);
    part.args(["--exact", "http_faults::sessions::part_large_replies", "--ignored"]).kill_on_drop(true);
    let output = part.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn s5_an_open_stream_survives_newcomers_and_a_full_house_is_503() {
    let mut options = HttpServerOptions::default();
    options.sessions = 3;
    let stand = stand(options).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        let session = stand.initialize().await;
        let header = format!("mcp-session-id: {session}");
        let mut wire = stand.connect().await;
        wire.write(&request("GET", &[&header, "accept: text/event-stream"], "")).await;
        wire.until("text/event-stream").await;
        streams.push((wire, session));
        if streams.len() == 1 {
            for _ in 0..20 {
                stand.initialize().await;
            }
        }
    }
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let refused = stand.ask(&post(&[], &body)).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    for (_, session) in &streams {
        assert_eq!(listed(&stand, session).await, 200);
    }
    drop(streams);
    let admitted = async {
        while stand.ask(&post(&[], &body)).await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(STEP_TIMEOUT * 3, admitted)
        .await
        .expect("a stream that nobody reads frees its session");
}

#[tokio::test]
async fn s6_streams_that_only_listen_leave_room_for_ordinary_requests() {
    let mut options = HttpServerOptions::default();
    options.streams_per_client = 3;
    let stand = stand(options).await;
    let session = stand.initialize().await;
    let header = format!("mcp-session-id: {session}");
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut wire = stand.connect().await;
        let other = format!("mcp-session-id: {}", stand.initialize().await);
        wire.write(&request("GET", &[&other, "accept: text/event-stream"], "")).await;
        wire.until("text/event-stream").await;
        streams.push(wire);
    }
    let refused = stand.ask(&request("GET", &[&header, "accept: text/event-stream"], "")).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("5")));
    let listen = modern(
        &json!(1),
        "subscriptions/listen",
        json!({"notifications": {}}),
        &["accept: text/event-stream"],
    );
    assert_eq!(stand.ask(&listen).await.status, 429, "of either era");
    assert_eq!(listed(&stand, &session).await, 200, "ordinary requests are answered all the same");
    drop(streams.pop());
    let admitted = async {
        loop {
            let mut wire = stand.connect().await;
            wire.write(&request("GET", &[&header, "accept: text/event-stream"], "")).await;
            let answered = wire.until("\r\n").await;
            if answered.starts_with("HTTP/1.1 200") {
                return;
            }
        }
    };
    tokio::time::timeout(STEP_TIMEOUT * 3, admitted).await.expect("a stream that has ended makes room");
}

#[tokio::test]
async fn s6_behind_a_trusted_proxy_every_client_has_its_own_share() {
    let mut options = HttpServerOptions::default();
    options.sessions_per_client = 1;
    options.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let stand = stand(options).await;
    let begin = |client: &str| {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
        post(&[&format!("x-forwarded-for: 1.1.1.1, {client}")], &body)
    };
    let mut sessions = Vec::new();
    for client in ["203.0.113.1", "203.0.113.2", "203.0.113.1"] {
        let answer = stand.ask(&begin(client)).await;
        sessions.push(answer.header("mcp-session-id").unwrap().to_owned());
    }
    let mut known = Vec::new();
    for session in &sessions {
        known.push(listed(&stand, session).await);
    }
    assert_eq!(known, [404, 200, 200], "the second session of a client took the place of its first");
}
