//! Several services in one server.

use std::sync::Arc;

use serde_json::json;
use switchboard_design::{Design, ToolDef};
use switchboard_protocol::{CallToolResult, Content};
use switchboard_service::{
    BuildError, Call, CallFuture, Changes, Contents, Cx, Dispatch, EventPublisher, PromptMessages,
    ServiceBuilder, rt,
};

use crate::sessions::{ERAS, MODERN, ask, outcome, session};
use crate::shop::Shop;

/// A second service: one tool name that the first service has too, and one of its own.
struct Notes(Arc<Design>);

impl Notes {
    fn builder() -> ServiceBuilder {
        let design = Design::new("notes", "2.0.0")
            .with_instructions("Write it down.")
            .with_tools([ToolDef::new("echo", "Not the same."), ToolDef::new("jot", "Jots.")]);
        ServiceBuilder::new(Arc::new(Self(Arc::new(design))))
    }
}

impl Dispatch for Notes {
    fn design(&self) -> &Arc<Design> {
        &self.0
    }
    fn call_tool(&self, tool: usize, _: Call) -> CallFuture<CallToolResult> {
        Box::pin(async move { Ok(CallToolResult::new([Content::text(format!("note {tool}"))])) })
    }
    fn read_resource(&self, _: usize, _: Call) -> CallFuture<Contents> {
        rt::unknown_index()
    }
    fn get_prompt(&self, _: usize, _: Call) -> CallFuture<PromptMessages> {
        rt::unknown_index()
    }
    fn watch(&self, _: usize, _: Cx, _: Changes) -> CallFuture<()> {
        rt::unknown_index()
    }
    fn complete(&self, _: usize, _: Call) -> CallFuture<Vec<String>> {
        rt::unknown_index()
    }
}

#[tokio::test]
async fn calls_are_routed_to_the_composed_service_that_has_the_item() {
    let server = Shop::builder().and_prefixed("notes_", Notes::builder()).build().unwrap();
    assert_eq!(server.instructions().as_deref(), Some("Ask nicely.\n\nWrite it down."));
    for revision in ERAS {
        let session = session(&server, revision).await;
        let tools = session.list_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.last_chunk(), Some(&["maybe", "notes_echo", "notes_jot"]), "{revision}");
        assert_eq!(outcome(&session, "echo", json!({"text": "shop"})).await.1, "shop", "{revision}");
        assert_eq!(outcome(&session, "notes_echo", json!({})).await.1, "note 0", "{revision}");
        assert_eq!(outcome(&session, "notes_jot", json!({})).await.1, "note 1", "{revision}");
        assert!(ask(&session, "resources/read", json!({"uri": "text://a"})).await.is_ok(), "{revision}");
    }
}

#[tokio::test]
async fn resources_denied_by_one_service_stay_denied() {
    let server = Notes::builder().and(Shop::builder().deny_resources(["text://a"])).build();
    // The shared name is an error of its own; a prefix avoids it.
    assert!(server.is_err());
    let server = Notes::builder().and_prefixed("shop_", Shop::builder().deny_resources(["text://a"]));
    let server = server.build().unwrap();
    for revision in ERAS {
        let session = session(&server, revision).await;
        assert!(ask(&session, "resources/read", json!({"uri": "text://a"})).await.is_err(), "{revision}");
        assert!(ask(&session, "resources/read", json!({"uri": "text://b"})).await.is_ok(), "{revision}");
    }
}

#[tokio::test]
async fn three_services_can_be_composed() {
    let builder = Notes::builder().and_prefixed("a_", Notes::builder()).and_prefixed("b_", Notes::builder());
    let session = builder.connect().await.unwrap();
    let names: Vec<String> =
        session.list_tools().await.unwrap().iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["echo", "jot", "a_echo", "a_jot", "b_echo", "b_jot"]);
    assert_eq!(outcome(&session, "b_jot", json!({})).await.1, "note 1");
}

#[test]
fn a_collision_names_both_services() {
    match Shop::builder().and(Notes::builder()).and(Shop::builder()).build() {
        Err(BuildError::Collisions(collisions)) => {
            let first = collisions.0[0].to_string();
            assert_eq!(first, "the tool `echo` is in both `shop` and `notes`; give one of them a prefix");
            let uris = collisions.0.iter().filter(|collision| collision.name == "text://{id}").count();
            assert_eq!(uris, 1, "{collisions}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn events_of_both_services_are_delivered() {
    let (shop_events, shop_feed) = EventPublisher::channel(4);
    let (note_events, note_feed) = EventPublisher::channel(4);
    let builder =
        Shop::builder().events(shop_feed).and_prefixed("notes_", Notes::builder().events(note_feed));
    let server = builder.build().unwrap();
    let session = session(&server, MODERN).await;
    let mut watched = session.subscribe("text://a").await.unwrap();
    for events in [shop_events, note_events] {
        events.resource_changed("text://a");
        tokio::time::timeout(std::time::Duration::from_secs(120), watched.next()).await.unwrap().unwrap();
    }
}
