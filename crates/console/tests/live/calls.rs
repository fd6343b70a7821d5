//! Calls: what the server receives, what the page sees of it, cancelling, permissions.

use serde_json::{Value, json};
use switchboard_host::permission::{FallbackPolicy, Policy, Rule, Rules, Verdict};
use switchboard_testkit::{trial_leaving_tasks, trials, wait_until};

use crate::page::{Page, tool_call};
use crate::workshop::{LEGACY, MODERN, Running, child};

trials! {
    trial_leaving_tasks:
        arguments_and_results_keep_their_text_in_both_eras,
        progress_and_log_messages_are_shown,
        a_cancelled_call_is_cancelled_on_the_server,
        a_call_has_the_number_of_its_frames,
        permissions_are_asked_and_denials_are_kept,
        resources_prompts_and_completions_are_requested,
        what_cannot_be_called_is_refused_at_once,
        a_large_result_is_cut_unless_the_whole_is_requested,
        a_call_of_a_child_process_times_out,
}

async fn arguments_and_results_keep_their_text_in_both_eras() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let arguments = r#"{"b":9007199254740993,"a":1.00}"#;
        let call = page.call("shop", "echo", arguments).await;
        let outcome = page.outcome(&events, call).await;
        assert_eq!(outcome["type"], "ok");
        assert_eq!(*running.seen().arguments.lock(), [arguments], "the server got the text");
        let result = page.fetch(&format!("/api/calls/{call}/result")).await;
        let text = result["resultJson"].as_str().unwrap();
        assert!(text.contains("9007199254740993") && text.contains("1.00"), "{text}");
        assert_eq!((&result["bytes"], &result["truncated"]), (&json!(text.len()), &json!(false)));
        let failed = page.call("shop", "fail", "{}").await;
        assert_eq!(page.outcome(&events, failed).await["type"], "toolError");
        let latency = events.wait_for("latencies", |event| event["type"] == "latency").await;
        assert_eq!(latency["server"], "shop");
        let snapshot = page.fetch("/api/snapshot").await;
        let calls: Vec<&Value> =
            snapshot["calls"].as_array().unwrap().iter().map(|call| &call["call"]).collect();
        assert_eq!(calls, [&json!(call), &json!(failed)]);
        page.close().await;
    }
}

async fn progress_and_log_messages_are_shown() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let call = page.call("shop", "steps", "{}").await;
        page.outcome(&events, call).await;
        let snapshot = page.fetch("/api/snapshot").await;
        let call = &snapshot["calls"][0];
        assert_eq!((&call["progress"]["progress"], &call["progress"]["total"]), (&json!(3.0), &json!(3.0)));
        let logs: Vec<&str> =
            call["logs"].as_array().unwrap().iter().map(|log| log["message"].as_str().unwrap()).collect();
        assert_eq!(logs, ["workshop: step 1", "workshop: step 2", "workshop: step 3"], "{revisions:?}");
        assert_eq!(call["logs"][0]["level"], "warning");
        page.close().await;
    }
}

async fn a_cancelled_call_is_cancelled_on_the_server() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let call = page.call("shop", "forever", "{}").await;
        wait_until("the call", || running.calls() == 1).await;
        assert_eq!(page.get(&format!("/api/calls/{call}/result")).await.1["code"], "not_finished");
        assert_eq!(page.post(&format!("/api/calls/{call}/cancel"), &json!({})).await.0, 202);
        assert_eq!(page.outcome(&events, call).await["type"], "cancelled");
        wait_until("the end on the server", || running.dropped() == 1).await;
        assert_eq!(page.post("/api/calls/999999/cancel", &json!({})).await.1["code"], "unknown_call");
        page.close().await;
    }
}

async fn a_call_has_the_number_of_its_frames() {
    let running = Running::new(MODERN);
    let page = Page::open(|host| host, [("shop", running.spec())]).await;
    let events = page.events(None).await;
    page.fetch("/api/traffic?after=0&limit=1").await;
    let call = page.call("shop", "echo", "{}").await;
    page.outcome(&events, call).await;
    let traffic = page.fetch("/api/traffic?after=0&limit=2000").await;
    let frames = traffic["frames"].as_array().unwrap();
    let of_call = frames.iter().filter(|frame| frame["call"] == call && frame["method"] == "tools/call");
    assert_eq!(of_call.count(), 2, "request and response: {frames:?}");
    page.close().await;
}

async fn permissions_are_asked_and_denials_are_kept() {
    let running = Running::new(MODERN);
    let rules = Rules::new([
        Rule::new(Verdict::Ask, "mcp__shop__delete").unwrap(),
        Rule::new(Verdict::Deny, "mcp__shop__fail").unwrap(),
    ]);
    let policy = Policy::new(rules).with_fallback(FallbackPolicy::AllowAll);
    let page = Page::open(|host| host.permissions(policy), [("shop", running.spec())]).await;
    let events = page.events(None).await;
    let mut request = tool_call("shop", "delete", "{}");
    let (status, error) = page.post("/api/calls", &request).await;
    assert_eq!((status, &error["code"]), (409, &json!("confirmation_required")), "{error}");
    assert_eq!(running.calls(), 0, "nothing was sent");
    request["confirmed"] = json!(true);
    let (status, started) = page.post("/api/calls", &request).await;
    assert_eq!(status, 202, "{started}");
    assert_eq!(page.outcome(&events, started["call"].as_u64().unwrap()).await["type"], "ok");
    assert_eq!(running.calls(), 1);
    let mut denied = tool_call("shop", "fail", "{}");
    denied["confirmed"] = json!(true);
    let (status, error) = page.post("/api/calls", &denied).await;
    assert_eq!((status, &error["code"]), (403, &json!("denied")));
    assert!(error["message"].as_str().unwrap().contains("mcp__shop__fail"), "{error}");
    assert_eq!(running.calls(), 1, "a denied call is not sent, confirmed or not");
    let detail = page.fetch("/api/tool?server=shop&name=fail").await;
    assert_eq!(detail["permission"]["type"], "deny");
    let why = page.fetch("/api/why?kind=tool&server=shop&name=fail").await;
    assert_eq!(why["verdict"], "refused", "{why}");
    page.close().await;
}

async fn resources_prompts_and_completions_are_requested() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let requests = [
            (json!({"type": "resource", "server": "shop", "uri": "note://today"}), "Buy milk."),
            (
                json!({"type": "prompt", "server": "shop", "name": "greet", "arguments": {"name": "Ada"}}),
                "Greet Ada.",
            ),
        ];
        for (request, text) in requests {
            let (status, started) = page.post("/api/calls", &request).await;
            assert_eq!(status, 202, "{started}");
            let call = started["call"].as_u64().unwrap();
            assert_eq!(page.outcome(&events, call).await["type"], "ok");
            let result = page.fetch(&format!("/api/calls/{call}/result?full=1")).await;
            assert!(result["resultJson"].as_str().unwrap().contains(text), "{result}");
        }
        let request = json!({
            "server": "shop", "reference": {"type": "prompt", "name": "greet"}, "argument": "name",
            "value": "A", "context": {}
        });
        let (status, answer) = page.post("/api/complete", &request).await;
        assert_eq!((status, &answer["values"]), (200, &json!(["Ada"])));
        page.close().await;
    }
}

async fn what_cannot_be_called_is_refused_at_once() {
    let running = Running::new(MODERN);
    let page = Page::open(|host| host, [("shop", running.spec().deny_tools(["large"]))]).await;
    for (request, status, code) in [
        (tool_call("nowhere", "echo", "{}"), 404, "unknown_server"),
        (tool_call("shop", "nothing", "{}"), 404, "unknown_tool"),
        (tool_call("shop", "large", "{}"), 403, "denied"),
        (tool_call("shop", "echo", "[1]"), 400, "invalid_arguments"),
        (tool_call("shop", "echo", "{"), 400, "invalid_arguments"),
        (tool_call("shop", "typed", r#"{"count":"one"}"#), 400, "invalid_arguments"),
    ] {
        let (found, error) = page.post("/api/calls", &request).await;
        assert_eq!((found, &error["code"]), (status, &json!(code)), "{request}: {error}");
        assert!(error["nextStep"].is_string(), "{error}");
    }
    assert_eq!(running.calls(), 0);
    page.close().await;
}

async fn a_large_result_is_cut_unless_the_whole_is_requested() {
    let running = Running::new(MODERN);
    let page = Page::open(|host| host, [("shop", running.spec())]).await;
    let events = page.events(None).await;
    let call = page.call("shop", "large", "{}").await;
    page.outcome(&events, call).await;
    let cut = page.fetch(&format!("/api/calls/{call}/result")).await;
    assert_eq!((cut["resultJson"].as_str().unwrap().len(), &cut["truncated"]), (65_536, &json!(true)));
    let whole = page.fetch(&format!("/api/calls/{call}/result?full=1")).await;
    let text = whole["resultJson"].as_str().unwrap();
    assert_eq!((&whole["bytes"], &whole["truncated"]), (&json!(text.len()), &json!(false)));
    assert!(text.len() > 200_000);
    page.close().await;
}

async fn a_call_of_a_child_process_times_out() {
    for part in ["modern", "legacy"] {
        let page = Page::open(|host| host, [("shop", child(part))]).await;
        let events = page.events(None).await;
        let mut request = tool_call("shop", "forever", "{}");
        request["timeoutMs"] = json!(50);
        let (_, started) = page.post("/api/calls", &request).await;
        let outcome = page.outcome(&events, started["call"].as_u64().unwrap()).await;
        assert_eq!(outcome["type"], "error", "{outcome}");
        assert!(outcome["nextStep"].is_string());
        page.close().await;
    }
}
