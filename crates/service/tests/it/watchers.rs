//! Watchers run exactly while their resource has subscribers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_testkit::wait_until;

use crate::sessions::{ERAS, session};
use crate::shop::{Counts, Shop};

fn at_work(counts: &Arc<Counts>) -> usize {
    counts.watching.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_watcher_runs_from_the_first_to_the_last_subscriber() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let (one, two) = (session(&server, revision).await, session(&server, revision).await);
        assert_eq!(at_work(&counts), 0);
        let mut first = one.subscribe("text://a").await.unwrap();
        wait_until(revision, || at_work(&counts) == 1).await;
        let mut second = two.subscribe("text://b").await.unwrap();
        // The subscription is acknowledged shortly before the watcher starts.
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
        wait_until(revision, || at_work(&counts) == 0).await;
        // And once more.
        let third = one.subscribe("text://a").await.unwrap();
        wait_until(revision, || at_work(&counts) == 1).await;
        assert_eq!(counts.watched.load(Ordering::SeqCst), 2, "{revision}");
        // The end of a connection ends its subscriptions.
        drop(third);
        one.close().await;
        two.close().await;
        wait_until(revision, || at_work(&counts) == 0).await;
    }
}

#[tokio::test]
async fn a_watcher_ends_with_the_connection() {
    for revision in ERAS.into_iter().filter(|at| at.ends_with_its_session()) {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let session = session(&server, revision).await;
        let watched = session.subscribe("text://a").await.unwrap();
        wait_until(revision, || at_work(&counts) == 1).await;
        session.close().await;
        wait_until(revision, || at_work(&counts) == 0).await;
        drop(watched);
    }
}
