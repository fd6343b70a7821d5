//! The order and the number of events.

use serde_json::{Value, json};
use switchboard_protocol::Tool;
use switchboard_testkit::{trial_leaving_tasks, trials, wait_until};

use crate::page::Page;
use crate::workshop::{LEGACY, MODERN, Running};

trials! {
    trial_leaving_tasks:
        readers_see_the_same_events_in_order,
        a_flood_of_changes_is_few_events,
        a_snapshot_and_the_events_after_it_have_every_sample_once,
}

async fn readers_see_the_same_events_in_order() {
    let (modern, legacy) = (Running::new(MODERN), Running::new(LEGACY));
    let page = Page::open(|host| host, [("one", modern.spec()), ("two", legacy.spec())]).await;
    let sequence = page.fetch("/api/snapshot").await["sequence"].as_u64().unwrap();
    let (first, second) = (page.events(Some(sequence)).await, page.events(Some(sequence)).await);
    let mut calls = Vec::new();
    for number in 0..10 {
        let server = if number % 2 == 0 { "one" } else { "two" };
        calls.push(page.call(server, "steps", "{}").await);
    }
    for call in &calls {
        assert_eq!(page.outcome(&first, *call).await["type"], "ok");
        assert_eq!(page.outcome(&second, *call).await["type"], "ok");
    }
    for events in [&first, &second] {
        let all = events.all();
        assert!(all.is_sorted_by(|(one, _), (two, _)| one < two), "numbers ascend");
        assert!(all.iter().all(|(_, event)| event["type"] != "gap"));
        for call in &calls {
            let states: Vec<&Value> = all
                .iter()
                .filter(|(_, event)| event["type"] == "call" && event["call"]["call"] == *call)
                .map(|(_, event)| &event["call"]["state"]["type"])
                .collect();
            let finished = states.iter().filter(|state| **state == "finished").count();
            assert_eq!((finished, states.last().copied()), (1, Some(&json!("finished"))), "{states:?}");
        }
    }
    page.close().await;
}

async fn a_flood_of_changes_is_few_events() {
    let running = Running::new(MODERN);
    let page = Page::open(|host| host, [("shop", running.spec())]).await;
    let events = page.events(None).await;
    for number in 0..2_000 {
        let added = Tool::new(format!("tool_{number}"), json!({"type": "object"}));
        running.workshop.tools.lock().push(added);
        running.server.publisher().tools_changed();
        running.server.publisher().resources_changed();
        if number % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    wait_until("all tools", || page.host.server_tools().len() == 2_015).await;
    let revision = page.host.catalog().revision();
    let current = |event: &Value| event["type"] == "catalog" && event["revision"] == revision;
    events.wait_for("the catalog", current).await;
    let counted = |event: &Value| event["type"] == "server" && event["server"]["counts"]["tools"] == 2_015;
    events.wait_for("the server", counted).await;
    let published = events.of_type("server").len() + events.of_type("catalog").len();
    assert!(published < 200, "{published} events for 4,000 changes");
    page.close().await;
}

async fn a_snapshot_and_the_events_after_it_have_every_sample_once() {
    let running = Running::new(MODERN);
    let page = Page::open(|host| host, [("shop", running.spec())]).await;
    let opened = page.events(None).await;
    for _ in 0..5 {
        let call = page.call("shop", "echo", "{}").await;
        page.outcome(&opened, call).await;
    }
    let snapshot = page.fetch("/api/snapshot").await;
    let later = page.events(snapshot["sequence"].as_u64()).await;
    let known = snapshot["servers"][0]["latency"].as_array().unwrap().len();
    let count = || {
        let events = later.of_type("latency");
        known + events.iter().map(|event| event["samples"].as_array().unwrap().len()).sum::<usize>()
    };
    wait_until("all samples", || count() >= 5).await;
    assert_eq!(count(), 5);
    let metrics = page.fetch("/api/snapshot").await["servers"][0]["metrics"].clone();
    assert_eq!(metrics["calls"], 5);
    assert!(metrics["p50Ms"].as_f64().unwrap() <= metrics["p95Ms"].as_f64().unwrap());
    page.close().await;
}
