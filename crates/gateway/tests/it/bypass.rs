//! Attempts to get past the policy of a running gateway. Each is named; none may reach what is denied.
//!
//! To add a class, add a function that returns its attempts and name it in `CLASSES`. What counts is what the upstream did and
//! what the client learned: an attempt is through if the answer has a mark that only the denied target gives, or the
//! upstream has counted it.

use std::collections::{BTreeMap, BTreeSet};

use switchboard::gateway::GatewayOptions;
use switchboard::gateway::policy::Policy;
use switchboard::json;
use switchboard::server::{Caller, HttpListener, HttpServerOptions, HttpService};
use switchboard_testkit::{trial_leaving_tasks, trials};
use tokio::task::JoinSet;

use crate::access::post;
use crate::cells::{Bench, Cell, Reach, Side};
use crate::person::Person;
use crate::raw_client::RawClient;

trials! {
    trial_leaving_tasks:
        no_attempt_gets_past_a_deny_list,
        no_attempt_gets_past_an_allow_list,
        no_batch_gets_past_the_policy,
        no_legacy_subscription_gets_past_the_policy,
}

/// Everything is allowed but these.
const DENY_LIST: &str = r#"
default = "allow"
[[rule]]
effect = "deny"
tool = ["echo", "ask"]
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
"#;

/// Only these are allowed.
const ALLOW_LIST: &str = r#"
default = "deny"
[[rule]]
effect = "allow"
server = "up"
tool = "counts"
[[rule]]
effect = "allow"
server = "up"
tool = "meta"
arguments = { mode = { in = ["plain"] } }
[[rule]]
effect = "allow"
prompt = "ask"
[[rule]]
effect = "allow"
uri = "note://ask"
"#;

/// Only a denied target answers with one of these.
const MARKS: [&str; 4] = ["PASSED", "text of note://one", "text of page://secret", "Which color"];

/// One request: the method, and the members of its parameters.
struct Attempt {
    name: String,
    method: &'static str,
    members: String,
}

type AttemptsOfClass = fn() -> Vec<Attempt>;

const CLASSES: [(&str, AttemptsOfClass); 8] = [
    ("name", names),
    ("case", cases),
    ("unicode", unicode),
    ("duplicate keys", duplicate_keys),
    ("task", tasks),
    ("subscription", subscriptions),
    ("completion", completions),
    ("handle", handles),
];

fn attempt(name: impl Into<String>, method: &'static str, members: impl Into<String>) -> Attempt {
    Attempt { name: name.into(), method, members: members.into() }
}

/// Calls a tool by a name, which is written as JSON.
fn call(name: &str) -> Attempt {
    let written = serde_json::to_string(name).unwrap();
    attempt(
        format!("call {name:?}"),
        "tools/call",
        format!(r#""name":{written},"arguments":{{"leak":"PASSED","mode":"raw"}}"#),
    )
}

fn read(uri: &str) -> Attempt {
    let written = serde_json::to_string(uri).unwrap();
    attempt(format!("read {uri:?}"), "resources/read", format!(r#""uri":{written}"#))
}

fn prompt(name: &str) -> Attempt {
    let written = serde_json::to_string(name).unwrap();
    attempt(
        format!("prompt {name:?}"),
        "prompts/get",
        format!(r#""name":{written},"arguments":{{"name":"PASSED"}}"#),
    )
}

fn names() -> Vec<Attempt> {
    let tools = [
        "up__echo",
        "echo",
        "up__up__echo",
        "mcp__up__echo",
        "up/echo",
        "up.echo",
        "up:echo",
        "up_echo",
        "up___echo",
        " up__echo",
        "up__echo ",
        "up__echo\n",
        "\tup__echo",
        "up__echo\u{0}",
        "up__echo\u{0}x",
        "./up__echo",
        "../up__echo",
        "up__./echo",
        "up__../up__echo",
        "up__echo/",
        "up__echo#",
        "up__echo?",
        "up__echo;",
        "up__ech%6f",
        "up__ech\\u006f",
        "up__*",
        "*",
        "up__ech?",
        "up__[e]cho",
        "",
        "up__",
        "__echo",
        "gateway://up/echo",
        "tool:up__echo",
        "up__echo,up__meta",
        "up__meta up__echo",
        "up__echo\r\nup__meta",
        "\"up__echo\"",
        "up__ask",
        "up__meta",
    ];
    let uris = [
        "note://one",
        "note://one/",
        "note://one?x=1",
        "note://one#x",
        "note:///one",
        "note:one",
        "//one",
        "note://one%20",
        "note://%6fne",
        "note://o%6Ee",
        "NOTE://one",
        "note://user@one",
        "note://one:80",
        "note://./one",
        "note://x/../one",
        "note://one/.",
        "note://one/x/..",
        " note://one",
        "note://one ",
        "gateway://up/note://one",
        "gateway://up/note:one",
        "gateway://up/note%3A%2F%2Fone",
        "gateway:///note://one",
        "gateway://UP/note://one",
        "page://secret",
        "page://secret/7",
        "page://secret/",
        "page://secret/a/b",
        "page://%73ecret/7",
        "page://secret/../secret/7",
        "page://./secret/7",
        "page://x/../secret/7",
        "page://secret%2f7",
        "page://secret?id=7",
        "page://secret#7",
        "PAGE://secret/7",
        "gateway://up/page://secret/7",
        "page://user:pw@secret/7",
        "page://secret:0/7",
    ];
    let prompts =
        ["up__greet", "greet", "up/greet", " up__greet", "up__greet ", "up__greet\u{0}", "mcp__up__greet"];
    let prompts = prompts.into_iter().map(prompt);
    tools.into_iter().map(call).chain(uris.into_iter().map(read)).chain(prompts).collect()
}

fn cases() -> Vec<Attempt> {
    let tools = ["UP__ECHO", "Up__echo", "up__Echo", "up__ECHO", "uP__eCHO", "up__echO"].map(call);
    let prompts = ["UP__GREET", "up__Greet", "Up__greet"].map(prompt);
    let uris =
        ["note://ONE", "Note://One", "page://SECRET/7", "page://Secret/7", "Page://sEcret/x"].map(read);
    tools.into_iter().chain(prompts).chain(uris).collect()
}

fn unicode() -> Vec<Attempt> {
    let invisible = [
        '\u{200b}',
        '\u{200d}',
        '\u{2060}',
        '\u{feff}',
        '\u{ad}',
        '\u{202e}',
        '\u{2066}',
        '\u{e0065}',
        '\u{fe0f}',
    ];
    let mut attempts = Vec::new();
    for (at, character) in invisible.into_iter().enumerate() {
        for position in [0, 2, 4, 6, 8] {
            let mut name = "up__echo".to_owned();
            name.insert(position, character);
            attempts.push(call(&name));
        }
        let mut uri = "note://one".to_owned();
        uri.insert(7 + at % 3, character);
        attempts.push(read(&uri));
    }
    // Look-alikes, other forms of the same letters, and escapes of the exact name.
    let names = [
        "up__\u{435}cho",
        "up__e\u{441}ho",
        "up__ech\u{43e}",
        "\u{ff55}p__echo",
        "up__\u{ff45}cho",
        "up\u{ff3f}\u{ff3f}echo",
        "up__e\u{301}cho",
        "up__\u{e9}cho",
        "up__ec\u{ff48}o",
        "up__\u{1d41e}cho",
        "up__ech\u{2134}",
        "up__ech\u{ba}",
    ];
    attempts.extend(names.map(call));
    for (at, escaped) in [r"\u0075p__echo", r"up__\u0065cho", r"up\u005f\u005fecho", r"\u0075\u0070__echo"]
        .into_iter()
        .enumerate()
    {
        attempts.push(attempt(
            format!("escape {at}"),
            "tools/call",
            format!(r#""name":"{escaped}","arguments":{{"leak":"PASSED"}}"#),
        ));
    }
    attempts
}

fn duplicate_keys() -> Vec<Attempt> {
    let arguments = [
        r#"{"mode":"plain","mode":"raw"}"#,
        r#"{"mode":"raw","mode":"plain"}"#,
        r#"{"mode":"plain","m\u006fde":"raw"}"#,
        r#"{"m\u006fde":"raw","mode":"plain"}"#,
        r#"{"mode":"plain","Mode":"raw"}"#,
        r#"{"MODE":"raw","mode":"plain"}"#,
        r#"{"mode":"r\u0061w"}"#,
        r#"{"mode":["raw"]}"#,
        r#"{"mode":{"mode":"raw"}}"#,
        r#"{"mode":"raw","x":{"x":1,"x":2}}"#,
        r#"["raw"]"#,
        r#""raw""#,
        r#"[{"mode":"raw"}]"#,
        r#"{"Mode":"raw"}"#,
        r#"{"mode":"raw"}"#,
        r#"{"mode":"plain","mode":"plain","mode":"raw"}"#,
        r#"{"mode":null,"mode":"raw"}"#,
        r#"{"mo\u0064e":"raw"}"#,
    ];
    let of_arguments = arguments.into_iter().map(|text| {
        attempt(format!("meta {text}"), "tools/call", format!(r#""name":"up__meta","arguments":{text}"#))
    });
    let members = [
        r#""name":"up__counts","name":"up__echo","arguments":{"leak":"PASSED"}"#,
        r#""name":"up__echo","name":"up__counts","arguments":{"leak":"PASSED"}"#,
        r#""name":"up__counts","n\u0061me":"up__echo","arguments":{"leak":"PASSED"}"#,
        r#""name":"up__counts","Name":"up__echo","arguments":{"leak":"PASSED"}"#,
        r#""name":["up__echo"],"arguments":{"leak":"PASSED"}"#,
        r#""name":{"name":"up__echo"},"arguments":{"leak":"PASSED"}"#,
        r#""name":"up__meta","arguments":{"mode":"plain"},"arguments":{"mode":"raw"}"#,
        r#""name":"up__meta","arguments":{"mode":"raw"},"arguments":{"mode":"plain"}"#,
        r#""name":"up__meta","Arguments":{"mode":"raw"},"arguments":{"mode":"raw"}"#,
    ];
    let of_members = members.into_iter().map(|text| attempt(text, "tools/call", text));
    of_arguments.chain(of_members).collect()
}

fn tasks() -> Vec<Attempt> {
    let calls = [
        r#""task":{}"#,
        r#""task":{"ttl":60000}"#,
        r#""task":true"#,
        r#""task":{"ttl":-1}"#,
        r#""_task":{}"#,
    ];
    let as_task = calls.into_iter().flat_map(|task| {
        ["up__echo", "up__ask"].map(|tool| {
            let members = format!(r#""name":"{tool}","arguments":{{"leak":"PASSED"}},{task}"#);
            attempt(format!("{tool} {task}"), "tools/call", members)
        })
    });
    let methods = ["tasks/get", "tasks/result", "tasks/update", "tasks/cancel", "tasks/list"];
    let ids = ["up__echo", "echo", "1", "up/1", "../1"];
    let by_id = methods.into_iter().flat_map(|method| {
        ids.map(|id| attempt(format!("{method} {id}"), method, format!(r#""taskId":"{id}""#)))
    });
    as_task.chain(by_id).collect()
}

fn subscriptions() -> Vec<Attempt> {
    let uris = [
        "note://one",
        "NOTE://one",
        "note://%6fne",
        "note://one#x",
        "note://one?x",
        "page://secret/7",
        "page://%73ecret/7",
        "page://secret",
        "page://x/../secret/7",
        "PAGE://secret/7",
        "gateway://up/note://one",
        "gateway://up/page://secret/7",
    ];
    let alone = uris.map(|uri| {
        attempt(
            format!("listen {uri}"),
            "subscriptions/listen",
            format!(r#""notifications":{{"resourceSubscriptions":["{uri}"]}}"#),
        )
    });
    // Beside one that is allowed.
    let beside = uris.map(|uri| {
        attempt(
            format!("listen note://ask and {uri}"),
            "subscriptions/listen",
            format!(r#""notifications":{{"resourceSubscriptions":["note://ask","{uri}"]}}"#),
        )
    });
    alone.into_iter().chain(beside).collect()
}

fn completions() -> Vec<Attempt> {
    let argument = r#""argument":{"name":"id","value":"PASSED"}"#;
    let prompts = ["up__greet", "greet", "UP__GREET", "up__greet ", "up__gr\u{200b}eet", "up/greet"];
    let prompts = prompts.into_iter().map(|name| {
        let members = format!(r#""ref":{{"type":"ref/prompt","name":{}}},{argument}"#, json!(name));
        attempt(format!("complete {name:?}"), "completion/complete", members)
    });
    let uris = [
        "page://{id}",
        "page://secret/{id}",
        "page://secret/7",
        "page://{+id}",
        "note://one",
        "PAGE://{id}",
        "gateway://up/page://{id}",
        "page://{id}{?x}",
    ];
    let uris = uris.into_iter().map(|uri| {
        let members = format!(r#""ref":{{"type":"ref/resource","uri":{}}},{argument}"#, json!(uri));
        attempt(format!("complete {uri:?}"), "completion/complete", members)
    });
    prompts.chain(uris).collect()
}

fn handles() -> Vec<Attempt> {
    let tools = ["read_result", "up__read_result", "gateway__read_result", "result"];
    let handles = ["1", "echo", "up__echo", "up/echo/1", "note://one", "../1", "AAAA"];
    let by_tool = tools.into_iter().flat_map(|tool| {
        handles.map(|handle| {
            let members = format!(r#""name":"{tool}","arguments":{{"handle":"{handle}","offset":0}}"#);
            attempt(format!("{tool} {handle}"), "tools/call", members)
        })
    });
    let by_uri = handles.into_iter().flat_map(|handle| {
        ["result://", "gateway://result/", "handle://"].map(|scheme| read(&format!("{scheme}{handle}")))
    });
    by_tool.chain(by_uri).collect()
}

fn cell(client: Side) -> Cell {
    Cell { client, upstream: Side::Modern, reach: Reach::InProcess }
}

async fn open(cell: Cell, document: &str) -> Bench {
    cell.open_with(GatewayOptions::default().with_policy(Policy::parse(document).unwrap())).await
}

/// Returns what the upstream did, apart from what the test itself asks of it.
async fn done_by(bench: &Bench) -> BTreeMap<String, i64> {
    let mut counts = bench.counts().await;
    counts.remove("runs of counts");
    counts
}

/// Makes all attempts and returns how many there were.
async fn attempt_all(document: &str) -> usize {
    let bench = open(cell(Side::Modern), document).await;
    let client = RawClient::connect(bench.gateway.server(), Some("mallory")).await;
    let before = done_by(&bench).await;
    let (mut names, mut through) = (BTreeSet::new(), Vec::new());
    for (class, attempts) in CLASSES {
        for Attempt { name, method, members } in attempts() {
            let name = format!("{class}: {name}");
            if let Ok(result) = client.request(method, &members).await
                && MARKS.iter().any(|mark| result.as_str().contains(mark))
            {
                through.push(name.clone());
            }
            let after = done_by(&bench).await;
            if after != before {
                through.push(format!("{name} reached the upstream: {after:?}"));
                break;
            }
            assert!(names.insert(name.clone()), "two attempts are named {name}");
        }
    }
    assert!(through.is_empty(), "{through:#?}");
    // The policy is in force, and not everything is refused.
    let plain = client.request("tools/call", r#""name":"up__meta","arguments":{"mode":"plain"}"#).await;
    assert!(plain.is_ok(), "{plain:?}");
    bench.close().await;
    names.len()
}

async fn no_attempt_gets_past_a_deny_list() {
    let attempts = attempt_all(DENY_LIST).await;
    assert!(attempts >= 200, "{attempts} attempts");
}

async fn no_attempt_gets_past_an_allow_list() {
    let attempts = attempt_all(ALLOW_LIST).await;
    assert!(attempts >= 200, "{attempts} attempts");
}

async fn no_batch_gets_past_the_policy() {
    let bench = open(cell(Side::Legacy), DENY_LIST).await;
    let options = HttpServerOptions::default()
        .with_authenticate(|_: &http::request::Parts| Ok(Some(Caller::new("mallory"))));
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap().to_string();
    let mut tasks = JoinSet::new();
    tasks.spawn(listener.serve(HttpService::new(bench.gateway.server(), options)));
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
    let (head, _) = post(&address, "", initialize).await;
    let session = head.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
    let headers = format!("{session}\r\nmcp-protocol-version: 2025-03-26\r\n");
    post(&address, &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let before = done_by(&bench).await;

    let call = |id: &str, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"leak":"PASSED"}}}}}}"#
        )
    };
    let (denied, other) = (call("2", "up__echo"), call("3", "up__nothing"));
    let read = r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"note://one"}}"#;
    let subscribe =
        r#"{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"note://one"}}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for body in [
        format!("[{denied}]"),
        format!("[{denied},{denied}]"),
        format!("[{other},{denied}]"),
        format!("[{denied},{other}]"),
        format!("[{note},{denied}]"),
        format!("[[{denied}]]"),
        format!("[{},{}]", call("\"a\"", "up__echo"), call("\"b\"", "up__nothing")),
        format!("[{read}]"),
        format!("[{read},{denied}]"),
        format!("[{subscribe},{read}]"),
        format!("{denied}{other}"),
        denied.replace("\"id\":2,", ""),
        denied.replace("\"id\":2", "\"id\":null"),
        format!("[{}]", denied.replace("\"id\":2,", "")),
    ] {
        let (_, answer) = post(&address, &headers, &body).await;
        assert!(!MARKS.iter().any(|mark| answer.contains(mark)), "{body}: {answer}");
        assert_eq!(done_by(&bench).await, before, "{body}");
    }
    bench.close().await;
}

async fn no_legacy_subscription_gets_past_the_policy() {
    let bench = open(cell(Side::Legacy), DENY_LIST).await;
    let session = bench.client(&Person::new("mallory")).await;
    for uri in [
        "note://one",
        "NOTE://one",
        "note://%6fne",
        "page://secret/7",
        "page://%73ecret/7",
        "gateway://up/note://one",
    ] {
        assert!(session.subscribe(uri).await.is_err(), "{uri}");
    }
    assert_eq!(bench.counts().await.get("subscribed").copied().unwrap_or_default(), 0);
    assert!(session.subscribe("note://ask").await.is_ok());
    bench.counted("subscribed", 1).await;
    bench.close().await;
}
