//! Openings that take time, and writes that make no way: F005, F007, F037, F054. In memory, with a clock that jumps.

use std::future::IntoFuture;
use std::time::Duration;

use serde_json::json;
use switchboard::client::{SessionState, TimeoutKind};
use switchboard::transport::MuxLink;
use switchboard::transport::link::{PeerHint, SingleLink};
use switchboard::transport::{ConnectionLimits, LinkError};
use switchboard::{CallError, Client};
use tokio::time::Instant;

use crate::faults::crowd::Silent;
use crate::faults::far::{Far, Held, ROOM, discovered, open_with};
use crate::faults::sessions::{echo, legacy, limits, paused, peer_limits};

switchboard_testkit::trials![paused:
    f005_a_probe_that_is_ignored_is_followed_by_a_handshake,
    f005_a_late_answer_to_the_probe_may_still_come_first,
    f007_a_server_that_never_speaks_times_out_while_starting,
    f037_a_pretty_printed_handshake_times_out_with_a_hint,
    f054_a_server_that_never_reads_overloads_then_loses_the_connection,
    f054_bytes_that_wait_are_bounded_too,
    f054_answers_to_a_server_that_never_reads_are_bounded,
    f054_news_during_the_handshake_is_bounded,
    contract_closing_while_opening_stays_closed,
    contract_a_question_without_a_call_delays_the_timeout_of_a_call_only_so_long,
];

const PROBE: Duration = Duration::from_secs(5);

async fn f005_a_probe_that_is_ignored_is_followed_by_a_handshake() {
    let (mut far, pipe) = Far::new(ROOM);
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let client = Client::new();
    let start = Instant::now();
    let (session, probe) = tokio::join!(client.connect(SingleLink::new(peer.clone())), async {
        let probe = far.hear_of("server/discover").await;
        assert!(start.elapsed() < Duration::from_millis(10));
        let request = far.hear().await;
        assert_eq!(request["method"], "initialize", "on the same pipe");
        assert!(start.elapsed() >= PROBE && start.elapsed() < PROBE + Duration::from_millis(250));
        far.welcome_to(&request).await;
        probe
    });
    let session = session.unwrap();
    assert_eq!(session.info().unwrap().revision.as_str(), "2025-11-25");
    far.answer(&probe, discovered()).await;
    let (echoed, ()) = tokio::join!(echo(&session, "n"), async {
        let request = far.hear_of("tools/call").await;
        far.answer_text(&request, "n").await;
    });
    echoed.unwrap();
    assert_eq!(session.counts().late_or_unknown, 1, "the late answer is dropped");
    assert_eq!(session.info().unwrap().revision.as_str(), "2025-11-25");
    assert_eq!(peer.pending(), 0);
}

async fn f005_a_late_answer_to_the_probe_may_still_come_first() {
    let (mut far, pipe) = Far::new(ROOM);
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let client = Client::new();
    let (session, ()) = tokio::join!(client.connect(SingleLink::new(peer.clone())), async {
        let probe = far.hear_of("server/discover").await;
        far.hear_of("initialize").await;
        far.answer(&probe, discovered()).await;
    });
    assert_eq!(session.unwrap().info().unwrap().revision.as_str(), "2026-07-28");
    assert_eq!(peer.pending(), 0);
}

async fn f007_a_server_that_never_speaks_times_out_while_starting() {
    for client in [legacy(), Client::new()] {
        let (_far, pipe) = Far::new(ROOM);
        let peer = MuxLink::start(pipe, ConnectionLimits::default());
        let session = client.session(SingleLink::new(peer.clone()));
        let start = Instant::now();
        let outcome = session.initialize().await;
        let minute = Duration::from_secs(60);
        let is_startup = |error: &CallError| matches!(error, CallError::TimedOut { kind: TimeoutKind::Startup, after, .. } if *after == minute);
        assert!(is_startup(&outcome.unwrap_err()));
        assert!(start.elapsed() >= minute && start.elapsed() < minute + Duration::from_millis(250));
        assert!(matches!(session.state(), SessionState::Failed(error) if is_startup(&error)));
        assert_eq!(peer.pending(), 0);
    }
}

async fn f037_a_pretty_printed_handshake_times_out_with_a_hint() {
    let (mut far, pipe) = Far::new(ROOM);
    let client = legacy();
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let (session, ()) = tokio::join!(client.connect(SingleLink::new(peer)), async {
        let request = far.hear_of("initialize").await;
        let answer =
            json!({"jsonrpc": "2.0", "id": request["id"], "result": {"protocolVersion": "2025-11-25"}});
        far.write(format!("{answer:#}\n").as_bytes()).await;
    });
    let error = session.unwrap_err();
    assert!(
        matches!(
            error,
            CallError::TimedOut { kind: TimeoutKind::Startup, hint: Some(PeerHint::PrettyPrints), .. }
        ),
        "{error:?}"
    );
}

async fn f054_a_server_that_never_reads_overloads_then_loses_the_connection() {
    const ROOM_FOR: usize = 8;
    let limits = peer_limits(|limits| limits.queued_messages = ROOM_FOR);
    let Held { session, mut far, peer } = open_with(&legacy(), limits, 256).await.unwrap();
    let start = Instant::now();
    let calls: Vec<_> = (0..40)
        .map(|_| {
            let session = session.clone();
            tokio::spawn(async move {
                let outcome = session.call_tool("a", json!({"some": "x".repeat(100)})).await;
                (outcome, Instant::now())
            })
        })
        .collect();
    while peer.pending() < ROOM_FOR {
        tokio::task::yield_now().await;
    }
    // The reader keeps running: an answer arrives though nothing can be written.
    far.answer_text(&json!({"id": 2}), "answered").await;
    let (mut overloaded, mut lost, mut answered, mut unsent) = (0, 0, 0, 0);
    for call in calls {
        let (outcome, at) = call.await.unwrap();
        let took = at - start;
        match outcome {
            Ok(result) => {
                assert_eq!(result.text(), "answered");
                answered += 1;
            }
            Err(CallError::Link(LinkError::Overloaded { .. })) => {
                assert!(took < Duration::from_millis(10), "{took:?}");
                overloaded += 1;
            }
            Err(CallError::Link(LinkError::Lost { sent, .. })) => {
                let stall =
                    ConnectionLimits::default().write_stall + ConnectionLimits::default().write_failed_grace;
                assert!(
                    took >= Duration::from_secs(30) && took < stall + Duration::from_millis(250),
                    "{took:?}"
                );
                lost += 1;
                unsent += usize::from(!sent);
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((answered, overloaded + lost), (1, 39));
    assert!(lost >= ROOM_FOR - 1 && overloaded > 0 && unsent > 0, "{lost} {overloaded} {unsent}");
    assert!(matches!(session.state(), SessionState::Failed(CallError::Link(LinkError::Lost { .. }))));
    assert_eq!(peer.pending(), 0);
}

async fn f054_bytes_that_wait_are_bounded_too() {
    let limits = peer_limits(|limits| limits.queued_bytes = 10_000);
    let Held { session, peer, far: _far } = open_with(&legacy(), limits, 256).await.unwrap();
    let large = json!({"some": "x".repeat(6_000)});
    let waiting = {
        let (session, large) = (session.clone(), large.clone());
        tokio::spawn(async move { session.call_tool("a", large).await })
    };
    while peer.pending() == 0 {
        tokio::task::yield_now().await;
    }
    let refused = session.call_tool("b", large).await;
    assert!(matches!(refused, Err(CallError::Link(LinkError::Overloaded { .. }))), "{refused:?}");
    let small = session.call_tool("c", json!({})).timeout(Duration::from_secs(1)).await;
    assert!(matches!(small, Err(CallError::TimedOut { .. })), "there is room for a small one: {small:?}");
    waiting.abort();
}

/// A server that asks and asks and never reads the answers.
async fn f054_answers_to_a_server_that_never_reads_are_bounded() {
    const ASKED: usize = 20_000;
    let limits = peer_limits(|limits| limits.queued_bytes = 10_000);
    let Held { session, mut far, .. } = open_with(&legacy(), limits, 1024).await.unwrap();
    for id in 0..ASKED {
        far.say(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).await;
    }
    let mut bytes = 0;
    while let Ok(line) = tokio::time::timeout(Duration::from_secs(1), far.line()).await {
        bytes += line.len();
    }
    // What was on its way, what waited, and a little of what came while it was read.
    assert!(bytes < 100_000, "{bytes} bytes had been kept");
    let (echoed, ()) = tokio::join!(echo(&session, "n"), async {
        let request = far.hear_of("tools/call").await;
        far.answer_text(&request, "n").await;
    });
    echoed.unwrap();
}

async fn f054_news_during_the_handshake_is_bounded() {
    const NEWS: u64 = 5_000;
    let (mut far, pipe) = Far::new(ROOM);
    let client = legacy();
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let (session, ()) = tokio::join!(client.connect(SingleLink::new(peer)), async {
        let request = far.hear_of("initialize").await;
        for _ in 0..NEWS {
            far.say(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})).await;
        }
        far.welcome_to(&request).await;
    });
    let session = session.unwrap();
    assert!(session.counts().dropped_notes >= NEWS - 2 * 1024, "{:?}", session.counts());
    let outcome = tokio::join!(session.call_tool("a", json!({})).into_future(), async {
        let request = far.hear_of("tools/call").await;
        far.answer_text(&request, "n").await;
    });
    outcome.0.unwrap();
}

/// Over a pipe the question may be that of another call: each waits for it, and not for ever.
async fn contract_a_question_without_a_call_delays_the_timeout_of_a_call_only_so_long() {
    let (asked, mut was_asked) = tokio::sync::mpsc::unbounded_channel();
    let (idle, pause) = (Duration::from_secs(2), Duration::from_secs(10));
    let limits = limits(|limits| (limits.call_idle, limits.shared_pause) = (idle, pause));
    let client = legacy().with_answers(Silent(asked)).with_limits(limits);
    let Held { session, mut far, peer } =
        open_with(&client, ConnectionLimits::default(), ROOM).await.unwrap();
    let start = Instant::now();
    let (one, other, ()) = tokio::join!(echo(&session, "one"), echo(&session, "other"), async {
        far.hear_of("tools/call").await;
        let params = json!({"message": "well?", "requestedSchema": {"type": "object", "properties": {}}});
        far.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params})).await;
        assert_eq!(was_asked.recv().await, Some("asked"));
    });
    for outcome in [one, other] {
        let is_idle = matches!(outcome, Err(CallError::TimedOut { kind: TimeoutKind::Idle, after, .. }) if after == idle);
        assert!(is_idle, "{outcome:?}");
    }
    let took = start.elapsed();
    assert!(took >= idle + pause && took < idle + pause + Duration::from_millis(500), "{took:?}");
    assert_eq!(peer.pending(), 0);
}

async fn contract_closing_while_opening_stays_closed() {
    let (mut far, pipe) = Far::new(ROOM);
    let session = legacy().session(SingleLink::new(MuxLink::start(pipe, ConnectionLimits::default())));
    let (outcome, ()) = tokio::join!(session.initialize(), async {
        let request = far.hear_of("initialize").await;
        session.close().await;
        far.welcome_to(&request).await;
    });
    assert!(matches!(outcome, Err(CallError::Closed)), "{outcome:?}");
    assert!(matches!(session.state(), SessionState::Closed));
    assert!(matches!(session.initialize().await, Err(CallError::Closed)));
}
