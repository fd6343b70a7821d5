//! Cancellation drops the method and everything it holds.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use switchboard_testkit::wait_until;

use crate::sessions::{ERAS, outcome, session};
use crate::shop::Shop;

#[tokio::test]
async fn dropping_a_call_drops_its_method() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let session = session(&server, revision).await;
        let call = tokio::spawn(session.call_tool("hang", ()).into_future());
        wait_until(revision, || counts.hanging.load(Ordering::SeqCst) == 1).await;
        assert_eq!(counts.dropped.load(Ordering::SeqCst), 0);
        call.abort();
        wait_until(revision, || counts.dropped.load(Ordering::SeqCst) == 1).await;
        assert_eq!(outcome(&session, "echo", json!({"text": "on"})).await.1, "on", "{revision}");
    }
}

#[tokio::test]
async fn closing_a_connection_drops_its_methods() {
    for revision in ERAS.into_iter().filter(|at| at.ends_with_its_session()) {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let session = session(&server, revision).await;
        let call = tokio::spawn(session.call_tool("hang", ()).into_future());
        wait_until(revision, || counts.hanging.load(Ordering::SeqCst) == 1).await;
        session.close().await;
        wait_until(revision, || counts.dropped.load(Ordering::SeqCst) == 1).await;
        assert!(call.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn a_call_over_its_timeout_is_dropped_and_fails() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.call_timeout(Duration::from_millis(30)).debug_errors(true).build().unwrap();
        let session = session(&server, revision).await;
        let (code, text) = outcome(&session, "hang", json!({})).await;
        assert_eq!((code.as_str(), text.as_str()), ("-32603", "timed out"), "{revision}");
        wait_until(revision, || counts.dropped.load(Ordering::SeqCst) == 1).await;
    }
}
