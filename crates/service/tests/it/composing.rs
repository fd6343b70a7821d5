//! Several services as one server.

use std::sync::Arc;

use serde_json::json;
use switchboard_design::{Design, ToolDef};
use switchboard_protocol::{CallToolResult, Content};
use switchboard_service::{
    BuildError, Call, Changes, Contents, Cx, Dispatch, EventsHandle, Prompt, ServiceBuilder, Working, rt,
};

use crate::stage::{ERAS, MODERN, Shop, ask, outcome, session};

/// A second service: one tool with a name that the first has too, and one of its own.
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
    fn call_tool(&self, tool: usize, _: Call) -> Working<CallToolResult> {
        Box::pin(async move { Ok(CallToolResult::new([Content::text(format!("note {tool}"))])) })
    }
    fn read_resource(&self, _: usize, _: Call) -> Working<Contents> {
        rt::no_such()
    }
    fn get_prompt(&self, _: usize, _: Call) -> Working<Prompt> {
        rt::no_such()
    }
    fn watch(&self, _: usize, _: Cx, _: Changes) -> Working<()> {
        rt::no_such()
    }
    fn complete(&self, _: usize, _: Call) -> Working<Vec<String>> {
        rt::no_such()
    }
}

#[tokio::test]
async fn two_services_are_one_server_and_each_call_goes_to_whose_it_is() {
    let server = Shop::builder().and_prefixed("notes_", Notes::builder()).build().unwrap();
    assert_eq!(server.instructions(), Some("Ask nicely.\n\nWrite it down."));
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
async fn what_one_of_them_denies_stays_denied() {
    let server = Notes::builder().and(Shop::builder().deny_resources(["text://a"])).build();
    // The name that both have is a mistake of its own; with a prefix there is none.
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
async fn three_are_one_as_well() {
    let builder = Notes::builder().and_prefixed("a_", Notes::builder()).and_prefixed("b_", Notes::builder());
    let session = builder.connect().await.unwrap();
    let names: Vec<String> =
        session.list_tools().await.unwrap().iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["echo", "jot", "a_echo", "a_jot", "b_echo", "b_jot"]);
    assert_eq!(outcome(&session, "b_jot", json!({})).await.1, "note 1");
}

#[test]
fn what_both_have_is_a_mistake_that_names_both() {
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
async fn the_events_of_both_are_heard() {
    let (shop_events, shop_feed) = EventsHandle::channel(4);
    let (note_events, note_feed) = EventsHandle::channel(4);
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
