//! The plain endpoint, message by message.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use switchboard_service::rpc::{MAX_CALLS, RpcService};
use switchboard_transport::http::server::{HttpServerOptions, ReplyBody};

use crate::client::sample;

fn service() -> RpcService {
    RpcService::new(&sample::builder(), HttpServerOptions::default()).unwrap()
}

fn request(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post("/rpc")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(body.into()))
        .unwrap()
}

async fn text(response: Response<ReplyBody>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

async fn answer(body: impl ToString) -> Value {
    let response = service().handle(request(body.to_string())).await;
    serde_json::from_str(&text(response).await).unwrap()
}

async fn call(method: &str, params: Value) -> Value {
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut answered = answer(asked).await;
    assert_eq!((&answered["jsonrpc"], &answered["id"]), (&json!("2.0"), &json!(1)));
    let answered = answered.as_object_mut().unwrap();
    answered.remove("result").unwrap_or_else(|| answered["error"].clone())
}

#[tokio::test]
async fn every_method_is_called_by_its_rust_name() {
    for (method, params, expected) in [
        ("numbers", json!({}), json!([1, 2])),
        ("bench.numbers", json!({}), json!([1, 2])),
        ("fail", json!({"kind": "not at all"}), json!(null)),
        ("slow", json!({"ms": 1}), json!(null)),
        ("shout", json!({"times": 2}), json!(2)),
        ("maybe", json!({}), json!(null)),
        ("maybe", json!({"text": "{}"}), json!("{}")),
        ("echo", json!({"value": {"result": [null]}}), json!({"result": [null]})),
        ("status", json!({}), json!("\"fine\"")),
        ("reset", json!({"all": true, "depth": 3}), json!(3)),
        ("reset", json!({"all": true}), json!(0)),
        (
            "item",
            json!({"id": "a/b", "nums": [1, 2.5], "any": {"x": 1}}),
            json!({"id": "a/b", "nums": [1.0, 2.5], "tag": null, "flag": null, "limit": 10, "any": {"x": 1}}),
        ),
        (
            "item",
            json!({"id": "1"}),
            json!({"id": "1", "nums": [], "tag": null, "flag": null, "limit": 10, "any": null}),
        ),
    ] {
        assert_eq!(call(method, params.clone()).await, expected, "{method} {params}");
    }
    let prompt = call("review", json!({"code": "x = 1", "depth": 2})).await;
    assert_eq!(prompt["messages"][0]["role"], "user");
    let said: Value =
        serde_json::from_str(prompt["messages"][0]["content"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said, json!({"code": "x = 1", "depth": 2, "options": null}));
}

#[tokio::test]
async fn arguments_may_be_positional() {
    assert_eq!(call("reset", json!([true, 4])).await, 4);
    assert_eq!(call("reset", json!([true])).await, 0);
    assert_eq!(call("item", json!(["x", [1]])).await["nums"], json!([1.0]));
    let error = call("reset", json!([true, 4, 5])).await;
    assert_eq!(error["code"], -32602);
    assert_eq!(error["message"], "Invalid arguments: 3 arguments, but the method takes 2");
    assert_eq!(answer(r#"{"jsonrpc":"2.0","id":1,"method":"numbers"}"#).await["result"], json!([1, 2]));
}

#[tokio::test]
async fn every_failure_has_its_code() {
    let kind = |kind: &str| json!({"kind": kind});
    for (method, params, code, message) in [
        ("fail", kind("invalid"), -32602, "kind must be kind"),
        ("fail", kind("own"), -32603, "No such kind"),
        ("fail", kind("own_invalid"), -32602, "of its own"),
        ("fail", kind("own_method"), -32601, "of its own"),
        ("fail", kind("rpc"), -7, "its own code"),
        ("fail", kind("internal"), -32603, "Internal error"),
        ("fail", kind("panic"), -32603, "Internal error"),
        ("nothing", json!({}), -32601, "Method not found: nothing"),
        ("other.numbers", json!({}), -32601, "Method not found: other.numbers"),
        ("secret", json!({}), -32601, "Method not found: secret"),
        ("watch_item", json!({}), -32601, "Method not found: watch_item"),
        ("complete_id", json!({"value": ""}), -32601, "Method not found: complete_id"),
        // A tool is called by its method name.
        ("shout_loud", json!({"times": 1}), -32601, "Method not found: shout_loud"),
        ("fail", json!({}), -32602, "Invalid arguments: `kind` is required"),
        ("fail", json!({"kind": 1}), -32602, "Invalid arguments: `kind` must be a string; got 1"),
        ("numbers", json!(7), -32602, "Invalid arguments: the parameters must be an object or an array"),
    ] {
        let error = call(method, params.clone()).await;
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)), "{method} {params}");
    }
    let own = call("fail", kind("own")).await;
    assert_eq!(own["data"], json!({"name": "not_found", "data": {"kind": "own"}}));
    let many = call("shout", json!({"times": 0, "loud": true})).await;
    let pointers: Vec<&str> = many["data"]["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(pointers.len(), 2, "{many}");
    assert!(pointers.contains(&"/times") && pointers.contains(&"/loud"), "{many}");
}

#[tokio::test]
async fn an_id_keeps_its_type() {
    for id in [json!(7), json!("7"), json!(-1), json!("")] {
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": "numbers"});
        assert_eq!(answer(asked).await, json!({"jsonrpc": "2.0", "id": id, "result": [1, 2]}));
    }
}

#[tokio::test]
async fn malformed_messages_are_rejected_with_their_code() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (body, status, code) in [
        ("{", 400, -32700),
        ("nonsense", 400, -32700),
        ("", 400, -32700),
        (deep.as_str(), 400, -32700),
        ("7", 400, -32600),
        ("{}", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"numbers"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"numbers"}"#, 400, -32600),
        (r#"{"id":1,"method":"numbers"}"#, 200, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"numbers"}"#, 200, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 200, -32600),
        ("[]", 200, -32600),
    ] {
        let response = service().handle(request(body.to_owned())).await;
        assert_eq!(response.status(), status, "{body}");
        let answered: Value = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(answered["error"]["code"], code, "{body}: {answered}");
        assert!(answered.as_object().unwrap().contains_key("id"), "{answered}");
    }
}

#[tokio::test]
async fn a_notification_is_executed_without_a_response() {
    let response =
        service().handle(request(r#"{"jsonrpc":"2.0","method":"fail","params":{"kind":"internal"}}"#)).await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert_eq!(text(response).await, "");
    let response = service().handle(request(r#"[{"jsonrpc":"2.0","method":"numbers"}]"#)).await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_batch_is_answered_in_order_without_its_notifications() {
    let batch = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "slow", "params": {"ms": 30}},
        {"jsonrpc": "2.0", "method": "numbers"},
        {"jsonrpc": "2.0", "id": 2, "method": "nothing"},
        7,
        {"jsonrpc": "2.0", "id": 3, "method": "numbers"},
    ]);
    let answered = answer(batch).await;
    let answered = answered.as_array().unwrap();
    assert_eq!(answered.len(), 4);
    assert_eq!(answered[0], json!({"jsonrpc": "2.0", "id": "a", "result": null}));
    assert_eq!((&answered[1]["id"], &answered[1]["error"]["code"]), (&json!(2), &json!(-32601)));
    assert_eq!((&answered[2]["id"], &answered[2]["error"]["code"]), (&json!(null), &json!(-32600)));
    assert_eq!(answered[3]["result"], json!([1, 2]));

    let one = json!({"jsonrpc": "2.0", "id": 1, "method": "numbers"});
    assert_eq!(answer(Value::from(vec![one.clone(); MAX_CALLS])).await.as_array().unwrap().len(), MAX_CALLS);
    let too_many = answer(Value::from(vec![one; MAX_CALLS + 1])).await;
    assert_eq!(too_many["error"], json!({"code": -32600, "message": "a batch has at most 100 calls"}));
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_batch_run_concurrently() {
    let one = json!({"jsonrpc": "2.0", "id": 1, "method": "slow", "params": {"ms": 1000}});
    let start = tokio::time::Instant::now();
    assert_eq!(answer(Value::from(vec![one; 50])).await.as_array().unwrap().len(), 50);
    assert_eq!(start.elapsed().as_secs(), 1);
}

#[tokio::test]
async fn requests_are_checked_as_for_mcp() {
    let status = |request: Request<Full<Bytes>>| async { service().handle(request).await.status().as_u16() };
    let good = r#"{"jsonrpc":"2.0","id":1,"method":"numbers"}"#;
    assert_eq!(status(request(good)).await, 200);
    let mut get = request("");
    *get.method_mut() = Method::GET;
    let response = service().handle(get).await;
    assert_eq!((response.status().as_u16(), &response.headers()["allow"]), (405, &"POST".parse().unwrap()));
    let with = |name: &'static str, value: &str| {
        let mut request = request(good);
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    assert_eq!(status(with("content-type", "text/plain")).await, 415);
    assert_eq!(status(with("host", "evil.example")).await, 403);
    assert_eq!(status(with("origin", "https://evil.example")).await, 403);
    assert_eq!(status(with("accept", "text/html")).await, 200, "JSON unless a stream is named");
    let mut elsewhere = request(good);
    *elsewhere.uri_mut() = "/other".parse().unwrap();
    assert_eq!(status(elsewhere).await, 404);
    let mut options = HttpServerOptions::default();
    options.body_bytes = 100;
    let small = RpcService::new(&sample::builder(), options).unwrap();
    assert_eq!(small.handle(request(vec![b' '; 101])).await.status(), 413);
}

#[tokio::test]
async fn a_streaming_tool_sends_events_before_its_result_if_a_stream_is_accepted() {
    let asked = r#"{"jsonrpc":"2.0","id":"s","method":"shout","params":{"times":2}}"#;
    let mut named = request(asked);
    named.headers_mut().insert("accept", "application/json, text/event-stream".parse().unwrap());
    let response = service().handle(named).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    let note = |seq: u32| {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/dev.switchboard/stream\",\"params\":\
             {{\"requestId\":\"s\",\"seq\":{seq},\"content\":[{{\"type\":\"text\",\"text\":\"{seq}\"}}]}}}}\n\n"
        )
    };
    let last = "data: {\"jsonrpc\":\"2.0\",\"id\":\"s\",\"result\":2}\n\n";
    assert_eq!(text(response).await, format!("{}{}{last}", note(0), note(1)));

    for accept in ["application/json", "*/*"] {
        let mut plain = request(asked);
        plain.headers_mut().insert("accept", accept.parse().unwrap());
        let response = service().handle(plain).await;
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(text(response).await, r#"{"jsonrpc":"2.0","id":"s","result":2}"#);
    }
}

#[tokio::test]
async fn errors_in_a_stream_are_the_same_as_without_one() {
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"shout","params":{"times":5,"fail_after":1}}"#;
    let mut named = request(asked);
    named.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let streamed = text(service().handle(named).await).await;
    let messages: Vec<&str> = streamed.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(messages.len(), 2, "{streamed}");
    let plain = text(service().handle(request(asked)).await).await;
    assert_eq!(messages[1], plain);
    let error: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["message"]),
        (&json!(-32603), &json!("The voice is gone"))
    );

    // A client that accepts only event streams gets one for any call.
    let mut only = request(r#"{"jsonrpc":"2.0","id":1,"method":"numbers"}"#);
    only.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let whole = text(service().handle(only).await).await;
    assert_eq!(whole, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1,2]}\n\n");
}

#[tokio::test]
async fn policies_and_error_mapping_apply_as_over_mcp() {
    let builder = sample::builder()
        .deny_resources(["item://secret*"])
        .error_mapper(|error| match error {
            switchboard_service::Error::Internal(_) => switchboard_service::Error::tool("busy", "Try later"),
            other => other,
        })
        .call_timeout(std::time::Duration::from_millis(20));
    let service = RpcService::new(&builder, HttpServerOptions::default()).unwrap();
    let call = async |method: &str, params: Value| -> Value {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = service.handle(request(asked.to_string())).await;
        serde_json::from_str(&text(response).await).unwrap()
    };
    assert_eq!(call("item", json!({"id": "open"})).await["result"]["id"], "open");
    for id in ["secret", "secrets", ""] {
        let denied = call("item", json!({"id": id})).await;
        assert_eq!(denied["error"]["code"], -32602, "{denied}");
        assert!(
            denied["error"]["message"].as_str().unwrap().starts_with("Resource not allowed: "),
            "{denied}"
        );
    }
    let mapped = call("fail", json!({"kind": "internal"})).await;
    assert_eq!(mapped["error"], json!({"code": -32603, "message": "Try later", "data": {"name": "busy"}}));
    let late = call("slow", json!({"ms": 60_000})).await;
    assert_eq!(late["error"], json!({"code": -32603, "message": "timed out"}));
}

/// The endpoint of a design with `rpc = "/rpc"`: MCP methods and the service's own.
fn mounted(builder: &switchboard_service::ServiceBuilder) -> switchboard_service::rpc::CombinedService {
    switchboard_service::rpc::CombinedService::from_builder(builder, HttpServerOptions::default()).unwrap()
}

#[tokio::test]
async fn d4_one_post_endpoint_answers_mcp_and_the_service() {
    let service = mounted(&sample::builder());
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let response = service.handle(request(begin.to_string())).await;
    let session = response.headers()["mcp-session-id"].clone();
    assert_eq!(response.headers()["content-type"], "application/json", "JSON unless a stream is named");
    let opened: Value = serde_json::from_str(&text(response).await).unwrap();
    assert_eq!(opened["result"]["protocolVersion"], "2025-06-18");

    let ask = async |asked: Value, accept: Option<&str>| {
        let mut request = request(asked.to_string());
        request.headers_mut().insert("mcp-session-id", session.clone());
        if let Some(accept) = accept {
            request.headers_mut().insert("accept", accept.parse().unwrap());
        }
        let response = service.handle(request).await;
        let media = response.headers()["content-type"].to_str().unwrap().to_owned();
        (media, text(response).await)
    };
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "numbers", "arguments": {}}});
    for accept in [None, Some("*/*"), Some("application/json")] {
        let (media, answered) = ask(call.clone(), accept).await;
        assert_eq!(media, "application/json");
        assert!(answered.contains("[1,2]"), "{answered}");
    }
    let (media, answered) = ask(call, Some("application/json, text/event-stream")).await;
    assert_eq!(media, "text/event-stream");
    assert!(answered.contains("data: ") && answered.contains("[1,2]"), "{answered}");
    let (_, answered) = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "numbers"}), None).await;
    assert_eq!(answered, r#"{"jsonrpc":"2.0","id":2,"result":[1,2]}"#);
    let (_, answered) = ask(json!({"jsonrpc": "2.0", "id": 3, "method": "nothing"}), None).await;
    assert!(answered.contains("-32601"), "{answered}");

    let mut end = request("");
    *end.method_mut() = Method::DELETE;
    end.headers_mut().insert("mcp-session-id", session.clone());
    assert_eq!(service.handle(end).await.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn v3_a_missing_scope_is_a_challenge_over_http() {
    let service = mounted(&sample::scoped().reveal_scopes(true));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "numbers", "arguments": {}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let mut request = request(call.to_string());
    *request.uri_mut() = "/mcp".parse().unwrap();
    for (name, value) in
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "numbers")]
    {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let response = service.handle(request).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(response.headers()["www-authenticate"], r#"Bearer error="insufficient_scope", scope="run""#);
    let answered: Value = serde_json::from_str(&text(response).await).unwrap();
    assert_eq!((&answered["id"], &answered["error"]["data"]), (&json!(1), &json!({"scopes": ["run"]})));
}
