//! Events of the service: delivered to listeners, dropped for slow ones, published by clients only if allowed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_service::EventPublisher;
use switchboard_service::wire::{EVENT_NOTIFICATION, EVENTS_EXTENSION, EVENTS_METHOD};
use switchboard_session::server::{AnswerOutcome, Server};
use switchboard_session::{CallError, Client, ClientSession};
use switchboard_testkit::wait_until;
use tokio::sync::mpsc;

use crate::requests::{RecordingChannel, begin};
use crate::sessions::{ERAS, MODERN, NEWEST_LEGACY, REVISIONS, Setup, ask, connect, raw, session};
use crate::shop::{Shop, Sum};

/// Subscribes to events; aborting the task unsubscribes.
fn listen(session: &ClientSession) -> (mpsc::UnboundedReceiver<Value>, tokio::task::JoinHandle<()>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let call = session.raw_call(EVENTS_METHOD, raw(json!({}))).on_notification(move |method, note| {
        assert_eq!(method, EVENT_NOTIFICATION);
        let _ = sender.send(note.decode().unwrap());
    });
    let task = tokio::spawn(async move {
        let _ = call.await;
    });
    (receiver, task)
}

/// Publishes until the event arrives: a subscription takes effect with a delay.
async fn first(events: &EventPublisher, received: &mut mpsc::UnboundedReceiver<Value>) -> Value {
    for _ in 0..6_000 {
        events.publish("sold", &Sum { sum: 0 });
        if let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(20), received.recv()).await {
            return event;
        }
    }
    panic!("nothing was received");
}

#[tokio::test]
async fn every_listener_gets_every_event_in_order_until_it_cancels() {
    let (events, feed) = EventPublisher::channel(16);
    let server = Shop::builder().events(feed).build().unwrap();
    assert!(server.capabilities().has_extension(EVENTS_EXTENSION));
    for revision in ERAS {
        let session = session(&server, revision).await;
        let (mut one, first_task) = listen(&session);
        let start = first(&events, &mut one).await;
        assert_eq!((&start["name"], &start["data"]), (&json!("sold"), &json!({"sum": 0})), "{revision}");
        while one.try_recv().is_ok() {}
        for sum in 1..=3 {
            events.publish("sold", &Sum { sum });
        }
        let mut seqs = Vec::new();
        for sum in 1..=3 {
            let event = one.recv().await.unwrap();
            if event["data"]["sum"] == 0 {
                continue;
            }
            assert_eq!(event["data"]["sum"], sum, "{revision}");
            seqs.push(event["seq"].as_u64().unwrap());
        }
        assert!(seqs.windows(2).all(|two| two[1] == two[0] + 1), "{seqs:?}");
        // A dropped call is cancelled, and no further events arrive.
        first_task.abort();
        assert!(first_task.await.unwrap_err().is_cancelled());
        tokio::time::sleep(Duration::from_millis(50)).await;
        while one.try_recv().is_ok() {}
        events.publish("sold", &Sum { sum: 9 });
        assert!(
            tokio::time::timeout(Duration::from_secs(120), one.recv())
                .await
                .is_ok_and(|event| event.is_none())
        );
        assert_eq!(
            ask(&session, "tools/call", json!({"name": "echo", "arguments": {"text": "on"}})).await.unwrap()
                ["content"][0]["text"],
            "on"
        );
    }
}

#[tokio::test]
async fn a_design_without_events_has_no_event_stream() {
    let mut shop = Shop::new();
    Arc::make_mut(&mut shop.design).notifications.clear();
    let server = switchboard_service::ServiceBuilder::new(Arc::new(shop)).build().unwrap();
    assert!(!server.capabilities().has_extension(EVENTS_EXTENSION));
    let session = session(&server, MODERN).await;
    assert_eq!(ask(&session, EVENTS_METHOD, json!({})).await.unwrap_err().0, -32601);
}

#[tokio::test]
async fn changes_are_sent_to_listeners() {
    let (events, feed) = EventPublisher::channel(16);
    let server = Shop::builder().events(feed).build().unwrap();
    for revision in ERAS {
        let session = connect(&Client::new(), &server, revision).await;
        let mut watched = session.subscribe("text://a?x=1").await.unwrap();
        events.resource_changed("text://b");
        events.resource_changed("TEXT://a");
        let change = tokio::time::timeout(Duration::from_secs(120), watched.next()).await.unwrap().unwrap();
        assert!(format!("{change:?}").contains("text://a?x=1"), "{revision}: {change:?}");
    }
}

async fn publishes(server: &Arc<Server>, revision: Setup) -> Result<Value, (i32, String)> {
    let session = session(server, revision).await;
    ask(&session, "notify_sold", json!({"sum": 5})).await
}

#[tokio::test]
async fn clients_publish_only_if_allowed() {
    let closed = Shop::builder().build().unwrap();
    let open = Shop::builder().accept_notifications(true).build().unwrap();
    for revision in REVISIONS {
        assert_eq!(publishes(&closed, revision).await.unwrap_err().0, -32601, "{revision}");
        let own = session(&open, revision).await;
        let (mut received, task) = listen(&own);
        let mut event = None;
        for _ in 0..6_000 {
            publishes(&open, revision).await.unwrap();
            if let Ok(received) = tokio::time::timeout(Duration::from_millis(20), received.recv()).await {
                event = received;
                break;
            }
        }
        let event = event.unwrap_or_else(|| panic!("{revision}: nothing was received"));
        assert_eq!((&event["name"], &event["data"]), (&json!("sold"), &json!({"sum": 5})), "{revision}");
        // It must be a valid event of the design.
        let wrong = ask(&own, "notify_sold", json!({"sum": "five"})).await.unwrap_err();
        assert_eq!(wrong.0, -32602);
        assert!(wrong.1.contains("`sum`"), "{}", wrong.1);
        assert_eq!(ask(&own, "notify_none", json!({})).await.unwrap_err().0, -32601);
        task.abort();
    }
    // A notification has no response.
    let own = session(&open, NEWEST_LEGACY).await;
    let (mut received, task) = listen(&own);
    let mut is_received = false;
    for _ in 0..6_000 {
        match own.notify("notify_sold", Some(&raw(json!({"sum": 6})))) {
            Ok(()) => {}
            Err(CallError::Unsupported { .. }) | Err(_) => panic!("a notification can be sent"),
        }
        if let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(20), received.recv()).await {
            assert_eq!(event["data"], json!({"sum": 6}));
            is_received = true;
            break;
        }
    }
    assert!(is_received, "nothing was received");
    task.abort();
}

#[tokio::test]
async fn a_slow_listener_loses_the_oldest_events_without_blocking_others() {
    let (events, feed) = EventPublisher::channel(3);
    let server = Shop::builder().events(feed).build().unwrap();
    let (slow, fast) = (Arc::new(RecordingChannel::default()), Arc::new(RecordingChannel::default()));
    slow.behind.store(true, Ordering::SeqCst);
    let mut tasks = Vec::new();
    for back in [&slow, &fast] {
        let AnswerOutcome::Later(listening) = begin(&server, back, EVENTS_METHOD, json!({})) else {
            panic!("it goes on")
        };
        tasks.push(tokio::spawn(listening));
    }
    tokio::task::yield_now().await;
    for sum in 0..10 {
        events.publish("sold", &Sum { sum });
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let received = |back: &RecordingChannel| -> Vec<(i64, u64, u64)> {
        let event = |(_, note): &(String, Value)| {
            let lost = note.get("lost").map_or(0, |lost| lost.as_u64().unwrap());
            (note["data"]["sum"].as_i64().unwrap(), note["seq"].as_u64().unwrap(), lost)
        };
        back.notes.lock().iter().map(event).collect()
    };
    assert_eq!(received(&fast), (0..10).map(|sum: i64| (sum, sum.unsigned_abs(), 0)).collect::<Vec<_>>());
    assert_eq!(received(&slow), []);
    slow.behind.store(false, Ordering::SeqCst);
    wait_until("three events", || slow.notes.lock().len() == 3).await;
    assert_eq!(received(&slow), [(7, 7, 7), (8, 8, 0), (9, 9, 0)]);
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
}
