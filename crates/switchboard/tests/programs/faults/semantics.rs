//! JSON-RPC semantics that take a conversation: F059, F068 to F070, F074, F075, F078.

use std::future::{IntoFuture, poll_fn};
use std::task::Poll;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard::client::{SessionState, TimeoutKind};
use switchboard::transport::MuxLink;
use switchboard::transport::link::SingleLink;
use switchboard::transport::{ConnectionLimits, LinkError};
use switchboard::{CallError, Client};

use crate::faults::far::{Far, Held, ROOM, discovered, open, open_modern, open_with};
use crate::faults::sessions::{echo, legacy, paused};

switchboard_testkit::trials![paused:
    f059_answers_after_a_timeout_or_a_cancellation_are_dropped,
    f068_an_unknown_result_type_is_a_protocol_error,
    f068_an_absent_result_type_is_complete,
    f069_an_unknown_request_is_refused_in_the_legacy_era,
    f069_any_request_is_ignored_in_the_modern_era,
    f070_the_ids_of_both_sides_are_apart,
    f074_a_ping_during_the_handshake_is_answered,
    f074_a_ping_during_the_probe_is_answered,
    f075_an_answer_may_come_before_the_request_is_written,
    f078_one_request_too_many_is_refused_at_once,
];

async fn f059_answers_after_a_timeout_or_a_cancellation_are_dropped() {
    let Held { session, mut far, peer } = open().await;
    let second = Duration::from_secs(1);
    let start = tokio::time::Instant::now();
    let (outcome, timed_out) =
        tokio::join!(session.call_tool("a", json!({})).timeout(second).into_future(), async {
            let request = far.hear_of("tools/call").await;
            let cancelled = far.hear_of("notifications/cancelled").await;
            assert_eq!(cancelled["params"]["requestId"], request["id"]);
            request
        });
    assert!(
        matches!(outcome, Err(CallError::TimedOut { kind: TimeoutKind::Total, after, .. }) if after == second),
        "{outcome:?}"
    );
    assert!(start.elapsed() < second + Duration::from_millis(250));
    assert_eq!(peer.pending(), 0);
    far.answer_text(&timed_out, "late").await;

    let dropped = tokio::select! {
        biased;
        _ = session.call_tool("b", json!({})).into_future() => unreachable!("nobody answers"),
        request = far.hear_of("tools/call") => request,
    };
    assert_eq!(peer.pending(), 0, "an entry is retired at once");
    assert_eq!(far.hear_of("notifications/cancelled").await["params"]["requestId"], dropped["id"]);
    far.answer_text(&dropped, "late").await;

    let (echoed, last) = tokio::join!(echo(&session, "n"), async {
        let request = far.hear_of("tools/call").await;
        far.answer_text(&request, "n").await;
        request
    });
    echoed.unwrap();
    let ids: Vec<i64> =
        [timed_out, dropped, last].iter().map(|request| request["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "ids are never used again: {ids:?}");
    assert_eq!(session.counts().late_or_unknown, 2);
}

async fn f068_an_unknown_result_type_is_a_protocol_error() {
    let Held { session, mut far, peer } = open_modern().await;
    for unknown in [json!("surprise"), json!(7)] {
        let (outcome, ()) = tokio::join!(session.call_tool("a", json!({})).into_future(), async {
            let request = far.hear_of("tools/call").await;
            far.answer(&request, json!({"resultType": unknown, "content": []})).await;
        });
        let Err(CallError::Protocol { method, error }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((method.as_str(), error.path()), ("tools/call", "resultType"));
    }
    assert_eq!(peer.pending(), 0);
}

async fn f068_an_absent_result_type_is_complete() {
    let Held { session, mut far, .. } = open_modern().await;
    let (echoed, ()) = tokio::join!(echo(&session, "n"), async {
        let request = far.hear_of("tools/call").await;
        far.answer_text(&request, "n").await;
    });
    echoed.unwrap();
}

async fn f069_an_unknown_request_is_refused_in_the_legacy_era() {
    let Held { session, mut far, .. } = open().await;
    far.say(&json!({"jsonrpc": "2.0", "id": "s-1", "method": "no/such"})).await;
    let answer = far.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("s-1"), &json!(-32601)));
    assert_eq!(session.counts(), Default::default());
}

async fn f069_any_request_is_ignored_in_the_modern_era() {
    let Held { session, mut far, .. } = open_modern().await;
    for method in ["no/such", "ping", "roots/list"] {
        far.say(&json!({"jsonrpc": "2.0", "id": method, "method": method})).await;
    }
    let (echoed, next) = tokio::join!(echo(&session, "n"), async {
        let next = far.hear().await;
        far.answer_text(&next, "n").await;
        next
    });
    echoed.unwrap();
    assert_eq!(next["method"], "tools/call", "nothing was answered before it");
    assert_eq!(session.counts().forbidden_upcalls, 3);
}

async fn f070_the_ids_of_both_sides_are_apart() {
    let Held { session, mut far, .. } = open().await;
    let (echoed, ()) = tokio::join!(echo(&session, "n"), async {
        let request = far.hear_of("tools/call").await;
        far.say(&json!({"jsonrpc": "2.0", "id": request["id"], "method": "ping"})).await;
        assert_eq!(far.hear().await, json!({"jsonrpc": "2.0", "id": request["id"], "result": {}}));
        far.answer_text(&request, "n").await;
    });
    echoed.unwrap();
    assert_eq!(session.counts(), Default::default());
}

async fn f074_a_ping_during_the_handshake_is_answered() {
    let (mut far, pipe) = Far::new(ROOM);
    let client = legacy();
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let (session, ()) = tokio::join!(client.connect(SingleLink::new(peer)), async {
        let request = far.hear_of("initialize").await;
        far.say(&json!({"jsonrpc": "2.0", "id": 77, "method": "ping"})).await;
        assert_eq!(far.hear().await, json!({"jsonrpc": "2.0", "id": 77, "result": {}}));
        far.welcome_to(&request).await;
    });
    assert!(matches!(session.unwrap().state(), SessionState::Ready));
}

async fn f074_a_ping_during_the_probe_is_answered() {
    let (mut far, pipe) = Far::new(ROOM);
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let client = Client::new();
    let (session, ()) = tokio::join!(client.connect(SingleLink::new(peer)), async {
        let request = far.hear_of("server/discover").await;
        far.say(&json!({"jsonrpc": "2.0", "id": 77, "method": "ping"})).await;
        assert_eq!(far.hear().await, json!({"jsonrpc": "2.0", "id": 77, "result": {}}));
        far.answer(&request, discovered()).await;
    });
    assert!(matches!(session.unwrap().state(), SessionState::Ready));
}

/// The far side answers as soon as it has seen the id, with most of the request still on our side.
async fn f075_an_answer_may_come_before_the_request_is_written() {
    let Held { session, mut far, peer } =
        open_with(&legacy(), ConnectionLimits::default(), 64).await.unwrap();
    let large = "x".repeat(100_000);
    let (outcome, rest) =
        tokio::join!(session.call_tool("a", json!({ "large": large })).into_future(), async {
            let head = String::from_utf8(far.bytes(40).await).unwrap();
            let id: i64 = head.split("\"id\":").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
            far.answer_text(&json!({ "id": id }), "early").await;
            far.line().await
        });
    assert_eq!(outcome.unwrap().text(), "early");
    assert!(rest.len() > 100_000, "the frame is whole all the same");
    let (echoed, ()) = tokio::join!(echo(&session, "n"), async {
        let request = far.hear_of("tools/call").await;
        far.answer_text(&request, "n").await;
    });
    echoed.unwrap();
    assert_eq!((peer.pending(), session.counts()), (0, Default::default()));
}

async fn f078_one_request_too_many_is_refused_at_once() {
    const MOST: usize = 1024;
    let Held { session, mut far, peer } = open().await;
    let calls: Vec<_> = (0..MOST)
        .map(|_| {
            let session = session.clone();
            tokio::spawn(async move { session.call_tool("a", json!({})).await })
        })
        .collect();
    let reading = tokio::spawn(async move {
        let mut heard: Vec<Value> = Vec::new();
        while heard.last().is_none_or(|last| last["method"] != "ping") {
            heard.push(far.hear().await);
        }
        (far, heard)
    });
    while peer.pending() < MOST {
        tokio::task::yield_now().await;
    }
    // The best of a few: the machine may be busy with something else.
    let mut quickest = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        let mut call = session.call_tool("one-too-many", json!({})).into_future();
        let Poll::Ready(refused) = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await else {
            panic!("it waits")
        };
        quickest = quickest.min(start.elapsed());
        let Err(CallError::Link(LinkError::Overloaded { .. })) = &refused else { panic!("{refused:?}") };
        assert!(refused.unwrap_err().is_retryable());
    }
    assert!(quickest < Duration::from_millis(1), "{quickest:?}");
    assert_eq!(peer.pending(), MOST);

    calls.iter().for_each(|call| call.abort());
    while peer.pending() > 0 {
        tokio::task::yield_now().await;
    }
    // The cancellations fill the queue; there is room again when they have left.
    let ping = tokio::spawn(async move {
        loop {
            match session.ping().await {
                Err(error) if error.is_retryable() => tokio::task::yield_now().await,
                other => return other,
            }
        }
    });
    let (mut far, heard) = reading.await.unwrap();
    assert_eq!(
        heard.iter().filter(|message| message["method"] == "tools/call").count(),
        MOST,
        "no more was sent"
    );
    assert!(heard.iter().all(|message| message["params"]["name"] != "one-too-many"));
    far.answer(heard.last().unwrap(), json!({})).await;
    ping.await.unwrap().unwrap();
}
