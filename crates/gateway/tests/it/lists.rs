//! Lists: from memory, paged, with collisions withheld and clashing URIs rewritten.

use switchboard::gateway::{Gateway, GatewayOptions, PrefixPolicy};
use switchboard::protocol::method::{ListResources, ListTools};
use switchboard::protocol::{ListToolsResult, PageParams, Raw, ResourceBody};
use switchboard::{Client, InProcess, json};
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::{Cell, Reach, Side, cells};
use crate::person::Person;
use crate::upstream;

trials! {
    trial_leaving_tasks:
        every_list_has_the_items_of_the_upstream,
        colliding_names_are_withheld_with_a_reason,
        clashing_uris_are_rewritten_and_both_can_be_read,
        cursors_survive_changes_of_the_list,
        lists_carry_private_cache_hints,
        sleeping_servers_are_listed_from_their_manifests,
}

async fn every_list_has_the_items_of_the_upstream() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let tools = session.list_tools().await.unwrap();
        assert_eq!(tools.len(), upstream::TOOLS.len(), "{cell:?}");
        assert!(tools.iter().all(|tool| tool.name.starts_with("up__")), "{cell:?}");
        assert_eq!(session.list_prompts().await.unwrap().len(), 2, "{cell:?}");
        assert!(session.list_resources().await.unwrap().by_name("note://one").is_some(), "{cell:?}");
        assert!(
            session.list_resource_templates().await.unwrap().by_name("page://{id}").is_some(),
            "{cell:?}"
        );
        bench.close().await;
    }
}

/// A gateway in front of two servers with the same tools, prompts and resources.
async fn twins(options: GatewayOptions) -> Gateway {
    let host = Gateway::host_builder().build();
    for (name, side) in [("one", Side::Legacy), ("two", Side::Modern)] {
        host.connect(name, InProcess::new(&upstream::build(side.revisions()))).await.unwrap();
    }
    Gateway::new(host, options)
}

async fn colliding_names_are_withheld_with_a_reason() {
    let gateway = twins(GatewayOptions::default().with_prefix(PrefixPolicy::Never)).await;
    gateway.host().call_tool("two", "toggle", json!({})).await.unwrap();
    let session = Client::new().connect(InProcess::new(gateway.server())).await.unwrap();
    // The only tool that one of them alone has.
    loop {
        let tools = session.refresh_tools().await.unwrap();
        if tools.len() == 1 {
            assert_eq!(tools[0].name, "extra");
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(session.call_tool("echo", json!({})).await.is_err(), "a withheld tool is unknown");
    let withheld = gateway.status().withheld;
    assert_eq!(withheld.len(), upstream::TOOLS.len() + 2, "tools and prompts");
    let echo = withheld.iter().find(|item| item.name == "echo").unwrap();
    assert!(echo.to_string().contains(r#""echo" of "one" and "echo" of "two""#), "{echo}");
    gateway.host().close().await;
}

async fn clashing_uris_are_rewritten_and_both_can_be_read() {
    let gateway = twins(GatewayOptions::default()).await;
    let session = Client::new().connect(InProcess::new(gateway.server())).await.unwrap();
    let resources = session.list_resources().await.unwrap();
    for uri in ["gateway://one/note://one", "gateway://two/note://one"] {
        assert!(resources.by_name(uri).is_some(), "{uri}");
        let read = session.read_resource(uri).await.unwrap();
        assert_eq!(read.contents[0].uri, uri);
        assert_eq!(read.contents[0].body, ResourceBody::Text("text of note://one".into()));
    }
    assert!(session.read_resource("note://one").await.is_err(), "it belongs to neither");
    let templates = session.list_resource_templates().await.unwrap();
    assert!(templates.by_name("gateway://two/page://{id}").is_some());
    let read = session.read_resource("gateway://two/page://7").await.unwrap();
    assert_eq!(read.contents[0].body, ResourceBody::Text("text of page://7".into()));
    gateway.host().close().await;
}

async fn cursors_survive_changes_of_the_list() {
    let cell = Cell { client: Side::Modern, upstream: Side::Modern, reach: Reach::InProcess };
    let bench = cell.open_with(GatewayOptions::default().with_page_size(5)).await;
    let session = bench.client(&Person::new("ada")).await;
    let page = async |cursor: Option<String>| -> ListToolsResult {
        let mut params = PageParams::new();
        params.cursor = cursor;
        session.request::<ListTools>(&params).await.unwrap()
    };
    let before = page(None).await;
    assert_eq!(before.tools.len(), 5);
    // Between two pages a tool is added, in front of the cursor.
    bench.host.call_tool("up", "toggle", json!({})).await.unwrap();
    while !bench.host.server_tools().iter().any(|tool| tool.tool().name == "extra") {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let mut names: Vec<String> = before.tools.into_iter().map(|tool| tool.name).collect();
    let mut cursor = before.next_cursor;
    while let Some(next) = cursor {
        let page = page(Some(next)).await;
        names.extend(page.tools.into_iter().map(|tool| tool.name));
        cursor = page.next_cursor;
    }
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "none is repeated: {names:?}");
    assert_eq!(names.len(), upstream::TOOLS.len() + 1, "none is lost: {names:?}");
    let foreign = session.raw_call("tools/list", Raw::from(json!({ "cursor": "Zm9yZWlnbg" }))).await;
    assert!(foreign.is_err());
    bench.close().await;
}

async fn lists_carry_private_cache_hints() {
    let gateway = twins(GatewayOptions::default()).await;
    let modern = Client::new().connect(InProcess::new(gateway.server())).await.unwrap();
    let page = modern.request::<ListTools>(&PageParams::new()).await.unwrap();
    // Legacy results carry no lifetime.
    assert_eq!((page.ttl_ms, page.cache_scope), (Some(0), Some(switchboard::protocol::CacheScope::Private)));
    let page = modern.request::<ListResources>(&PageParams::new()).await.unwrap();
    assert_eq!((page.ttl_ms, page.cache_scope), (Some(0), Some(switchboard::protocol::CacheScope::Private)));
    gateway.host().close().await;
}

async fn sleeping_servers_are_listed_from_their_manifests() {
    use switchboard::host::ServerSpec;
    use switchboard::host::config::StartPolicy;
    let running = Gateway::host_builder().build();
    let server = upstream::build(Side::Modern.revisions());
    running.connect("up", InProcess::new(&server)).await.unwrap();
    let manifest = running.manifest("up").unwrap();
    running.close().await;
    let text = Raw::encode(&manifest).unwrap();
    let manifest: switchboard::host::Manifest = text.decode().unwrap();
    let host = Gateway::host_builder().build();
    let mut spec = ServerSpec::from(InProcess::new(&server));
    spec.start = StartPolicy::WhenUsed;
    spec.manifest = Some(manifest.into());
    host.connect("up", spec).await.unwrap();
    let gateway = Gateway::new(host, GatewayOptions::default());
    let session = Client::new().connect(InProcess::new(gateway.server())).await.unwrap();
    assert_eq!(session.list_tools().await.unwrap().len(), upstream::TOOLS.len());
    assert_eq!(session.list_prompts().await.unwrap().len(), 2);
    assert_eq!(session.list_resources().await.unwrap().len(), 2);
    assert_eq!(session.list_resource_templates().await.unwrap().len(), 1);
    assert_eq!(session.info().unwrap().instructions.as_deref(), Some("# up\n\nAsk before you act."));
    assert!(gateway.host().connected().is_empty(), "nothing was started for it");
    // A call starts it.
    assert_eq!(session.call_tool("up__echo", json!({})).await.unwrap().text(), "{}");
    assert_eq!(gateway.host().connected(), ["up"]);
    gateway.host().close().await;
}
