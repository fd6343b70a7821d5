//! What each `Accept` is answered with: a plain result, a tool that speaks, a listen stream, an error.

use serde_json::{Value, json};
use switchboard::client::RevisionPolicy;
use switchboard::server::{HttpServerOptions, ListenerLimits};

use crate::http_faults::raw::{Answer, Stand, call, modern};

const JSON: &str = "accept: application/json";
const EVENTS: &str = "accept: text/event-stream";
const BOTH: &str = "accept: application/json, text/event-stream";
const TURNED: &str = "accept: text/event-stream, application/json";
const ANY: &str = "accept: */*";
const NEITHER: &str = "accept: text/html";

fn accept(header: &'static str) -> Vec<&'static str> {
    if header.is_empty() { Vec::new() } else { vec![header] }
}

async fn called(stand: &Stand, tool: &str, header: &'static str) -> Answer {
    stand.ask(&call(tool, &accept(header))).await
}

/// Whether it is a stream, and how many messages it has.
fn form(answer: &Answer) -> (u16, bool, usize) {
    (answer.status, answer.is_stream(), answer.messages().len())
}

#[tokio::test]
async fn accept_of_a_plain_result() {
    let stand = Stand::open().await;
    for (header, stream) in
        [(JSON, false), (EVENTS, true), (BOTH, false), (TURNED, false), (ANY, false), ("", false)]
    {
        let answer = called(&stand, "echo", header).await;
        assert_eq!(form(&answer), (200, stream, 1), "{header:?}");
        assert_eq!(answer.last()["result"]["content"][0]["text"], "{}");
    }
}

#[tokio::test]
async fn accept_of_a_tool_that_speaks() {
    let stand = Stand::open().await;
    for (header, stream, messages) in [
        (JSON, false, 1),
        (EVENTS, true, 2),
        (BOTH, true, 2),
        (TURNED, true, 2),
        (ANY, false, 1),
        ("", false, 1),
    ] {
        let answer = called(&stand, "speaks", header).await;
        assert_eq!(form(&answer), (200, stream, messages), "{header:?}");
        assert_eq!(answer.last()["result"]["content"][0]["text"], "spoken");
    }
}

#[tokio::test]
async fn accept_of_a_listen_stream() {
    let stand = Stand::open().await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    for header in [EVENTS, BOTH, ANY, ""] {
        let mut wire = stand.connect().await;
        wire.write(&modern(&json!("l"), "subscriptions/listen", params.clone(), &accept(header))).await;
        let begun = wire.until("subscriptions/acknowledged").await;
        assert!(begun.contains("content-type: text/event-stream"), "{header:?}: {begun}");
    }
    let refused = stand.ask(&modern(&json!("l"), "subscriptions/listen", params, &[JSON])).await;
    assert_eq!(refused.status, 406);
}

#[tokio::test]
async fn accept_of_neither_is_not_acceptable() {
    let stand = Stand::open().await;
    for tool in ["echo", "speaks", "fails"] {
        let refused = called(&stand, tool, NEITHER).await;
        assert_eq!(refused.status, 406);
        assert!(refused.last().get("id").is_none(), "{}", refused.body);
    }
}

#[tokio::test]
async fn accept_does_not_change_an_error() {
    let stand = Stand::open().await;
    // Before anything was said, after it, and for a tool there is not.
    for tool in ["fails", "speaks_and_fails", "nothing"] {
        let mut errors: Vec<Value> = Vec::new();
        for header in [JSON, EVENTS, BOTH, ANY, ""] {
            let answer = called(&stand, tool, header).await;
            assert_eq!(answer.status, 200, "{tool} {header:?}");
            errors.push(answer.last()["error"].clone());
        }
        assert_eq!(errors[0]["code"], -32602);
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    }
    // A refusal at the door is a document whatever is accepted, with its status.
    let mut refusals = Vec::new();
    for header in [JSON, EVENTS, BOTH, ANY, ""] {
        let answer = stand.ask(&modern(&json!(1), "no/such", json!({}), &accept(header))).await;
        assert_eq!(answer.status, 404, "{header:?}");
        refusals.push(answer.last()["error"].clone());
    }
    assert_eq!(refusals[0]["code"], -32601);
    assert!(refusals.iter().all(|error| *error == refusals[0]), "{refusals:?}");
}

#[tokio::test]
async fn accept_keeps_the_type_of_the_id() {
    let stand = Stand::open().await;
    for id in [json!(7), json!("7"), json!(-1), json!("ü"), json!(9_007_199_254_740_993_i64)] {
        for header in [JSON, EVENTS] {
            for tool in ["echo", "fails"] {
                let params = json!({"name": tool, "arguments": {}});
                let answer = stand.ask(&modern(&id, "tools/call", params, &[header])).await;
                assert_eq!(answer.last()["id"], id, "{header}");
            }
        }
    }
}

#[tokio::test]
async fn accept_that_names_streams_gets_them_when_it_is_set() {
    let mut options = HttpServerOptions::default();
    options.sse_when_accepted = true;
    let stand = Stand::with(options, ListenerLimits::default(), RevisionPolicy::Any).await;
    for (header, stream) in [(JSON, false), (EVENTS, true), (BOTH, true), (ANY, false), ("", false)] {
        for tool in ["echo", "fails", "panics_later"] {
            let answer = called(&stand, tool, header).await;
            assert_eq!(form(&answer), (200, stream, 1), "{tool} {header:?}");
        }
        let listed = stand.ask(&modern(&json!(1), "tools/list", json!({}), &accept(header))).await;
        assert_eq!(listed.is_stream(), header == EVENTS, "a list needs no stream: {header:?}");
    }
}

#[tokio::test]
async fn accept_of_streams_comes_with_what_proxies_need() {
    let stand = Stand::open().await;
    let answer = called(&stand, "speaks", BOTH).await;
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
}
