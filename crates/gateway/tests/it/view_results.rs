//! Large results of views: kept, and read by handle.

use std::time::Duration;

use switchboard::client::CallError;
use switchboard::gateway::policy::Policy;
use switchboard::gateway::{GatewayOptions, ResultLimits};
use switchboard::json;
use switchboard_session::ClientSession;
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::Side;
use crate::shop::{ShopBench, large_text, tool_names};

trials! {
    trial_leaving_tasks:
        a_large_result_is_read_in_parts_and_searched,
        structured_content_passes_whole_where_a_schema_demands_it,
        a_handle_belongs_to_its_principal_and_view,
        the_policy_of_the_tool_applies_to_its_results,
        handles_expire_and_make_room,
}

const VIEWS: &str = r#"
[views.v]
servers = "one"
prefix = "never"
large_results = { above = 2_000, head = 20 }
[views.w]
servers = "one"
prefix = "never"
large_results = { above = 2_000 }
[views.plain]
servers = "one"
prefix = "never"
"#;

const SIDES: [Side; 2] = [Side::Legacy, Side::Modern];

/// Calls a tool and returns the handle of its result.
async fn handle(session: &ClientSession, tool: &str) -> String {
    let text = session.call_tool(tool, json!({})).await.unwrap().text();
    let (_, rest) = text.split_once("handle \"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

async fn a_large_result_is_read_in_parts_and_searched() {
    for side in SIDES {
        let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
        let session = bench.client(side, "v", "ada").await;
        assert!(tool_names(&session).await.contains(&"read_result".to_owned()), "{side:?}");
        let plain = bench.client(side, "plain", "ada").await;
        assert!(!tool_names(&plain).await.contains(&"read_result".to_owned()), "{side:?}");
        assert_eq!(plain.call_tool("large", json!({})).await.unwrap().text(), large_text());
        // Small results pass.
        assert_eq!(session.call_tool("combined", json!({ "a": 1 })).await.unwrap().text(), r#"{"a":1}"#);

        let shortened = session.call_tool("large", json!({})).await.unwrap().text();
        assert!(shortened.starts_with(&large_text()[..20]) && shortened.len() < 300, "{side:?} {shortened}");
        let handle = handle(&session, "large").await;
        let mut whole = String::new();
        while whole.len() < large_text().len() {
            let arguments = json!({ "handle": handle, "offset": whole.len(), "length": 5_000 });
            let part = session.call_tool("read_result", arguments).await.unwrap();
            whole.push_str(part.content[0].as_text().unwrap());
        }
        assert_eq!(whole, large_text(), "{side:?}");
        let found = session.call_tool("read_result", json!({ "handle": handle, "search": "needle" })).await;
        let offset = large_text().find("needle").unwrap();
        assert!(found.unwrap().text().starts_with(&format!("offset {offset}: ")), "{side:?}");
        assert_eq!(bench.calls().len(), 4, "{side:?}: reading reaches no server");
        bench.host.close().await;
    }
}

async fn structured_content_passes_whole_where_a_schema_demands_it() {
    for side in SIDES {
        let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
        let session = bench.client(side, "v", "ada").await;
        let report = session.call_tool("report", json!({})).await.unwrap();
        let rows: serde_json::Value = report.structured_content.as_ref().unwrap().decode().unwrap();
        assert_eq!(rows["rows"], large_text(), "{side:?}");
        assert!(report.text().len() < 300 && report.text().contains("handle"), "{side:?}");
        bench.host.close().await;
    }
}

/// Returns the reason why a handle cannot be read.
async fn refused(session: &ClientSession, handle: &str) -> String {
    match session.call_tool("read_result", json!({ "handle": handle })).await.unwrap_err() {
        CallError::Remote(error) => {
            let data: serde_json::Value = error.data.unwrap().decode().unwrap();
            data["reason"].as_str().unwrap().to_owned()
        }
        other => panic!("{other}"),
    }
}

async fn a_handle_belongs_to_its_principal_and_view() {
    for side in SIDES {
        let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
        let ada = bench.client(side, "v", "ada").await;
        let handle = handle(&ada, "large").await;
        let bob = bench.client(side, "v", "bob").await;
        assert_eq!(refused(&bob, &handle).await, "result_expired", "{side:?}: of another principal");
        let elsewhere = bench.client(side, "w", "ada").await;
        assert_eq!(refused(&elsewhere, &handle).await, "result_expired", "{side:?}: of another view");
        let nameless = bench.client(side, "v", "Ada").await;
        assert_eq!(refused(&nameless, &handle).await, "result_expired", "{side:?}: of a variant of the name");
        for variant in [handle.to_uppercase(), format!("{handle} "), String::new(), format!("0{handle}")] {
            if variant != handle {
                assert_eq!(refused(&ada, &variant).await, "result_expired", "{side:?} {variant:?}");
            }
        }
        assert!(ada.call_tool("read_result", json!({ "handle": handle })).await.is_ok(), "{side:?}");
        // A view without handles has no such tool.
        let plain = bench.client(side, "plain", "ada").await;
        match plain.call_tool("read_result", json!({ "handle": handle })).await.unwrap_err() {
            CallError::Remote(error) => {
                assert!(error.message.starts_with("Unknown tool"), "{}", error.message)
            }
            other => panic!("{other}"),
        }
        bench.host.close().await;
    }
}

async fn the_policy_of_the_tool_applies_to_its_results() {
    for side in SIDES {
        let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
        let session = bench.client(side, "v", "ada").await;
        let kept = handle(&session, "large").await;
        for rule in [
            "tool = \"large\"",
            "kind = \"result-handle\"",
            "server = \"one\"",
            "tool = \"large\"\narguments = { secret = { exists = false } }",
        ] {
            let policy = format!("default = \"allow\"\n[[rule]]\neffect = \"deny\"\n{rule}");
            bench.gateway.set_policy(Policy::parse(&policy).unwrap());
            assert_eq!(refused(&session, &kept).await, "result_expired", "{side:?} {rule}");
        }
        bench.gateway.set_policy(Policy::allow_all());
        assert!(session.call_tool("read_result", json!({ "handle": kept })).await.is_ok(), "{side:?}");
        bench.host.close().await;
    }
}

async fn handles_expire_and_make_room() {
    let limits = ResultLimits::default().with_per_principal(2 * large_text().len());
    let bench = ShopBench::open(VIEWS, GatewayOptions::default().with_results(limits)).await;
    let session = bench.client(Side::Modern, "v", "ada").await;
    let first = handle(&session, "large").await;
    let second = handle(&session, "large").await;
    assert_eq!(refused(&session, &first).await, "result_expired", "only one fits");
    assert!(session.call_tool("read_result", json!({ "handle": second })).await.is_ok());
    bench.host.close().await;

    let brief = ResultLimits::default().with_lifetime(Duration::ZERO);
    let bench = ShopBench::open(VIEWS, GatewayOptions::default().with_results(brief)).await;
    let session = bench.client(Side::Modern, "v", "ada").await;
    let expired = handle(&session, "large").await;
    assert_eq!(refused(&session, &expired).await, "result_expired");
    bench.host.close().await;

    // What is larger than the room of a principal passes whole.
    let tiny = ResultLimits::default().with_per_principal(1_000);
    let bench = ShopBench::open(VIEWS, GatewayOptions::default().with_results(tiny)).await;
    let session = bench.client(Side::Modern, "v", "ada").await;
    assert_eq!(session.call_tool("large", json!({})).await.unwrap().text(), large_text());
    bench.host.close().await;
}
