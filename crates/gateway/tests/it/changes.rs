//! Changes: lists and resources, announced in both eras, with one upstream subscription for each resource.

use switchboard::client::Change;
use switchboard::json;
use switchboard::protocol::ListenFilter;
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::cells;
use crate::person::Person;

trials! {
    trial_leaving_tasks:
        changed_lists_are_announced_after_they_have_changed,
        updates_of_a_resource_reach_every_subscriber_by_one_upstream_subscription,
        a_resource_without_an_owner_cannot_be_subscribed_to,
}

async fn changed_lists_are_announced_after_they_have_changed() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let filter = ListenFilter::new()
            .with_tools_list_changed(true)
            .with_prompts_list_changed(true)
            .with_resources_list_changed(true);
        let mut changes = session.listen(filter).await.unwrap();
        session.call_tool("up__toggle", json!({})).await.unwrap();
        let (mut tools, mut prompts, mut resources) = (false, false, false);
        while !(tools && prompts && resources) {
            match changes.next().await.unwrap() {
                Change::Tools => {
                    tools = true;
                    assert!(
                        session.refresh_tools().await.unwrap().by_name("up__extra").is_some(),
                        "{cell:?}"
                    );
                }
                Change::Prompts => {
                    prompts = true;
                    assert!(
                        session.refresh_prompts().await.unwrap().by_name("up__extra").is_some(),
                        "{cell:?}"
                    );
                }
                Change::Resources => {
                    resources = true;
                    let list = session.refresh_resources().await.unwrap();
                    assert!(list.by_name("note://extra").is_some(), "{cell:?}");
                }
                _ => {}
            }
        }
        bench.close().await;
    }
}

async fn updates_of_a_resource_reach_every_subscriber_by_one_upstream_subscription() {
    for cell in cells() {
        let bench = cell.open().await;
        let mut sessions = Vec::new();
        let mut subscriptions = Vec::new();
        for name in ["ada", "bob"] {
            let session = bench.client(&Person::new(name)).await;
            subscriptions.push(session.subscribe("note://one").await.unwrap());
            sessions.push(session);
        }
        bench.counted("subscribed", 1).await;
        bench.host.call_tool("up", "touch", json!({})).await.unwrap();
        for subscription in &mut subscriptions {
            let change = subscription.next().await;
            assert!(
                matches!(&change, Some(Change::Resource { uri }) if uri == "note://one"),
                "{cell:?}: {change:?}"
            );
        }
        assert_eq!(bench.gateway.status().subscriptions, 1, "{cell:?}");
        subscriptions.pop();
        // The other client is still served.
        bench.host.call_tool("up", "touch", json!({})).await.unwrap();
        assert!(subscriptions[0].next().await.is_some(), "{cell:?}");
        bench.counted("subscribed", 1).await;
        subscriptions.clear();
        bench.counted("subscribed", 0).await;
        bench.close().await;
    }
}

async fn a_resource_without_an_owner_cannot_be_subscribed_to() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        assert!(session.subscribe("file:///etc/passwd").await.is_err(), "{cell:?}");
        assert_eq!(bench.gateway.status().subscriptions, 0, "{cell:?}");
        bench.close().await;
    }
}
