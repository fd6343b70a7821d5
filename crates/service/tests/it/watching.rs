//! Watchers are at work while somebody is subscribed, and not a moment longer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::stage::{At, Counts, ERAS, Shop, session};

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

fn at_work(counts: &Arc<Counts>) -> usize {
    counts.watching.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_watcher_begins_with_the_first_subscriber_and_ends_with_the_last() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let (one, two) = (session(&server, revision).await, session(&server, revision).await);
        assert_eq!(at_work(&counts), 0);
        let mut first = one.subscribe("text://a").await.unwrap();
        until(revision, || at_work(&counts) == 1).await;
        let mut second = two.subscribe("text://b").await.unwrap();
        // A listener is there when it is acknowledged, which is a moment before the watcher knows.
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!((at_work(&counts), counts.watched.load(Ordering::SeqCst)), (1, 1), "{revision}");
        let changes = counts.changes.lock().clone().unwrap();
        changes.notify();
        for watched in [&mut first, &mut second] {
            tokio::time::timeout(Duration::from_secs(120), watched.next()).await.unwrap().unwrap();
        }
        changes.notify_uri("text://b");
        tokio::time::timeout(Duration::from_secs(120), second.next()).await.unwrap().unwrap();
        let other = tokio::time::timeout(Duration::from_millis(50), first.next()).await;
        assert!(other.is_err(), "{revision}: told of another resource");
        drop(first);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(at_work(&counts), 1, "{revision}");
        drop(second);
        until(revision, || at_work(&counts) == 0).await;
        // And anew.
        let third = one.subscribe("text://a").await.unwrap();
        until(revision, || at_work(&counts) == 1).await;
        assert_eq!(counts.watched.load(Ordering::SeqCst), 2, "{revision}");
        // A connection that ends ends its subscriptions.
        drop(third);
        one.close().await;
        two.close().await;
        until(revision, || at_work(&counts) == 0).await;
    }
}

#[tokio::test]
async fn a_watcher_ends_with_the_connection() {
    for revision in ERAS.into_iter().filter(|at| at.ends_with_its_session()) {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let session = session(&server, revision).await;
        let watched = session.subscribe("text://a").await.unwrap();
        until(revision, || at_work(&counts) == 1).await;
        session.close().await;
        until(revision, || at_work(&counts) == 0).await;
        drop(watched);
    }
}
