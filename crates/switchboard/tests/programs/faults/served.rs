//! Our server when it takes a conversation: F038 to F041, F045, F052 to F054, F064, F076 to F078, panics, the end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::server::ServerLimits;
use switchboard::transport::LinkError;
use tokio::time::{Instant, timeout};

use crate::faults::far::{Served, serve, serve_unopened};
use crate::faults::honest::{self, EXACT, Honest};
use crate::faults::sessions::paused;

switchboard_testkit::trials![paused:
    f038_a_last_request_without_newline_is_answered,
    f039_an_oversized_request_is_answered_to_its_id,
    f040_an_endless_request_ends_the_connection,
    f041_many_small_requests_beyond_the_limit_are_fine,
    f045_f053_a_result_goes_out_byte_for_byte_on_one_line,
    f052_a_batch_is_answered_by_one_array,
    f052_a_batch_runs_side_by_side_and_can_be_cancelled,
    f052_a_batch_ends_with_its_connection,
    f054_a_client_that_reads_late_gets_everything,
    f054_a_client_that_never_reads_is_not_served_and_is_lost,
    f054_log_messages_for_a_client_that_never_reads_are_not_kept,
    f064_a_damaged_answer_fails_the_question_it_was_for,
    f071_a_cancellation_drops_the_handler_and_is_not_answered,
    f076_a_second_request_with_an_id_in_flight_is_refused,
    f076_a_duplicate_in_a_batch_harms_nobody,
    f077_the_first_parameters_are_kept,
    f078_one_request_too_many_is_answered_to_its_id,
    serving_a_panic_ends_its_own_request_only,
    serving_ends_soon_after_the_client_has_left,
];

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn echo(id: impl Into<Value>) -> Value {
    call(id, "echo", json!({"nonce": "n"}))
}

fn limits(change: impl FnOnce(&mut ServerLimits)) -> ServerLimits {
    let mut limits = ServerLimits::default();
    change(&mut limits);
    limits
}

const LATEST: &str = "2025-11-25";
const BATCHES: &str = "2025-03-26";

async fn answered(served: &mut Served, id: impl Into<Value>) {
    let (id, heard) = (id.into(), served.far.hear().await);
    assert_eq!((&heard["id"], &heard["result"]["content"][0]["text"]), (&id, &json!("n")), "{heard}");
}

async fn f038_a_last_request_without_newline_is_answered() {
    let mut served = serve(&honest::server(), LATEST).await;
    served.far.write(echo(1).to_string().as_bytes()).await;
    served.far.hang_up().await;
    answered(&mut served, 1).await;
    served.serving.await.unwrap();
}

async fn f039_an_oversized_request_is_answered_to_its_id() {
    let mut served = serve_unopened(&honest::server(), 4096, 10_000);
    let large = "x".repeat(30_000);
    served
        .far
        .write(
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{{\"x\":\"{large}\"}},\"id\":7}}\n"
            )
            .as_bytes(),
        )
        .await;
    let refused = served.far.hear().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32600)));
    // A notification is never answered.
    served
        .far
        .write(
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":\"{large}\"}}\n")
                .as_bytes(),
        )
        .await;
    served.far.say(&json!({"jsonrpc": "2.0", "id": 8, "method": "ping"})).await;
    assert_eq!(served.far.hear().await["id"], 8);
    served.leave().await;
}

async fn f040_an_endless_request_ends_the_connection() {
    let Served { mut far, serving } = serve_unopened(&honest::server(), 4096, 10_000);
    let writing = tokio::spawn(async move {
        // More than eight times the limit; the server may be gone before all is written.
        for _ in 0..90 {
            far.write(&[b'x'; 1000]).await;
        }
    });
    assert!(matches!(serving.await.unwrap(), LinkError::Lost { .. }));
    let _ = writing.await;
}

async fn f041_many_small_requests_beyond_the_limit_are_fine() {
    let mut served = serve_unopened(&honest::server(), 1 << 20, 1000);
    let pings: String =
        (0..500).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")).collect();
    served.far.write(pings.as_bytes()).await;
    for id in 0..500 {
        assert_eq!(served.far.hear().await["id"], id);
    }
    served.leave().await;
}

async fn f045_f053_a_result_goes_out_byte_for_byte_on_one_line() {
    // Only newlines between tokens may change, into spaces.
    let exact = EXACT.replace('\n', " ");
    let mut served = serve(&honest::server(), BATCHES).await;
    served.far.say(&call(1, "exact", json!({}))).await;
    assert_eq!(served.far.line().await, format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{exact}}}"));
    served.far.say(&json!([call(2, "exact", json!({}))])).await;
    assert_eq!(served.far.line().await, format!("[{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{exact}}}]"));
    served.leave().await;
}

async fn f052_a_batch_is_answered_by_one_array() {
    let mut served = serve(&honest::server(), BATCHES).await;
    let modern = json!({"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}});
    let batch = json!([
        echo(1),
        {"jsonrpc": "2.0", "method": "notifications/nobody/knows"},
        {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {}},
        {"id": 3, "method": "ping"},
        modern,
        7,
    ]);
    served.far.say(&batch).await;
    let heard = served.far.hear().await;
    let codes: Vec<(&Value, &Value)> =
        heard.as_array().unwrap().iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
    let refused = json!(-32600);
    assert_eq!(codes[0], (&json!(1), &Value::Null), "{heard}");
    for (id, code) in &codes[1..4] {
        assert_eq!(**code, refused, "{id}");
    }
    assert_eq!(codes.len(), 5, "{heard}");
    // Notifications alone are not answered at all.
    served.far.say(&json!([{"jsonrpc": "2.0", "method": "notifications/nobody/knows"}])).await;
    served.far.say(&echo(9)).await;
    answered(&mut served, 9).await;
    served.leave().await;
}

async fn f052_a_batch_runs_side_by_side_and_can_be_cancelled() {
    let honest = Honest::default();
    let mut served = serve(&honest.serve(ServerLimits::default()), BATCHES).await;
    served
        .far
        .say(&json!([call(1, "wait", json!({})), call(2, "gate", json!({"nonce": "n"})), echo(3)]))
        .await;
    served.far.say(&echo(4)).await;
    answered(&mut served, 4).await;
    assert_eq!(honest.waiting.load(Ordering::SeqCst), 1, "the first one does not keep the others");
    honest.gate.notify_waiters();
    served
        .far
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    let heard = served.far.hear().await;
    let ids: Vec<i64> =
        heard.as_array().unwrap().iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [2, 3], "what was cancelled is left out: {heard}");
    assert_eq!(honest.waiting.load(Ordering::SeqCst), 0);
    served.leave().await;
}

async fn f052_a_batch_ends_with_its_connection() {
    let honest = Honest::default();
    let mut served = serve(&honest.serve(ServerLimits::default()), BATCHES).await;
    served.far.say(&json!([call(1, "wait", json!({}))])).await;
    served.far.say(&echo(2)).await;
    answered(&mut served, 2).await;
    served.leave().await;
    while honest.waiting.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

/// The second request is read while the answer to the first waits for room.
async fn f054_a_client_that_reads_late_gets_everything() {
    let mut served = serve_unopened(&honest::server(), 256, 1 << 20);
    let params =
        json!({"protocolVersion": LATEST, "capabilities": {}, "clientInfo": {"name": "far", "version": "1"}});
    served.far.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
    served.far.hear().await;
    for id in 1..=3 {
        served.far.say(&call(id, "bytes", json!({"count": 5000}))).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let start = Instant::now();
    for id in 1..=3 {
        let heard = served.far.hear().await;
        assert_eq!((&heard["id"], heard.to_string().len() > 5000), (&json!(id), true));
    }
    assert!(start.elapsed() < Duration::from_secs(1), "it lay there for {:?}", start.elapsed());
    served.leave().await;
}

async fn f054_a_client_that_never_reads_is_not_served_and_is_lost() {
    let limits = limits(|limits| limits.connection.queued_bytes = 10_000);
    let honest = Honest::default();
    let Served { mut far, serving } = serve(&honest.serve(limits), LATEST).await;
    let start = Instant::now();
    let mut taken = 0;
    // Each request is a hundred bytes, each answer a thousand.
    while let Ok(()) =
        timeout(Duration::from_secs(1), far.say(&call(taken, "bytes", json!({"count": 1000})))).await
    {
        taken += 1;
    }
    // What the pipe holds both ways, what was read at once, and what waits.
    assert!(taken < 3000, "{taken} requests were taken from a client that never reads");
    let end = serving.await.unwrap();
    assert!(matches!(end, LinkError::Lost { .. }), "{end:?}");
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(30) && took < Duration::from_secs(40), "{took:?}");
}

async fn f054_log_messages_for_a_client_that_never_reads_are_not_kept() {
    let limits = limits(|limits| limits.connection.queued_bytes = 100_000);
    let honest = Honest::default();
    let mut served = serve(&honest.serve(limits), LATEST).await;
    served.far.say(&call(1, "chatter", json!({}))).await;
    // The handler never rests, so the clock stands still: many turns instead.
    for _ in 0..20_000 {
        tokio::task::yield_now().await;
    }
    served
        .far
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    let mut bytes = 0;
    while let Ok(line) = timeout(Duration::from_secs(1), served.far.line()).await {
        bytes += line.len();
    }
    assert!(bytes < 1_000_000, "{bytes} bytes had been kept");
    served.leave().await;
}

async fn f064_a_damaged_answer_fails_the_question_it_was_for() {
    let mut served = serve_unopened(&honest::server(), 4096, 1 << 20);
    let params = json!({"protocolVersion": LATEST, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "far", "version": "1"}});
    served.far.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
    served.far.hear().await;
    served.far.say(&call(1, "ask", json!({}))).await;
    let question = served.far.hear().await;
    assert_eq!((&question["id"], &question["method"]), (&json!(1), &json!("elicitation/create")));
    // The same id as the client's own request, which must not be taken for it.
    served.far.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":NaN}}\n").await;
    let heard = served.far.hear().await;
    assert_eq!(heard["id"], 1);
    assert!(heard["result"]["content"][0]["text"].is_string(), "the tool answers: {heard}");
    served.leave().await;
}

async fn f071_a_cancellation_drops_the_handler_and_is_not_answered() {
    let honest = Honest::default();
    let mut served = serve(&honest.serve(ServerLimits::default()), LATEST).await;
    served.far.say(&call(1, "wait", json!({}))).await;
    served
        .far
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    served.far.say(&echo(2)).await;
    answered(&mut served, 2).await;
    while honest.waiting.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    served.leave().await;
}

async fn f076_a_second_request_with_an_id_in_flight_is_refused() {
    let honest = Honest::default();
    let mut served = serve(&honest.serve(ServerLimits::default()), LATEST).await;
    served.far.say(&call(5, "gate", json!({"nonce": "n"}))).await;
    served.far.say(&echo(5)).await;
    let refused = served.far.hear().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(5), &json!(-32600)));
    // A number and a string are two ids.
    served.far.say(&echo("5")).await;
    answered(&mut served, "5").await;
    honest.gate.notify_waiters();
    answered(&mut served, 5).await;
    served.far.say(&echo(5)).await;
    answered(&mut served, 5).await;
    served.leave().await;
}

async fn f076_a_duplicate_in_a_batch_harms_nobody() {
    let honest = Honest::default();
    let mut served = serve(&honest.serve(ServerLimits::default()), BATCHES).await;
    served.far.say(&call(5, "gate", json!({"nonce": "n"}))).await;
    served.far.say(&json!([echo(5), echo(6)])).await;
    let heard = served.far.hear().await;
    assert_eq!((&heard[0]["id"], &heard[0]["error"]["code"]), (&json!(5), &json!(-32600)), "{heard}");
    assert_eq!((&heard[1]["id"], &heard[1]["error"]), (&json!(6), &Value::Null), "{heard}");
    honest.gate.notify_waiters();
    answered(&mut served, 5).await;
    served.leave().await;
}

/// The revision of the first handshake stays: it has batches, that of the second has none.
async fn f077_the_first_parameters_are_kept() {
    let mut served = serve(&honest::server(), BATCHES).await;
    let params =
        json!({"protocolVersion": LATEST, "capabilities": {}, "clientInfo": {"name": "b", "version": "2"}});
    served.far.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    assert_eq!(served.far.hear().await["error"]["code"], -32600);
    served.far.say(&json!([echo(2)])).await;
    assert_eq!(served.far.hear().await[0]["id"], 2);
    served.leave().await;
}

async fn f078_one_request_too_many_is_answered_to_its_id() {
    let honest = Honest::default();
    let mut served = serve(&honest.serve(ServerLimits::default()), LATEST).await;
    for id in 1..=1024 {
        served.far.say(&call(id, "wait", json!({}))).await;
    }
    served.far.say(&echo(1025)).await;
    let refused = served.far.hear().await;
    assert_eq!(refused["id"], 1025);
    assert!(refused["error"]["code"].is_i64());
    assert_eq!(honest.waiting.load(Ordering::SeqCst), 1024);
    served
        .far
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    served.far.say(&echo(1026)).await;
    answered(&mut served, 1026).await;
    served.leave().await;
    while honest.waiting.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}

async fn serving_a_panic_ends_its_own_request_only() {
    let mut served = serve(&honest::server(), LATEST).await;
    for (id, tool) in [(1, "panic-now"), (2, "panic-later"), (3, "panic-blocking")] {
        served.far.say(&call(id, tool, json!({}))).await;
        let heard = served.far.hear().await;
        assert_eq!((&heard["id"], &heard["error"]["code"]), (&json!(id), &json!(-32603)), "{heard}");
        assert!(!heard.to_string().contains("as asked"), "{heard}");
    }
    served.far.say(&echo(4)).await;
    answered(&mut served, 4).await;
    served.leave().await;
}

async fn serving_ends_soon_after_the_client_has_left() {
    let honest = Honest::default();
    let mut served = serve(&honest.serve(ServerLimits::default()), LATEST).await;
    served.far.say(&call(1, "wait", json!({}))).await;
    served.far.say(&echo(2)).await;
    answered(&mut served, 2).await;
    let start = Instant::now();
    served.leave().await;
    assert!(start.elapsed() <= Duration::from_millis(1100), "{:?}", start.elapsed());
    while honest.waiting.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
}
