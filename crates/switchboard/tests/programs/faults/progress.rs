//! Progress and the time a call may take: F072, F073.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::CallError;
use switchboard::client::TimeoutKind;

use crate::faults::far::{Far, Held, open};
use crate::faults::sessions::{echo, paused, times};

switchboard_testkit::trials![paused:
    f072_progress_never_goes_backwards,
    f072_a_flood_of_progress_is_thinned_to_the_latest,
    f072_steady_progress_reaches_the_caller_twenty_times_a_second,
    f072_progress_does_not_extend_the_total,
    f073_progress_forever_ends_at_the_total,
    f073_silence_ends_at_the_idle_time,
    f073_no_bound_is_no_panic,
];

type Told = Arc<Mutex<Vec<f64>>>;

fn tell(told: &Told) -> impl FnMut(switchboard::protocol::ProgressParams) + Send + 'static {
    let told = Arc::clone(told);
    move |progress| told.lock().unwrap().push(progress.progress)
}

fn note(request: &Value, progress: f64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
        "progressToken": request["params"]["_meta"]["progressToken"], "progress": progress,
    }})
}

async fn f072_progress_never_goes_backwards() {
    let Held { session, mut far, .. } = open().await;
    let told = Told::default();
    let (outcome, ()) =
        tokio::join!(session.call_tool("a", json!({})).on_progress(tell(&told)).into_future(), async {
            let request = far.hear_of("tools/call").await;
            for progress in [1.0, 2.0, 1.5, 2.0, -7.0, 3.0] {
                far.say(&note(&request, progress)).await;
                tokio::time::sleep(Duration::from_millis(60)).await;
            }
            far.answer_text(&request, "n").await;
        });
    assert_eq!(outcome.unwrap().text(), "n");
    assert_eq!(*told.lock().unwrap(), [1.0, 2.0, 3.0]);
}

async fn f072_a_flood_of_progress_is_thinned_to_the_latest() {
    let many = times(20_000, 1_000_000);
    let Held { session, mut far, .. } = open().await;
    let told = Told::default();
    let start = tokio::time::Instant::now();
    let (outcome, other, ()) = tokio::join!(
        session.call_tool("a", json!({})).on_progress(tell(&told)).into_future(),
        echo(&session, "other"),
        async {
            let request = far.hear_of("tools/call").await;
            let other = far.hear_of("tools/call").await;
            for progress in 1..=many {
                far.say(&note(&request, progress as f64)).await;
                if progress == many / 2 {
                    far.answer_text(&other, "other").await;
                }
            }
            far.answer_text(&request, "n").await;
        }
    );
    assert_eq!(outcome.unwrap().text(), "n");
    other.expect("another call is answered in the middle of it");
    let told = told.lock().unwrap();
    let most = 2 + start.elapsed().as_millis() / 50;
    assert!(told.len() as u128 <= most, "{} of {most}", told.len());
    assert_eq!(told.last(), Some(&(many as f64)), "the latest wins");
    assert_eq!(session.counts(), Default::default());
}

async fn f072_steady_progress_reaches_the_caller_twenty_times_a_second() {
    let Held { session, mut far, .. } = open().await;
    let told = Told::default();
    let (outcome, ()) =
        tokio::join!(session.call_tool("a", json!({})).on_progress(tell(&told)).into_future(), async {
            let request = far.hear_of("tools/call").await;
            for progress in 0..1000 {
                far.say(&note(&request, f64::from(progress))).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            far.answer_text(&request, "n").await;
        });
    outcome.unwrap();
    let told = told.lock().unwrap();
    assert!((15..=23).contains(&told.len()), "{}", told.len());
    assert_eq!(told.last(), Some(&999.0));
}

/// Sends progress now and then until the request is cancelled; which id was.
async fn progress_forever(far: &mut Far, gap: Duration) {
    let request = far.hear_of("tools/call").await;
    for progress in 0.. {
        far.say(&note(&request, f64::from(progress))).await;
        if let Ok(cancelled) = tokio::time::timeout(gap, far.hear_of("notifications/cancelled")).await {
            assert_eq!(cancelled["params"]["requestId"], request["id"]);
            return;
        }
    }
}

async fn f072_progress_does_not_extend_the_total() {
    let Held { session, mut far, peer } = open().await;
    let (total, idle) = (Duration::from_secs(5), Duration::from_secs(1));
    let start = tokio::time::Instant::now();
    let call = session.call_tool("a", json!({})).timeout(total).idle_timeout(idle);
    let (outcome, ()) =
        tokio::join!(call.into_future(), progress_forever(&mut far, Duration::from_millis(500)));
    assert!(
        matches!(outcome, Err(CallError::TimedOut { kind: TimeoutKind::Total, after, .. }) if after == total),
        "{outcome:?}"
    );
    assert!(start.elapsed() >= total && start.elapsed() < total + Duration::from_millis(750));
    assert_eq!(peer.pending(), 0);
}

/// With nothing set: fifteen minutes, and the server is told.
async fn f073_progress_forever_ends_at_the_total() {
    let Held { session, mut far, peer } = open().await;
    let start = tokio::time::Instant::now();
    let call = session.call_tool("a", json!({})).into_future();
    let (outcome, ()) = tokio::join!(call, progress_forever(&mut far, Duration::from_secs(30)));
    let quarter = Duration::from_secs(15 * 60);
    assert!(
        matches!(outcome, Err(CallError::TimedOut { kind: TimeoutKind::Total, after, .. }) if after == quarter),
        "{outcome:?}"
    );
    assert!(start.elapsed() < quarter + Duration::from_secs(31));
    assert_eq!(peer.pending(), 0);
}

async fn f073_silence_ends_at_the_idle_time() {
    let Held { session, mut far, .. } = open().await;
    let start = tokio::time::Instant::now();
    let (outcome, cancelled) =
        tokio::join!(session.call_tool("a", json!({})).into_future(), far.hear_of("notifications/cancelled"));
    let minute = Duration::from_secs(60);
    assert!(
        matches!(outcome, Err(CallError::TimedOut { kind: TimeoutKind::Idle, after, .. }) if after == minute),
        "{outcome:?}"
    );
    assert!(start.elapsed() < minute + Duration::from_millis(250));
    assert!(cancelled["params"]["requestId"].is_i64());
}

/// `Duration::MAX` spells "no bound".
async fn f073_no_bound_is_no_panic() {
    let Held { session, mut far, .. } = open().await;
    let call = session.call_tool("a", json!({})).timeout(Duration::MAX).idle_timeout(Duration::MAX);
    let (outcome, ()) = tokio::join!(call.into_future(), async {
        let request = far.hear_of("tools/call").await;
        tokio::time::sleep(Duration::from_secs(3600)).await;
        far.answer_text(&request, "n").await;
    });
    assert_eq!(outcome.unwrap().text(), "n");
}
