//! Policy, limits and audit of a gateway, as clients meet them.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard::client::{CallError, Change};
use switchboard::gateway::GatewayOptions;
use switchboard::gateway::audit::{AuditLog, AuditOptions, AuditPolicy, AuditSink};
use switchboard::gateway::limits::RateLimiter;
use switchboard::gateway::policy::Policy;
use switchboard::protocol::{ListenFilter, RpcError};
use switchboard::server::{Caller, HttpListener, HttpServerOptions, HttpService};
use switchboard::{Client, InProcess, json};
use switchboard_testkit::{STEP_TIMEOUT, trial_leaving_tasks, trials};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::cells::{Bench, Cell, Reach, Side};
use crate::person::Person;
use crate::raw_client::{RawClient, answer};

trials! {
    trial_leaving_tasks:
        lists_show_only_what_may_be_called,
        capabilities_are_those_that_the_policy_leaves_to_the_caller,
        a_denied_target_answers_like_an_unknown_one,
        ambiguous_arguments_reach_no_upstream,
        missing_scopes_are_told,
        calls_lists_and_discovery_are_limited,
        every_request_is_recorded_once,
        a_call_is_not_made_if_it_cannot_be_recorded,
        a_legacy_client_is_limited_and_recorded,
        streams_are_recorded_with_their_resources,
        a_refused_stream_is_charged_to_no_limit,
        a_request_that_waits_is_not_charged_to_the_limits_of_a_new_configuration,
        a_new_policy_applies_at_once_and_changes_the_lists,
        a_new_policy_withholds_updates_from_sessions_that_are_subscribed,
        over_http_a_missing_scope_is_403_and_a_batch_is_no_way_around,
}

const POLICY: &str = r#"
default = "allow"
[[rule]]
name = "no-echo"
effect = "deny"
tool = "echo"
[[rule]]
effect = "deny"
prompt = "greet"
[[rule]]
effect = "deny"
uri = ["note://one", "page://secret/**"]
[[rule]]
effect = "deny"
tool = "meta"
arguments = { mode = { equals = "raw" } }
[[rule]]
effect = "deny"
tool = "toggle"
unless_scope = "admin"
"#;

/// The cells with the upstream in this process: the checks are before any upstream.
fn sides() -> [Cell; 2] {
    [Side::Legacy, Side::Modern].map(|client| Cell {
        client,
        upstream: Side::Modern,
        reach: Reach::InProcess,
    })
}

async fn open(cell: Cell, document: &str) -> Bench {
    let options = GatewayOptions::default()
        .with_policy(Policy::parse(document).unwrap())
        .with_limits(RateLimiter::parse(document).unwrap());
    cell.open_with(options).await
}

async fn lists_show_only_what_may_be_called() {
    for cell in sides() {
        let bench = open(cell, POLICY).await;
        let session = bench.client(&Person::new("ada")).await;
        let tools: Vec<String> =
            session.list_tools().await.unwrap().iter().map(|tool| tool.name.clone()).collect();
        assert!(!tools.contains(&"up__echo".to_owned()), "{cell:?} {tools:?}");
        assert!(tools.contains(&"up__meta".to_owned()), "{cell:?}: other arguments are allowed");
        assert!(tools.contains(&"up__toggle".to_owned()), "{cell:?}: the client can ask for the scope");
        let prompts = session.list_prompts().await.unwrap();
        assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["up__ask"]);
        let resources = session.list_resources().await.unwrap();
        assert!(resources.by_name("note://one").is_none() && resources.by_name("note://ask").is_some());
        assert_eq!(session.list_resource_templates().await.unwrap().len(), 1, "some of its URIs can be read");
        bench.close().await;
    }
}

async fn capabilities_are_those_that_the_policy_leaves_to_the_caller() {
    const BY_KIND: &str = r#"
default = "allow"
[[rule]]
effect = "deny"
principal = "ada"
kind = "prompt"
[[rule]]
effect = "deny"
principal = "bob"
uri = "**"
[[rule]]
effect = "deny"
principal = "eve"
kind = ["prompt", "resource", "tool"]
"#;
    for cell in sides() {
        let bench = open(cell, BY_KIND).await;
        let offered = async |caller: &str| {
            let dial = InProcess::new(bench.gateway.server()).with_caller(Caller::new(caller));
            let client = Client::new().with_revisions(cell.client.revisions());
            let offered = client.connect(dial).await.unwrap().info().unwrap().capabilities.clone();
            ["tools", "prompts", "resources", "completions", "logging"]
                .map(|capability| offered.declares(capability))
        };
        assert_eq!(offered("kim").await, [true, true, true, true, true], "{cell:?}");
        assert_eq!(offered("ada").await, [true, false, true, true, true], "{cell:?}");
        assert_eq!(offered("bob").await, [true, true, false, true, true], "{cell:?}");
        assert_eq!(offered("eve").await, [false, false, false, false, true], "{cell:?}");
        bench.close().await;
    }
}

/// Returns an error with the name in it replaced, to compare it with that of another name.
fn without_name(error: RpcError, name: &str) -> (i64, String, String) {
    let data = error.data.map(|data| data.as_str().to_owned()).unwrap_or_default();
    (error.code.0.into(), error.message.replace(name, "NAME"), data.replace(name, "NAME"))
}

async fn a_denied_target_answers_like_an_unknown_one() {
    for cell in sides() {
        let bench = open(cell, POLICY).await;
        let client = RawClient::connect(bench.gateway.server(), Some("ada")).await;
        let mut refusals = bench.gateway.refusals();
        let subscribe = r#""notifications":{"resourceSubscriptions":["NAME"]}"#;
        for (method, members, denied, unknown) in [
            ("tools/call", r#""name":"NAME","arguments":{}"#, "up__echo", "up__nothing"),
            ("prompts/get", r#""name":"NAME""#, "up__greet", "up__nothing"),
            ("resources/read", r#""uri":"NAME""#, "note://one", "none://one"),
            ("resources/read", r#""uri":"NAME""#, "page://secret/7", "none://secret/7"),
            ("resources/read", r#""uri":"NAME""#, "page://%73ecret", "none://%73ecret"),
            (
                "completion/complete",
                r#""ref":{"type":"ref/prompt","name":"NAME"},"argument":{"name":"name","value":"x"}"#,
                "up__greet",
                "up__nothing",
            ),
            (
                "completion/complete",
                r#""ref":{"type":"ref/resource","uri":"NAME"},"argument":{"name":"id","value":"x"}"#,
                "page://{id}",
                "none://{id}",
            ),
            ("subscriptions/listen", subscribe, "note://one", "none://one"),
        ] {
            let answer = async |name: &str| {
                let error = client.request(method, &members.replace("NAME", name)).await.unwrap_err();
                without_name(error, name)
            };
            assert_eq!(answer(denied).await, answer(unknown).await, "{cell:?} {method} {denied}");
            if method == "tools/call" {
                // Operators see that it was denied, and by which rule.
                let refusal = refusals.next().await.unwrap();
                assert_eq!((refusal.name.as_str(), refusal.kind), ("echo", "tool"), "{cell:?}");
                assert_eq!(refusal.rule.as_deref(), Some("rule 1 (`no-echo`)"), "{cell:?}");
                assert!(refusal.principal.is_some(), "{cell:?}");
            }
        }
        // Through the name of its server, too.
        let rewritten = client.request("resources/read", r#""uri":"gateway://up/note://one""#).await;
        assert!(rewritten.is_err(), "{cell:?}");
        let session = bench.client(&Person::new("ada")).await;
        assert!(session.subscribe("note://one").await.is_err(), "{cell:?}");
        assert!(session.call_tool("up__echo", json!({})).await.is_err(), "{cell:?}");
        let counts = bench.counts().await;
        assert_eq!((counts.get("runs of echo"), counts.get("subscribed")), (None, None), "{cell:?}");
        bench.close().await;
    }
}

async fn ambiguous_arguments_reach_no_upstream() {
    let bench = open(sides()[1], POLICY).await;
    let client = RawClient::connect(bench.gateway.server(), None).await;
    for arguments in [
        r#"{"mode":"raw"}"#,
        r#"{"mode":"\u0072aw"}"#,
        r#"{"mode":"plain","mode":"raw"}"#,
        r#"{"mode":"plain","\u006dode":"raw"}"#,
        r#"{"Mode":"raw"}"#,
        r#"{"mode":["raw"]}"#,
    ] {
        let members = format!(r#""name":"up__meta","arguments":{arguments}"#);
        assert!(client.request("tools/call", &members).await.is_err(), "{arguments}");
    }
    // Two names: whichever is read, the other one is not called.
    for members in [r#""name":"up__meta","name":"up__echo""#, r#""name":"up__echo","name":"up__meta""#] {
        let _ = client.request("tools/call", members).await;
    }
    let counts = bench.counts().await;
    assert_eq!(counts.get("runs of echo"), None);
    let before = counts.get("runs of meta").copied().unwrap_or_default();
    let allowed = r#""name":"up__meta","arguments":{"mode":"plain"}"#;
    assert!(client.request("tools/call", allowed).await.is_ok());
    assert_eq!(bench.counts().await.get("runs of meta"), Some(&(before + 1)));
    bench.close().await;
}

async fn missing_scopes_are_told() {
    let bench = open(sides()[1], POLICY).await;
    let call = async |caller: Option<Caller>| {
        let dial = InProcess::new(bench.gateway.server());
        let dial = match caller {
            Some(caller) => dial.with_caller(caller),
            None => dial,
        };
        let session = Client::new().connect(dial).await.unwrap();
        session.call_tool("up__toggle", json!({})).await
    };
    let Err(CallError::Remote(error)) = call(Some(Caller::new("ada"))).await else { panic!("not refused") };
    assert_eq!(error.missing_scopes(), Some(vec!["admin".to_owned()]));
    // Nobody can extend the rights of a caller without an identity.
    let unknown = call(None).await.unwrap_err();
    assert!(unknown.to_string().contains("Unknown tool: up__toggle"), "{unknown}");
    assert!(call(Some(Caller::new("ada").with_scopes(["admin"]))).await.is_ok());
    bench.close().await;
}

async fn calls_lists_and_discovery_are_limited() {
    let document = r#"
        default = "allow"
        [[limit]]
        name = "calls"
        operation = "call"
        rate = "2/day"
        per = ["principal", "tool"]
        [[limit]]
        name = "lists"
        operation = "list"
        rate = "1/day"
        per = "principal"
        [[limit]]
        name = "discovery"
        operation = "discover"
        rate = "1/day"
        per = "principal"
    "#;
    let bench = open(sides()[1], document).await;
    let client = RawClient::connect(bench.gateway.server(), Some("ada")).await;
    let limit = |error: RpcError| {
        assert_eq!(error.code.0, 429);
        let data: serde_json::Value = error.data.unwrap().decode().unwrap();
        let wait = data["retryAfterMs"].as_u64().unwrap();
        assert!((1..=86_400_000).contains(&wait), "{wait}");
        data["limit"].as_str().unwrap().to_owned()
    };
    let echo = r#""name":"up__echo","arguments":{}"#;
    for _ in 0..2 {
        assert!(client.request("tools/call", echo).await.is_ok());
    }
    assert_eq!(limit(client.request("tools/call", echo).await.unwrap_err()), "calls");
    assert!(client.request("tools/call", r#""name":"up__meta""#).await.is_ok(), "another tool");
    assert!(client.request("tools/list", "").await.is_ok());
    assert_eq!(limit(client.request("prompts/list", "").await.unwrap_err()), "lists");
    assert!(client.request("server/discover", "").await.is_ok());
    assert_eq!(limit(client.request("server/discover", "").await.unwrap_err()), "discovery");
    let bob = RawClient::connect(bench.gateway.server(), Some("bob")).await;
    assert!(bob.request("tools/list", "").await.is_ok() && bob.request("tools/call", echo).await.is_ok());
    assert_eq!(bench.counts().await.get("runs of echo"), Some(&3));
    bench.close().await;
}

/// Keeps lines in memory, or fails.
#[derive(Clone, Default)]
pub(crate) struct MemorySink {
    pub(crate) lines: Arc<Mutex<Vec<serde_json::Value>>>,
    is_failing: bool,
}

impl AuditSink for MemorySink {
    fn write(&mut self, lines: &[Vec<u8>]) -> std::io::Result<usize> {
        if self.is_failing {
            return Err(std::io::Error::other("no space left on device"));
        }
        self.lines.lock().extend(lines.iter().map(|line| serde_json::from_slice(line).unwrap()));
        Ok(lines.len())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn every_request_is_recorded_once() {
    let document = format!(
        "{POLICY}\n[audit]\n[[audit.payload]]\nrecord = [\"arguments\", \"result\"]\ntool = \"meta\"\n"
    );
    let sink = MemorySink::default();
    let log = AuditLog::start(sink.clone(), AuditOptions::default())
        .with_policy(AuditPolicy::parse(&document).unwrap());
    let options =
        GatewayOptions::default().with_policy(Policy::parse(&document).unwrap()).with_audit(log.clone());
    let bench = sides()[1].open_with(options).await;
    let client = RawClient::connect(bench.gateway.server(), Some("ada")).await;
    client.request("tools/list", "").await.unwrap();
    client.request("tools/call", r#""name":"up__meta","arguments":{"token":"s3cret","a":1}"#).await.unwrap();
    client.request("tools/call", r#""name":"up__echo","arguments":{"a":"not recorded"}"#).await.unwrap_err();
    client.request("tools/call", r#""name":"up__nothing""#).await.unwrap_err();
    client.request("tools/call", r#""name":"up__toggle""#).await.unwrap_err();
    client.request("resources/read", r#""uri":"page://7""#).await.unwrap();
    let (key, state) = client.question("up__ask", json!({})).await.unwrap();
    client.call("up__ask", answer(&key, &state, "red")).await.unwrap();
    let waiting = {
        let mut call = client.open("up__wait", json!({}));
        tokio::spawn(async move { call.done().await })
    };
    bench.counted("runs of wait", 1).await;
    waiting.abort();
    log_has(&sink, 9).await;
    bench.close().await;
    log.close(STEP_TIMEOUT).await.unwrap();

    let lines = sink.lines.lock().clone();
    let outcomes: Vec<(&str, &str, &str)> = lines
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            (text("method"), text("identifier"), text("outcome"))
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("tools/list", "", "ok"),
            ("tools/call", "meta", "ok"),
            ("tools/call", "echo", "denied"),
            ("tools/call", "up__nothing", "unknown"),
            ("tools/call", "toggle", "missing_scope"),
            ("resources/read", "page://7", "ok"),
            ("tools/call", "ask", "input_required"),
            ("tools/call", "ask", "ok"),
            ("tools/call", "wait", "cancelled"),
        ]
    );
    assert_eq!(lines[1]["arguments"], json!({ "token": "[redacted]", "a": 1 }));
    assert!(lines[1]["result"]["content"].is_array());
    assert_eq!(lines[1]["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(
        (&lines[1]["principal"], &lines[1]["client"], &lines[1]["server"]),
        (&json!("ada"), &json!("raw 1"), &json!("up"))
    );
    assert_eq!((&lines[2]["rule"], &lines[2]["reason"]), (&json!("rule 1 (`no-echo`)"), &json!("rule")));
    let all = serde_json::to_string(&lines).unwrap();
    assert!(!all.contains("s3cret") && !all.contains("not recorded"), "{all}");
}

/// Waits until the sink has this many lines.
async fn log_has(sink: &MemorySink, count: usize) {
    let waiting = async {
        while sink.lines.lock().len() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(STEP_TIMEOUT, waiting).await;
    assert!(in_time.is_ok(), "{:?}", sink.lines.lock());
}

async fn a_call_is_not_made_if_it_cannot_be_recorded() {
    let sink = MemorySink { is_failing: true, ..MemorySink::default() };
    let log = AuditLog::start(sink, AuditOptions::default());
    let bench = sides()[1].open_with(GatewayOptions::default().with_audit(log.clone())).await;
    let client = RawClient::connect(bench.gateway.server(), None).await;
    // The first call finds out.
    client.request("tools/list", "").await.unwrap();
    while !log.counts().is_failing {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let error = client.request("tools/call", r#""name":"up__echo""#).await.unwrap_err();
    assert_eq!(error.data.unwrap().as_str(), r#"{"reason":"audit_unavailable"}"#);
    assert_eq!(bench.counts().await.get("runs of echo"), None);
    bench.close().await;
}

async fn a_legacy_client_is_limited_and_recorded() {
    let document = format!("{POLICY}\n[[limit]]\nname = \"lists\"\noperation = \"list\"\nrate = \"1/day\"\n");
    let sink = MemorySink::default();
    let log = AuditLog::start(sink.clone(), AuditOptions::default());
    let options = GatewayOptions::default()
        .with_policy(Policy::parse(&document).unwrap())
        .with_limits(RateLimiter::parse(&document).unwrap())
        .with_audit(log.clone());
    let bench = sides()[0].open_with(options).await;
    let session = bench.client(&Person::new("ada")).await;
    assert!(session.list_tools().await.is_ok());
    assert!(session.list_prompts().await.is_err(), "the limit counts all lists");
    assert!(session.subscribe("note://one").await.is_err());
    assert!(session.subscribe("note://ask").await.is_ok());
    bench.close().await;
    log.close(STEP_TIMEOUT).await.unwrap();
    let lines = sink.lines.lock().clone();
    let outcomes: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["method"].as_str().unwrap(), line["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("initialize", "ok"),
            ("tools/list", "ok"),
            ("prompts/list", "rate_limited"),
            ("resources/subscribe", "denied"),
            ("resources/subscribe", "ok"),
        ]
    );
}

async fn streams_are_recorded_with_their_resources() {
    let document = format!(
        "{POLICY}\n[[limit]]\nname = \"subscriptions\"\noperation = \"call\"\nkind = \"subscription\"\nrate = \"1/day\"\n"
    );
    let sink = MemorySink::default();
    let log = AuditLog::start(sink.clone(), AuditOptions::default());
    let options = GatewayOptions::default()
        .with_policy(Policy::parse(&document).unwrap())
        .with_limits(RateLimiter::parse(&document).unwrap())
        .with_audit(log.clone());
    let bench = sides()[1].open_with(options).await;
    let session = bench.client(&Person::new("ada")).await;
    let listen = async |uris: &[&str]| {
        let uris: Vec<String> = uris.iter().map(|uri| (*uri).to_owned()).collect();
        session.listen(ListenFilter::new().with_resource_subscriptions(uris)).await
    };
    let stream = listen(&["note://ask"]).await.unwrap();
    assert!(listen(&["note://ask", "note://one"]).await.is_err(), "one of them is denied");
    assert!(listen(&["none://x?token=s3cret"]).await.is_err());
    assert!(listen(&["note://ask"]).await.is_err(), "the limit counts resources");
    drop(stream);
    bench.close().await;
    log.close(STEP_TIMEOUT).await.unwrap();
    let lines = sink.lines.lock().clone();
    let streams = lines.iter().filter(|line| line["method"] == "subscriptions/listen");
    let streams: Vec<(&serde_json::Value, &str)> =
        streams.map(|line| (&line["uris"], line["outcome"].as_str().unwrap())).collect();
    assert_eq!(
        streams,
        [
            (&json!(["note://ask"]), "ok"),
            (&json!(["note://ask", "note://one"]), "denied"),
            (&json!(["none://x"]), "unknown"),
            (&json!(["note://ask"]), "rate_limited"),
        ]
    );
}

async fn a_refused_stream_is_charged_to_no_limit() {
    let document = r#"
        default = "allow"
        [[limit]]
        name = "lists"
        operation = "list"
        rate = "3/day"
        [[limit]]
        name = "subscriptions"
        operation = "call"
        rate = "2/day"
        per = "server"
    "#;
    let bench = open(sides()[1], document).await;
    let client = RawClient::connect(bench.gateway.server(), None).await;
    let refused = async |uris: &[&str]| {
        let members = json!({ "notifications": { "resourceSubscriptions": uris } }).to_string();
        let members = members.strip_prefix('{').and_then(|members| members.strip_suffix('}')).unwrap();
        client.request("subscriptions/listen", members).await.unwrap_err()
    };
    for _ in 0..5 {
        let error = refused(&["page://1", "page://2", "page://3"]).await;
        assert_eq!(error.data.unwrap().as_str(), r#"{"largest":2,"limit":"subscriptions"}"#);
    }
    let session = bench.client(&Person::new("ada")).await;
    let filter = ListenFilter::new().with_resource_subscriptions(["page://1", "page://2"].map(String::from));
    let stream = session.listen(filter).await.unwrap();
    let error = refused(&["page://1"]).await;
    assert!(error.message.starts_with("rate limit \"subscriptions\" exceeded\n"), "{error}");
    assert!(client.request("tools/list", "").await.is_ok(), "only the stream that began was charged");
    assert!(client.request("tools/list", "").await.is_ok());
    assert!(client.request("tools/list", "").await.is_err());
    drop(stream);
    bench.close().await;
}

/// A sink that writes when its gate is open.
struct GatedSink(Arc<std::sync::Mutex<std::sync::mpsc::Receiver<()>>>);

impl AuditSink for GatedSink {
    fn write(&mut self, lines: &[Vec<u8>]) -> std::io::Result<usize> {
        // Open when the sender is gone.
        let _ = self.0.lock().unwrap().recv();
        Ok(lines.len())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn a_request_that_waits_is_not_charged_to_the_limits_of_a_new_configuration() {
    let (gate, closed) = std::sync::mpsc::channel();
    let sink = GatedSink(Arc::new(std::sync::Mutex::new(closed)));
    let log = AuditLog::start(sink, AuditOptions::default().with_queue(1));
    let policy = Policy::parse(
        "default = \"deny\"\n[[rule]]\neffect = \"allow\"\ntool = \"echo\"\n[[rule]]\neffect = \"allow\"\ntool = \"meta\"\n",
    );
    let options =
        GatewayOptions::default().with_policy(policy.unwrap()).with_audit(log).with_replaceable_access();
    let bench = sides()[1].open_with(options).await;
    let client = RawClient::connect(bench.gateway.server(), None).await;
    // Its record fills the queue.
    client.call("up__echo", json!({})).await.unwrap();
    let mut second = client.open("up__meta", json!({}));
    let second = tokio::spawn(async move { second.done().await });
    let policy = bench.gateway.policy();
    while !policy.rules().nth(1).unwrap().has_decided {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let limits = RateLimiter::parse("default = \"allow\"\n[[limit]]\nname = \"calls\"\nrate = \"1/day\"\n");
    bench.gateway.set_access(&GatewayOptions::default().with_limits(limits.unwrap()));
    drop(gate);
    second.await.unwrap().unwrap().unwrap();
    assert!(client.call("up__meta", json!({})).await.is_ok(), "the new limit counts new calls only");
    assert!(client.call("up__meta", json!({})).await.is_err());
    bench.close().await;
}

async fn a_new_policy_applies_at_once_and_changes_the_lists() {
    for cell in sides() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let filter = ListenFilter::new().with_tools_list_changed(true);
        let mut changes = session.listen(filter).await.unwrap();
        assert!(session.call_tool("up__echo", json!({})).await.is_ok(), "{cell:?}");
        bench.gateway.set_policy(Policy::parse(POLICY).unwrap());
        assert!(session.call_tool("up__echo", json!({})).await.is_err(), "{cell:?}");
        while !matches!(changes.next().await.unwrap(), Change::Tools) {}
        assert!(session.refresh_tools().await.unwrap().by_name("up__echo").is_none(), "{cell:?}");
        bench.close().await;
    }
}

const NO_NOTES_FOR_MALLORY: &str = r#"
default = "allow"
[[rule]]
effect = "deny"
principal = "mallory"
uri = "note://one"
"#;

async fn a_new_policy_withholds_updates_from_sessions_that_are_subscribed() {
    let bench = sides()[0].open().await;
    let client = async |name: &str| {
        let dial = InProcess::new(bench.gateway.server()).with_caller(Caller::new(name));
        Client::new().with_revisions(Side::Legacy.revisions()).connect(dial).await.unwrap()
    };
    let (ada, mallory) = (client("ada").await, client("mallory").await);
    let mut of_ada = ada.subscribe("note://one").await.unwrap();
    let mut of_mallory = mallory.subscribe("note://one").await.unwrap();
    let touch = async || bench.host.call_tool("up", "touch", json!({})).await.unwrap();
    touch().await;
    for subscription in [&mut of_ada, &mut of_mallory] {
        assert!(matches!(subscription.next().await, Some(Change::Resource { .. })));
    }
    bench.gateway.set_policy(Policy::parse(NO_NOTES_FOR_MALLORY).unwrap());
    // After the second one the first has been sent to everyone.
    for _ in 0..2 {
        touch().await;
        assert!(matches!(of_ada.next().await, Some(Change::Resource { .. })));
    }
    // What was sent before this answer has arrived with it.
    mallory.call_tool("up__counts", json!({})).await.unwrap();
    let further = tokio::time::timeout(Duration::ZERO, of_mallory.next()).await;
    assert!(further.is_err(), "{further:?}");
    // The session goes on: what the policy allows again, it receives again.
    bench.gateway.set_policy(Policy::allow_all());
    touch().await;
    assert!(matches!(of_mallory.next().await, Some(Change::Resource { .. })));
    bench.close().await;
}

/// Sends one POST and returns head and body. The names of headers are in lower case.
pub(crate) async fn post(address: &str, headers: &str, body: &str) -> (String, String) {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

async fn over_http_a_missing_scope_is_403_and_a_batch_is_no_way_around() {
    let bench = open(sides()[0], POLICY).await;
    let options = HttpServerOptions::default()
        .with_authenticate(|_: &http::request::Parts| Ok(Some(Caller::new("ada"))));
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap().to_string();
    let serving = tokio::spawn(listener.serve(HttpService::new(bench.gateway.server(), options)));

    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
    let (head, _) = post(&address, "", initialize).await;
    let session = head.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
    let headers = format!("{session}\r\nmcp-protocol-version: 2025-03-26\r\n");
    post(&address, &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;

    let toggle =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"up__toggle","arguments":{}}}"#;
    let (head, _) = post(&address, &headers, toggle).await;
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    let challenge = head.lines().find(|line| line.starts_with("www-authenticate: ")).unwrap();
    assert!(challenge.contains("insufficient_scope") && challenge.contains("admin"), "{challenge}");

    let echo =
        |id: u32| toggle.replace("\"id\":2", &format!("\"id\":{id}")).replace("up__toggle", "up__echo");
    let (_, body) = post(&address, &headers, &format!("[{},{}]", echo(3), echo(4))).await;
    assert_eq!(body.matches("Unknown tool: up__echo").count(), 2, "{body}");
    let (_, body) =
        post(&address, &headers, &format!("[{},{}]", echo(5).replace("echo", "meta"), echo(6))).await;
    assert_eq!(body.matches("Unknown tool: up__echo").count(), 1, "{body}");
    assert_eq!(bench.counts().await.get("runs of echo"), None);
    assert_eq!(bench.counts().await.get("runs of meta"), Some(&1));
    serving.abort();
    bench.close().await;
}
