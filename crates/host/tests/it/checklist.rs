//! What a host must do, line by line.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_host::config::{OffReason, RestartPolicy, StartPolicy};
use switchboard_host::{
    CallDecision, CallPolicy, Host, HostError, ProposedCall, ServerSpec, Status, StatusKind, TokenSource,
};
use switchboard_http::{AuthorizeError, BoxFuture, Secret};
use switchboard_protocol::{CompleteParams, Reference};
use switchboard_session::CallError;
use switchboard_testkit::{is_running, trial, trial_leaving_tasks, wait_for_exit};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::hosts::{child, host_of, host_with, http, in_process, names, reopened, sh, spec};
use crate::toy::Toy;
use crate::web::Web;

switchboard_testkit::trials![
    trial_leaving_tasks:
        config_types_all_five_are_supported,
        status_values_all_five_are_tracked,
        http_and_sse_headers_are_passed;
    trial:
        status_json_is_as_others_read_it,
        tool_registration_under_qualified_names,
        tool_unregistration_with_disconnect,
        set_servers_diffs_old_and_new,
        set_servers_one_bad_server_harms_no_other,
        json_rpc_ids_are_matched_to_their_calls,
        stdio_lifecycle_spawned_on_connect_killed_on_disconnect,
        reconnect_tears_down_and_connects_again,
        toggle_hides_the_tools_and_keeps_the_connection,
        resource_access_through_both_tools,
        error_propagation_as_results_of_the_tool,
        annotations_inform_the_permission;
];

#[derive(Debug)]
struct Tokens;

impl TokenSource for Tokens {
    fn token<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Secret, AuthorizeError>> {
        Box::pin(async move {
            match id {
                "nobody" => Err(AuthorizeError::NeedsLogin),
                id => Ok(Secret::new(format!("token-of-{id}"))),
            }
        })
    }
}

fn proxy(web: &Web, id: &str) -> ServerSpec {
    spec(ServerSpec::claudeai_proxy(format!("{}/mcp", web.url), id))
}

async fn config_types_all_five_are_supported() {
    let server = Toy::full().server("toy");
    let web = Web::open(&server).await;
    let guarded = Web::open(&server).await;
    *guarded.token.lock() = Some("token-of-c1".to_owned());
    let host = Host::builder()
        .with_server("inside", &server)
        .with_token_source(Arc::new(Tokens))
        .without_resource_tools()
        .build();
    let sse = Http::new(format!("{}/sse", web.url)).sse();
    let done = host
        .set_servers([
            ("stdio", child("toy")),
            ("sse", spec(sse)),
            ("http", http(&format!("{}/mcp", web.url))),
            ("sdk", in_process("inside")),
            ("claudeai", proxy(&guarded, "c1")),
        ])
        .await;
    assert_eq!(done.errors, BTreeMap::new());
    for name in ["stdio", "sse", "http", "sdk", "claudeai"] {
        assert_eq!(host.server_status(name).unwrap().status, StatusKind::Connected, "{name}");
        let said = host.call_tool(name, "echo", json!({"from": name})).await.unwrap();
        assert_eq!(said.text(), format!(r#"{{"from":"{name}"}}"#));
    }
    host.close().await;
}

async fn status_values_all_five_are_tracked() {
    let server = Toy::full().server("toy");
    let web = Web::open(&server).await;
    *web.token.lock() = Some("secret".to_owned());
    let host = Host::builder().with_server("good", &server).with_token_source(Arc::new(Tokens)).build();
    let mut disabled = in_process("good");
    disabled.start = StartPolicy::Off(OffReason::Disabled);
    let mut pending = in_process("good");
    pending.start = StartPolicy::Off(OffReason::Unapproved);
    let mut broken = sh("exit 3");
    broken.restart = RestartPolicy::Never;
    let done = host
        .set_servers([
            ("connected", in_process("good")),
            ("failed", broken),
            ("needs-auth", http(&format!("{}/mcp", web.url))),
            ("no-login", proxy(&web, "nobody")),
            ("pending", pending),
            ("disabled", disabled),
        ])
        .await;
    let words: Vec<(String, StatusKind)> = host.status().into_iter().map(|s| (s.name, s.status)).collect();
    let expected = [
        ("connected", StatusKind::Connected),
        ("failed", StatusKind::Failed),
        ("needs-auth", StatusKind::NeedsAuth),
        ("no-login", StatusKind::NeedsAuth),
        ("pending", StatusKind::Pending),
        ("disabled", StatusKind::Disabled),
    ];
    assert_eq!(words, expected.map(|(name, word)| (name.to_owned(), word)));
    assert_eq!(done.errors.keys().collect::<Vec<_>>(), ["failed", "needs-auth", "no-login"]);
    let Status::NeedsAuth(challenge) = host.state("needs-auth").unwrap() else { panic!("it wants a login") };
    assert_eq!((challenge.status, challenge.scope.as_deref()), (401, Some("read")));
    // Once somebody has logged in, a reconnect is all it takes.
    *web.token.lock() = None;
    host.reconnect("needs-auth").await.unwrap();
    assert_eq!(host.server_status("needs-auth").unwrap().status, StatusKind::Connected);
    host.close().await;
}

async fn status_json_is_as_others_read_it() {
    let toy = Toy::new(&["echo", "other"]);
    let host = Host::builder().with_server("toy", &toy.server("toy-server")).without_resource_tools().build();
    let written = json!({"type": "sdk", "name": "toy", "env": {"KEY": "••••", "OTHER": "${VAR}"}});
    let desired = in_process("toy").with_written(written.clone()).with_scope("project");
    host.connect("toy", desired).await.unwrap();
    assert_eq!(
        serde_json::to_value(host.server_status("toy").unwrap()).unwrap(),
        json!({
            "name": "toy",
            "status": "connected",
            "serverInfo": {"name": "toy-server", "version": "1.2.3"},
            "config": written,
            "scope": "project",
            "tools": [
                {
                    "name": "echo",
                    "description": "What echo does.",
                    "annotations": {"readOnly": true, "openWorld": false}
                },
                {"name": "other", "description": "What other does."}
            ]
        })
    );
    host.toggle("toy", false).await.unwrap();
    assert_eq!(
        serde_json::to_value(host.server_status("toy").unwrap()).unwrap(),
        json!({"name": "toy", "status": "disabled", "config": written, "scope": "project"})
    );
    let unknown = host.server_status("nobody").unwrap_err();
    assert!(matches!(unknown, HostError::NotConnected { .. }), "{unknown}");
    assert!(unknown.to_string().contains("there are: toy"), "{unknown}");
    host.close().await;
}

async fn tool_registration_under_qualified_names() {
    let host = host_of(&[
        ("context7", &Toy::new(&["search", "a.b"]).server("c")),
        ("file_system", &Toy::new(&["read_file"]).server("f")),
    ])
    .await;
    let names = names(&host);
    assert_eq!(names[0], "mcp__context7__search");
    assert_eq!(names[2], "mcp__file_system__read_file");
    // A name that no provider takes is made into one, and called by it all the same.
    assert!(names[1].starts_with("mcp__context7__a_b_"), "{}", names[1]);
    let said = host.get(&names[1]).unwrap().execute(json!({"x": 1})).await;
    assert_eq!((said.text().as_str(), said.is_error), (r#"{"x":1}"#, false));
    host.close().await;
}

async fn tool_unregistration_with_disconnect() {
    let host = host_of(&[("a", &Toy::new(&["x"]).server("a")), ("b", &Toy::new(&["y"]).server("b"))]).await;
    assert_eq!(names(&host), ["mcp__a__x", "mcp__b__y"]);
    host.disconnect("a").await.unwrap();
    assert_eq!(names(&host), ["mcp__b__y"]);
    assert!(host.get("mcp__a__x").is_none());
    assert!(matches!(host.disconnect("a").await, Err(HostError::NotConnected { .. })));
    host.close().await;
}

async fn set_servers_diffs_old_and_new() {
    let host = Host::builder().build();
    let pid =
        async |name: &str| -> u32 { host.call_tool(name, "pid", ()).await.unwrap().text().parse().unwrap() };
    let first =
        host.set_servers([("keep", child("toy")), ("change", child("toy")), ("go", child("toy"))]).await;
    assert_eq!(first.added, ["keep", "change", "go"]);
    assert_eq!((first.removed.len(), first.errors.len()), (0, 0));
    let (keep, change, go) = (pid("keep").await, pid("change").await, pid("go").await);
    let mut other = child("toy");
    other.call_timeout = Some(Duration::from_secs(5));
    let second = host.set_servers([("new", child("toy")), ("change", other), ("keep", child("toy"))]).await;
    assert_eq!(second.added, ["new", "change"]);
    assert_eq!(second.removed, ["change", "go"]);
    assert!(second.errors.is_empty(), "{:?}", second.errors);
    assert_eq!(pid("keep").await, keep, "the same connection");
    assert_ne!(pid("change").await, change, "replaced");
    wait_for_exit(change).await;
    wait_for_exit(go).await;
    assert_eq!(host.servers(), ["new", "change", "keep"]);
    assert_eq!(
        serde_json::to_value(&second).unwrap(),
        json!({"added": ["new", "change"], "removed": ["change", "go"], "errors": {}})
    );
    host.close().await;
}

async fn set_servers_one_bad_server_harms_no_other() {
    let host = Host::builder().with_server("toy", &Toy::new(&["x"]).server("toy")).build();
    let mut hangs = sh("cat >/dev/null");
    hangs.startup_timeout = Duration::from_millis(500);
    let done = host
        .set_servers([
            ("missing", missing()),
            ("exits", sh("echo dead >&2; exit 4")),
            ("junk", sh("echo this is not json; exit 5")),
            ("hangs", hangs),
            ("", in_process("toy")),
            ("good", in_process("toy")),
            ("good", in_process("other")),
        ])
        .await;
    assert_eq!(host.server_status("good").unwrap().status, StatusKind::Connected);
    assert_eq!(done.errors.keys().collect::<Vec<_>>(), ["", "exits", "good", "hangs", "junk", "missing"]);
    assert!(done.errors["exits"].contains("dead"), "{}", done.errors["exits"]);
    assert!(done.errors["missing"].contains("/nowhere/server"));
    host.close().await;
}

pub(crate) fn missing() -> ServerSpec {
    spec(Stdio::new("/nowhere/server"))
}

async fn json_rpc_ids_are_matched_to_their_calls() {
    let host = Host::builder().build();
    host.set_servers([("one", child("toy")), ("two", child("legacy"))]).await;
    let calls = (0..200).map(|n| {
        let host = host.clone();
        tokio::spawn(async move {
            let server = if n % 2 == 0 { "one" } else { "two" };
            let said = host.call_tool(server, "echo", json!({"n": n})).await.unwrap();
            assert_eq!(said.text(), format!(r#"{{"n":{n}}}"#));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    assert_eq!(host.metrics().calls, 200);
    host.close().await;
}

async fn stdio_lifecycle_spawned_on_connect_killed_on_disconnect() {
    let host = Host::builder().build();
    host.connect("toy", child("toy")).await.unwrap();
    let pid: u32 = host.call_tool("toy", "pid", ()).await.unwrap().text().parse().unwrap();
    assert!(is_running(pid));
    host.disconnect("toy").await.unwrap();
    assert!(!is_running(pid));
    host.close().await;
}

async fn http_and_sse_headers_are_passed() {
    let server = Toy::full().server("toy");
    for (path, sse) in [("mcp", false), ("sse", true)] {
        let web = Web::open(&server).await;
        let endpoint = Http::new(format!("{}/{path}", web.url)).header("X-Api-Key", "k-123");
        let host = Host::builder().build();
        host.connect("web", if sse { endpoint.sse() } else { endpoint }).await.unwrap();
        host.call_tool("web", "echo", ()).await.unwrap();
        host.close().await;
        let said = web.said.lock().clone();
        let requests = said.matches(" HTTP/1.1\r\n").count();
        assert!(requests >= 3, "{said}");
        assert_eq!(said.matches("x-api-key: k-123\r\n").count(), requests, "on every request: {said}");
    }
}

async fn reconnect_tears_down_and_connects_again() {
    let host = Host::builder().build();
    host.connect("toy", child("toy")).await.unwrap();
    let pid = async || -> u32 { host.call_tool("toy", "pid", ()).await.unwrap().text().parse().unwrap() };
    let before = pid().await;
    host.reconnect("toy").await.unwrap();
    assert!(!is_running(before));
    assert_ne!(pid().await, before);
    assert!(matches!(host.reconnect("nobody").await, Err(HostError::NotConnected { .. })));
    host.close().await;
}

async fn toggle_hides_the_tools_and_keeps_the_connection() {
    let host = Host::builder().without_resource_tools().build();
    host.connect("toy", child("toy")).await.unwrap();
    let pid = async || host.call_tool("toy", "pid", ()).await.map(|said| said.text());
    let before = pid().await.unwrap();
    let handle = host.get("mcp__toy__echo").unwrap();
    host.toggle("toy", false).await.unwrap();
    assert!(names(&host).is_empty());
    assert!(matches!(pid().await, Err(HostError::NotReady { .. })));
    assert!(handle.execute(()).await.is_error, "not by a handle from before either");
    assert!(is_running(before.parse().unwrap()), "the process is kept");
    host.toggle("toy", true).await.unwrap();
    assert_eq!(pid().await.unwrap(), before, "the same connection");
    assert!(!handle.execute(()).await.is_error);
    assert!(matches!(host.toggle("nobody", true).await, Err(HostError::NotConnected { .. })));
    host.close().await;
}

async fn resource_access_through_both_tools() {
    let host = Host::builder()
        .with_server("a", &Toy::full().server("a"))
        .with_server("b", &Toy::new(&["x"]).server("b"))
        .build();
    host.set_servers([("a", in_process("a")), ("b", in_process("b"))]).await;
    let listed = host.execute("ListMcpResources", json!({})).await;
    let listed: serde_json::Value = listed.structured().unwrap().unwrap();
    assert_eq!(listed["resources"][1], json!({"server": "a", "uri": "toy://two", "name": "two"}));
    assert_eq!(listed["resources"].as_array().unwrap().len(), 2);
    let read = host.execute("ReadMcpResource", json!({"server": "a", "uri": "toy://one"})).await;
    assert!(!read.is_error && read.text().contains("contents of one"), "{}", read.text());
    for (arguments, says) in [
        (json!({"server": "a", "uri": "toy://three"}), "no resource toy://three"),
        (json!({"server": "c", "uri": "toy://one"}), "server not connected: \"c\" (there are: a, b)"),
        (json!({"uri": "toy://one"}), "`server` is required"),
    ] {
        let refused = host.execute("ReadMcpResource", arguments).await;
        assert!(refused.is_error && refused.text().contains(says), "{}", refused.text());
    }
    let all = host.list_resources(None).await.unwrap();
    assert_eq!((all.items.len(), all.errors.len()), (2, 0));
    assert!(matches!(host.list_resources(Some("c")).await, Err(HostError::NotConnected { .. })));
    assert_eq!(host.read_resource("a", "toy://two").await.unwrap().contents.len(), 1);
    assert_eq!(host.list_prompts(None).await.unwrap().items.len(), 2);
    let templates = host.list_resource_templates(Some("a")).await.unwrap();
    assert_eq!(templates.items[0].item.uri_template, "toy://{name}");
    let prompt = host.get_prompt("a", "greet", [("name", "Ada")]).await.unwrap();
    assert_eq!(prompt.messages[0].content.as_text(), Some("Greet Ada."));
    let params = CompleteParams::new(Reference::prompt("greet"), "name", "A");
    assert_eq!(host.complete("a", params).await.unwrap().completion.values, ["Ada"]);
    let instructions = host.instructions();
    assert_eq!((&*instructions[1].server, instructions[1].item.as_str()), ("b", "Use b with care."));
    host.close().await;
}

async fn error_propagation_as_results_of_the_tool() {
    let host = Host::builder().without_resource_tools().build();
    host.connect("toy", child("toy")).await.unwrap();
    let cases = [
        ("mcp__toy__fail", json!({}), "the disk is full"),
        ("mcp__toy__boom", json!({}), "something broke inside"),
        ("mcp__toy__picky", json!({"path": "relative"}), "path must be absolute"),
        ("mcp__toy__picky", json!({"path": "relative"}), r#"{"path":"/tmp/a"}"#),
        ("mcp__toy__picky", json!({}), "`path` is required"),
        ("mcp__toy__picky", json!([]), "the arguments must be a JSON object"),
        ("mcp__toy__ecko", json!({}), "did you mean mcp__toy__echo?"),
        ("mcp__toy__die", json!({}), "the tool may have run"),
    ];
    for (tool, arguments, says) in cases {
        let result = host.execute(tool, arguments).await;
        assert!(result.is_error && result.text().contains(says), "{tool}: {}", result.text());
    }
    reopened(&host, "toy", 1).await;
    let slow = host.call("mcp__toy__forever", ()).timeout(Duration::from_millis(50)).execute().await;
    assert!(slow.is_error && slow.text().contains("no answer within 50ms"), "{}", slow.text());
    // The other entry gives the same as a typed error.
    let error = host.call_tool("toy", "boom", ()).await.unwrap_err();
    let HostError::Call { error, .. } = error else { panic!("{error}") };
    assert!(matches!(*error, CallError::Remote(_)));
    host.close().await;
}

/// Lets pass what says that it only reads.
struct OnlyReading;

impl CallPolicy for OnlyReading {
    fn decide<'a>(
        &'a self,
        call: &'a ProposedCall<'a>,
    ) -> switchboard_session::link::BoxFuture<'a, CallDecision> {
        let permitted = if call.tool.effects().is_read_only() {
            CallDecision::Allow
        } else {
            CallDecision::Deny { reason: format!("{} may change something", call.name) }
        };
        Box::pin(async { permitted })
    }
}

async fn annotations_inform_the_permission() {
    let toy = Toy::full();
    let builder = Host::builder().with_call_policy(Arc::new(OnlyReading));
    let host = host_with(builder, &[("toy", &toy.server("toy"))]).await;
    assert!(!host.execute("mcp__toy__echo", ()).await.is_error);
    let refused = host.execute("mcp__toy__die", ()).await;
    assert!(refused.text().contains("mcp__toy__die may change something"), "{}", refused.text());
    assert_eq!(toy.called(), 1, "nothing was sent");
    assert!(host.get("mcp__toy__die").unwrap().effects().is_destructive());
    host.close().await;
}
