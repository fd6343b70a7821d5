//! Framing that takes more than bytes: F030, F034, F038, F040, F044, F048, F053, F055.

use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::strategy::{Strategy, ValueTree};
use serde_json::json;
use switchboard::CallError;
use switchboard::client::SessionState;
use switchboard::protocol::Raw;
use switchboard::transport::LinkError;
use switchboard_testkit::wait_for_reaping;

use crate::faults::far::{Held, open};
use crate::faults::part;
use crate::faults::sessions::{Watched, close_politely, echo, faultd, is_long, legacy, paused, real};

switchboard_testkit::trials![
    real:
        f030_junk_is_passed_over_quickly,
        f030_junk_is_logged_once_in_ten_seconds,
        f038_a_last_line_without_newline_counts,
        f038_a_last_line_that_is_cut_is_dropped,
        f039_one_hundred_mebibytes_stay_within_the_limit,
        f040_an_endless_line_loses_the_connection,
        f048_a_node_bomb_may_pass_through,
        f055_a_flood_on_stderr_blocks_nobody;
    paused:
        f034_slow_single_bytes_cost_no_busy_loop,
        f044_a_lone_surrogate_is_forwarded_as_written,
        f053_no_text_of_ours_breaks_a_line,
        f053_raw_text_of_many_lines_is_sent_as_one;
];

async fn f030_junk_is_passed_over_quickly() {
    let Held { session, mut far, .. } = open().await;
    let lines = 100_000;
    let junk = "DEBUG something or other happened somewhere, and here it is at some length\n".repeat(lines);
    let (outcome, took) = tokio::join!(session.call_tool("a", json!({})).into_future(), async {
        let request = far.hear_of("tools/call").await;
        let start = Instant::now();
        far.write(junk.as_bytes()).await;
        far.answer_text(&request, "n").await;
        start
    });
    outcome.unwrap();
    let rate = junk.len() as f64 / took.elapsed().as_secs_f64() / 1e6;
    // Without optimisation only the order of magnitude is of interest.
    let least = if cfg!(debug_assertions) { 0.05 } else { 5.0 };
    assert!(rate > least, "{rate} MB/s");
    assert_eq!(session.counts().junk, lines as u64);
}

/// Counts warnings, and keeps nothing else.
struct Warnings(Arc<AtomicUsize>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        if *event.metadata().level() == tracing::Level::WARN {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// In a process of its own: `tracing` may miss a subscriber that comes while another thread meets the event
/// for the first time.
async fn f030_junk_is_logged_once_in_ten_seconds() {
    assert_eq!(part::said("junk-log").await, "1 2 3 ");
}

/// Prints how many warnings there were after each of three floods of junk, eleven seconds apart.
pub(crate) async fn junk_log() {
    tokio::time::pause();
    let warnings = Arc::new(AtomicUsize::new(0));
    let _here = switchboard_testkit::record_with(Warnings(Arc::clone(&warnings)));
    let Held { session, mut far, .. } = open().await;
    for _ in 0..3 {
        for _ in 0..500 {
            far.write(b"not a message\n").await;
        }
        let (echoed, ()) = tokio::join!(echo(&session, "n"), async {
            let request = far.hear_of("tools/call").await;
            far.answer_text(&request, "n").await;
        });
        echoed.unwrap();
        print!("{} ", warnings.load(Ordering::Relaxed));
        tokio::time::sleep(Duration::from_secs(11)).await;
    }
    assert_eq!(session.counts().junk, 1500);
}

/// The clock only jumps when everybody waits: a busy loop would never let it.
async fn f034_slow_single_bytes_cost_no_busy_loop() {
    let Held { session, mut far, .. } = open().await;
    let (outcome, ()) = tokio::join!(session.call_tool("a", json!({})).into_future(), async {
        let request = far.hear_of("tools/call").await;
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}});
        for byte in format!("{answer}\n").bytes() {
            far.write(&[byte]).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    outcome.unwrap();
}

async fn f038_a_last_line_without_newline_counts() {
    let watched = Watched::new(faultd("last-line-whole"));
    let session = legacy().connect(watched.clone()).await.unwrap();
    let (held, fault) = tokio::join!(
        session.call_tool("hold", json!({})).into_future(),
        session.call_tool("fault", json!({"nonce": "n"})).into_future()
    );
    assert_eq!(fault.unwrap().text(), "n");
    assert!(matches!(held, Err(CallError::Link(LinkError::Exited(exit))) if exit.code == Some(0)));
    assert_eq!(watched.pending(), 0);
}

async fn f038_a_last_line_that_is_cut_is_dropped() {
    let session = legacy().connect(faultd("last-line-cut")).await.unwrap();
    let outcome = session.call_tool("fault", json!({})).await;
    assert!(matches!(outcome, Err(CallError::Link(LinkError::Exited(_)))), "{outcome:?}");
    assert_eq!(session.counts(), Default::default());
}

/// In a process of its own, for its peak: the limit, and half as much again for what else a call needs.
async fn f039_one_hundred_mebibytes_stay_within_the_limit() {
    let grown: usize = part::said("long-line").await.parse().unwrap();
    assert!(grown <= (16 + 8) * 1024, "{grown} KiB");
}

async fn f040_an_endless_line_loses_the_connection() {
    let watched = Watched::new(faultd("endless").line_limit(64 * 1024));
    let session = legacy().connect(watched.clone()).await.unwrap();
    let (held, fault) = tokio::join!(
        session.call_tool("hold", json!({})).into_future(),
        session.call_tool("fault", json!({})).into_future()
    );
    for outcome in [held, fault] {
        assert!(matches!(outcome, Err(CallError::Link(LinkError::Lost { sent: true, .. }))), "{outcome:?}");
    }
    let mut states = session.watch_state();
    states.wait_for(|state| matches!(state, SessionState::Failed(_))).await.unwrap();
    assert_eq!(watched.pending(), 0);
    wait_for_reaping(watched.children()[0].root_pid()).await;
}

async fn f044_a_lone_surrogate_is_forwarded_as_written() {
    let Held { session, mut far, .. } = open().await;
    let (raw, ()) = tokio::join!(session.call_tool("a", json!({})).raw(), async {
        let id = far.hear_of("tools/call").await["id"].clone();
        far.write(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"x\":\"\\ud800\"}}}}\n").as_bytes(),
        )
        .await;
    });
    assert_eq!(raw.unwrap().as_str(), r#"{"x":"\ud800"}"#);
}

async fn f048_a_node_bomb_may_pass_through() {
    let session = legacy().connect(faultd("F048_a_node_bomb_is_refused_before_it_is_typed")).await.unwrap();
    let raw = session.call_tool("fault", json!({})).raw().await.unwrap();
    assert!(raw.len() > 16_000_000);
    close_politely(&session).await;
}

async fn f053_no_text_of_ours_breaks_a_line() {
    let Held { session, mut far, .. } = open().await;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let any = proptest::collection::vec(proptest::char::any(), 0..40).prop_map(String::from_iter);
    for _ in 0..200 {
        let mut text = any.new_tree(&mut runner).unwrap().current();
        text.push_str("\n\r\u{2028}\u{2029}\u{85}\0");
        let call = session.call_tool(text.clone(), json!({ text.clone(): text }));
        let (outcome, ()) = tokio::join!(call.into_future(), async {
            let request = far.hear().await;
            assert_eq!(request["params"]["name"], text);
            assert_eq!(request["params"]["arguments"][&text], text);
            far.answer_text(&request, "n").await;
        });
        outcome.unwrap();
    }
}

async fn f053_raw_text_of_many_lines_is_sent_as_one() {
    let Held { session, mut far, .. } = open().await;
    let raw = Raw::parse("{\n  \"a\": [\r\n1,\n2]\n}".to_owned()).unwrap();
    let large = Raw::parse(format!("{{\n\"b\":\n\"{}\"}}", "x".repeat(100_000))).unwrap();
    for arguments in [raw, large] {
        let expected: serde_json::Value = arguments.decode().unwrap();
        let (outcome, ()) = tokio::join!(session.call_tool("a", arguments).into_future(), async {
            let request = far.hear().await;
            assert_eq!(request["params"]["arguments"], expected);
            far.answer_text(&request, "n").await;
        });
        outcome.unwrap();
    }
}

async fn f055_a_flood_on_stderr_blocks_nobody() {
    // 64 KiB each.
    let chunks = if is_long() { 16 * 1024 } else { 512 };
    let watched = Watched::new(faultd("floods-stderr").env("CHUNKS", chunks.to_string()));
    let session = legacy().connect(watched.clone()).await.unwrap();
    assert_eq!(session.call_tool("fault", json!({"nonce": "n"})).await.unwrap().text(), "n");
    echo(&session, "afterwards").await.unwrap();
    close_politely(&session).await;
    let tail = watched.children()[0].stderr_tail();
    assert!(tail.ends_with("last words\n") && tail.len() <= 64 * 1024, "{}", tail.len());
}
