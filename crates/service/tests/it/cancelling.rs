//! Cancelling is dropping: the method is gone, with all it held.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::stage::{At, ERAS, Shop, outcome, session};

async fn until(revision: At, what: impl Fn() -> bool) {
    let waited = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), waited)
        .await
        .unwrap_or_else(|_| panic!("{revision}: in vain"));
}

#[tokio::test]
async fn a_call_that_is_dropped_drops_its_method() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let session = session(&server, revision).await;
        let call = tokio::spawn(session.call_tool("hang", ()).into_future());
        until(revision, || counts.hanging.load(Ordering::SeqCst) == 1).await;
        assert_eq!(counts.dropped.load(Ordering::SeqCst), 0);
        call.abort();
        until(revision, || counts.dropped.load(Ordering::SeqCst) == 1).await;
        assert_eq!(outcome(&session, "echo", json!({"text": "on"})).await.1, "on", "{revision}");
    }
}

#[tokio::test]
async fn a_connection_that_ends_drops_its_methods() {
    for revision in ERAS.into_iter().filter(|at| at.ends_with_its_session()) {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let session = session(&server, revision).await;
        let call = tokio::spawn(session.call_tool("hang", ()).into_future());
        until(revision, || counts.hanging.load(Ordering::SeqCst) == 1).await;
        session.close().await;
        until(revision, || counts.dropped.load(Ordering::SeqCst) == 1).await;
        assert!(call.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_dropped_and_told() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.call_timeout(Duration::from_millis(30)).debug_errors(true).build().unwrap();
        let session = session(&server, revision).await;
        let (code, text) = outcome(&session, "hang", json!({})).await;
        assert_eq!((code.as_str(), text.as_str()), ("-32603", "timed out"), "{revision}");
        until(revision, || counts.dropped.load(Ordering::SeqCst) == 1).await;
    }
}
