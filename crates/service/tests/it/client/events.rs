//! Service events and resource changes, as a typed client receives them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_service::client::{CallArguments, ServiceCaller, ServiceEvents};
use switchboard_service::{Changes, Error, EventPublisher, LostEvents};
use switchboard_session::RevisionPolicy;
use tokio::sync::mpsc;

use crate::client::sample;
use crate::client::sessions::{self, ERAS};

/// Publishes until the event arrives: a subscription takes effect with a delay.
async fn first(handle: &EventPublisher, events: &mut ServiceEvents<u32>) {
    loop {
        handle.publish("ticked", &0);
        if let Ok(heard) = tokio::time::timeout(Duration::from_millis(20), events.recv()).await {
            assert_eq!(heard.unwrap(), Some(0));
            return;
        }
    }
}

#[tokio::test]
async fn a_client_receives_typed_events_in_order() {
    for offer in ERAS {
        let (handle, feed) = EventPublisher::channel(16);
        let server = sample::builder().events(feed).build().unwrap();
        let caller =
            ServiceCaller::new(sessions::session(&server, offer).await, Arc::clone(sample::design()));
        let mut ticks = caller.events::<u32>("ticked").await.unwrap();
        first(&handle, &mut ticks).await;
        for tick in 1..4 {
            handle.publish("ticked", &tick);
        }
        let mut heard = Vec::new();
        while heard.last() != Some(&3) {
            let tick = ticks.recv().await.unwrap().unwrap();
            heard.extend((tick != 0).then_some(tick));
        }
        assert_eq!(heard, [1, 2, 3]);
        handle.publish("ticked", &"not a number");
        assert!(matches!(ticks.recv().await, Err(Error::Malformed(_))));
        handle.publish("ticked", &5);
        assert_eq!(ticks.next().await.unwrap().unwrap(), 5);
        let unknown = caller.events::<u32>("tocked").await.unwrap_err();
        assert!(matches!(unknown, Error::Unknown { name, .. } if name == "tocked"));
    }
}

#[tokio::test]
async fn a10_events_of_a_server_without_a_feed_end_with_an_error_at_once() {
    for offer in ERAS {
        let server = sample::builder().build().unwrap();
        let caller =
            ServiceCaller::new(sessions::session(&server, offer).await, Arc::clone(sample::design()));
        let mut ticks = caller.events::<u32>("ticked").await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(60), ticks.recv()).await.expect("must end");
        let error = ended.unwrap_err();
        assert!(error.to_string().contains("publishes no events"), "{error}");
        let mut all = caller.listen_events().await;
        assert!(tokio::time::timeout(Duration::from_secs(60), all.recv()).await.expect("must end").is_err());
    }
}

#[tokio::test]
async fn a_slow_listener_gets_the_number_of_lost_events() {
    for offer in ERAS {
        let (handle, feed) = EventPublisher::channel(4);
        let server = sample::builder().events(feed).build().unwrap();
        let caller =
            ServiceCaller::new(sessions::session(&server, offer).await, Arc::clone(sample::design()));
        let mut ticks = caller.events::<u32>("ticked").await.unwrap();
        first(&handle, &mut ticks).await;
        let mut last = 0;
        let mut lost = 0;
        for tick in 1..=2000_u32 {
            handle.publish("ticked", &tick);
        }
        while last < 2000 {
            match ticks.next().await.unwrap() {
                Ok(0) => {}
                Ok(tick) => {
                    assert!(tick > last, "in order");
                    last = tick;
                }
                Err(error) => lost += error.downcast_ref::<LostEvents>().unwrap().count,
            }
        }
        assert!(lost > 0, "nobody keeps 2000 events in 4 places");
    }
}

#[tokio::test]
async fn a_client_publishes_only_if_the_server_accepts_it() {
    for offer in ERAS {
        let server = sample::builder().build().unwrap();
        let caller =
            ServiceCaller::new(sessions::session(&server, offer).await, Arc::clone(sample::design()));
        let refused = caller.notify("said", &json!({"text": "hi"})).await.unwrap_err();
        assert!(matches!(&refused, Error::Rpc(error) if error.code.0 == -32601), "{refused:?}");

        let server = sample::builder().accept_notifications(true).build().unwrap();
        let caller =
            ServiceCaller::new(sessions::session(&server, offer).await, Arc::clone(sample::design()));
        let mut all = caller.listen_events().await;
        let said = loop {
            caller.notify("said", &json!({"text": "hi"})).await.unwrap();
            if let Ok(heard) = tokio::time::timeout(Duration::from_millis(20), all.recv()).await {
                break heard.unwrap().unwrap();
            }
        };
        assert_eq!(
            (said.name.as_str(), said.decode::<serde_json::Value>().unwrap()),
            ("said", json!({"text": "hi"}))
        );
        if offer == RevisionPolicy::LegacyOnly {
            caller.notify_only("said", &json!({"text": "unasked"})).unwrap();
            let unasked = async {
                while all.recv().await.unwrap().unwrap().data.as_str() != r#"{"text":"unasked"}"# {}
            };
            tokio::time::timeout(Duration::from_secs(120), unasked).await.unwrap();
        }
        let unfit = caller.notify("said", &json!({"text": 7})).await.unwrap_err();
        assert!(matches!(unfit, Error::InvalidParams(_)));
        assert!(matches!(caller.notify("ticked", &7).await, Err(Error::InvalidParams(_))));
        assert!(matches!(caller.notify("unknown", &json!({})).await, Err(Error::Unknown { .. })));
    }
}

/// Watches until the first change.
async fn changed(watch: impl AsyncFnOnce(Changes)) -> Option<String> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let changes = Changes::new(move |uri| {
        let _ = sender.send(uri.map(str::to_owned));
    });
    tokio::select! {
        () = watch(changes) => panic!("it goes on until it is dropped"),
        change = receiver.recv() => change.unwrap(),
    }
}

#[tokio::test]
async fn a_watched_resource_reports_changes_until_dropped() {
    for offer in ERAS {
        let (handle, feed) = EventPublisher::channel(16);
        let server = sample::builder().events(feed).build().unwrap();
        let caller =
            ServiceCaller::new(sessions::session(&server, offer).await, Arc::clone(sample::design()));
        let publishing = tokio::spawn(async move {
            loop {
                handle.resource_changed("status://now");
                handle.resource_changed("item://a%2Fb");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let fixed = changed(async |changes| caller.watch::<Error>(1, None, changes).await.unwrap());
        assert_eq!(fixed.await, None);
        let one = CallArguments::new().with("id", "a/b");
        let member = changed(async |changes| caller.watch_one::<Error>(0, one, None, changes).await.unwrap());
        assert_eq!(member.await, None);
        publishing.abort();
        // The server lists no resource of the template.
        let nowhere = Changes::new(|_| panic!("nothing is watched"));
        let error = caller.watch::<Error>(0, None, nowhere).await.unwrap_err();
        assert!(
            matches!(&error, Error::InvalidParams(invalid) if invalid.message.contains("watch_one")),
            "{error:?}"
        );
    }
}
