//! How an application describes servers: one argument for all kinds, one attempt that leaves nothing behind, names that
//! are never taken from another server, permissions without registration.

use std::sync::Arc;

use serde_json::json;
use switchboard_host::config::ServerConfig;
use switchboard_host::permission::{Policy, Rules};
use switchboard_host::{AmbiguousNamePolicy, Host, HostError, ServerSpec, Status, StatusKind};
use switchboard_http::{Bearer, Secret};
use switchboard_session::server::InProcess;
use switchboard_testkit::{is_running, trial, trial_leaving_tasks};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::checklist::missing;
use crate::hosts::{add_failing, child, host_with, in_process, names, sh, until};
use crate::toy::{self, Toy};
use crate::web::Web;

switchboard_testkit::trials![
    trial_leaving_tasks:
        a1_stdio_http_json_in_process_and_custom_servers_are_connected_alike,
        a1_identical_specs_are_kept_by_set_servers;
    trial:
        a1_variables_of_a_config_come_from_the_environment,
        a6_a_failed_connect_leaves_no_server_behind,
        a6_a_dropped_connect_leaves_no_server_behind,
        a6_a_server_goes_on_until_the_one_that_replaces_it_is_ready,
        a6_add_returns_at_once_and_keeps_trying,
        a7_a_name_that_several_servers_have_is_refused_unless_the_policy_says_otherwise,
        a8_headers_and_addresses_are_checked_when_a_connection_is_opened,
        d7_every_status_has_a_masked_configuration,
        d8_permissions_need_no_registration_of_servers,
        d10_connected_servers_and_tools_of_servers_are_listed_apart;
];

const UNSET: &str = "SWITCHBOARD_TEST_UNSET";

fn program() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

async fn a1_stdio_http_json_in_process_and_custom_servers_are_connected_alike() {
    let server = Toy::full().server("toy");
    let web = Web::open(&server).await;
    *web.token.lock() = Some("abc".to_owned());
    let json = json!({"command": program(), "env": {toy::PART: format!("${{{UNSET}:-toy}}")}}).to_string();

    let host = Host::new();
    host.connect("fs", Stdio::new(program()).env(toy::PART, "toy")).await.unwrap();
    let docs = Http::new(format!("{}/mcp", web.url)).header("Authorization", "Bearer abc");
    host.connect("docs", docs).await.unwrap();
    host.connect("time", serde_json::from_str::<ServerConfig>(&json).unwrap()).await.unwrap();
    host.connect("here", InProcess::new(&server)).await.unwrap();
    let old = Http::new(format!("{}/sse", web.url)).header("Authorization", "Bearer abc").sse();
    host.connect("old", old).await.unwrap();
    host.connect("own", ServerSpec::custom(InProcess::new(&server))).await.unwrap();

    let all = ["fs", "docs", "time", "here", "old", "own"];
    assert_eq!(host.connected(), all);
    for name in all {
        let said = host.call_tool(name, "echo", json!({"to": name})).await.unwrap();
        assert_eq!(said.text(), format!(r#"{{"to":"{name}"}}"#));
    }
    host.close().await;
}

async fn a1_variables_of_a_config_come_from_the_environment() {
    let config = |value: serde_json::Value| serde_json::from_value::<ServerConfig>(value).unwrap();
    let spec = ServerSpec::from(config(json!({"command": "x", "env": {"SAME": "${PATH}"}})));
    let path = std::env::var_os("PATH").unwrap();
    assert_eq!(spec.transport, Stdio::new("x").env("SAME", path).into());

    let host = Host::new();
    let unset = config(json!({"command": "x", "args": [format!("${{{UNSET}}}")]}));
    let error = host.connect("unset", unset.clone()).await.unwrap_err();
    assert!(error.to_string().contains(&format!("the variable {UNSET} is not set")), "{error}");
    assert!(host.servers().is_empty());
    let error = add_failing(&host, "unset", unset.into()).await;
    assert!(error.to_string().contains(UNSET), "{error}");
    assert!(matches!(host.state("unset").unwrap(), Status::Failed(_)), "trying again would not help");
    host.close().await;
}

async fn a1_identical_specs_are_kept_by_set_servers() {
    let server = Toy::full().server("toy");
    let web = Web::open(&server).await;
    let url = format!("{}/mcp", web.url);
    let bearer = || Arc::new(Bearer::new(&Secret::new("abc")).unwrap());
    let (first, second) = (bearer(), bearer());
    let own = Arc::new(InProcess::new(&server));
    let config: ServerConfig =
        serde_json::from_value(json!({"command": program(), "env": {toy::PART: "toy"}})).unwrap();
    let servers = |authorizer: &Arc<Bearer>, own: &Arc<InProcess>| {
        let http = Http::new(&url).header("X-Key", "k").authorizer(Arc::clone(authorizer) as _);
        [
            ("stdio", Stdio::new(program()).env(toy::PART, "toy").into()),
            ("http", ServerSpec::from(http)),
            ("here", InProcess::new(&server).into()),
            ("config", (&config).into()),
            ("own", Arc::clone(own).into()),
        ]
    };
    let host = Host::new();
    let set = host.set_servers(servers(&first, &own)).await;
    assert_eq!((set.added.len(), set.errors.len()), (5, 0), "{set:?}");
    let set = host.set_servers(servers(&first, &own)).await;
    assert!(set.added.is_empty() && set.removed.is_empty() && set.errors.is_empty(), "{set:?}");
    // Authorizers and custom dials are the same only if they are the same object.
    let set = host.set_servers(servers(&second, &Arc::new(InProcess::new(&server)))).await;
    assert_eq!(set.added, ["http", "own"], "{set:?}");
    host.close().await;
}

async fn a6_a_failed_connect_leaves_no_server_behind() {
    let host = Host::new();
    for (name, server) in [("missing", missing()), ("exits", sh("exit 3"))] {
        let error = host.connect(name, server).await.unwrap_err();
        assert!(matches!(error, HostError::Connect { .. }), "{error}");
        assert!(host.servers().is_empty() && host.status().is_empty(), "{:?}", host.status());
    }
    host.close().await;
}

async fn a6_a_dropped_connect_leaves_no_server_behind() {
    let host = Host::new();
    let connecting = host.connect("hangs", sh("cat >/dev/null"));
    let started = async {
        until(&host, "hangs", |status| matches!(status, Status::Starting { .. })).await;
        until_child(&host, "hangs").await
    };
    let pid = tokio::select! {
        // The server is in the set from the first poll of the connection on.
        biased;
        connected = connecting => panic!("{connected:?}"),
        pid = started => pid,
    };
    assert!(host.servers().is_empty(), "{:?}", host.servers());
    switchboard_testkit::wait_for_exit(pid).await;
    host.close().await;
}

/// Waits until the process of a server is there.
async fn until_child(host: &Host, server: &str) -> u32 {
    loop {
        if let Some(child) = host.child(server).unwrap() {
            return child.root_pid();
        }
        tokio::task::yield_now().await;
    }
}

async fn a6_a_server_goes_on_until_the_one_that_replaces_it_is_ready() {
    let host = Host::builder().without_resource_tools().build();
    host.connect("toy", child("toy")).await.unwrap();
    let pid = async || -> u32 { host.call_tool("toy", "pid", ()).await.unwrap().text().parse().unwrap() };
    let (before, tools) = (pid().await, names(&host));
    host.connect("toy", missing()).await.unwrap_err();
    assert_eq!((pid().await, names(&host)), (before, tools.clone()), "the old one is still there");
    // The same description is the same server.
    host.connect("toy", child("toy")).await.unwrap();
    assert_eq!(pid().await, before);
    let connecting = host.connect("toy", child("toy").deny_tools(["die"]));
    let calling = async {
        loop {
            assert!(host.find_tool("pid").is_some(), "every catalog has the tools of one of the two");
            // A call that is under way when the old one ends may fail; the next one is answered.
            match host.call_tool("toy", "pid", ()).await {
                Ok(said) if said.text() != before.to_string() => break,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    let (connected, ()) = tokio::join!(connecting, calling);
    connected.unwrap();
    assert_eq!(names(&host).len(), tools.len() - 1);
    assert_eq!(host.servers(), ["toy"]);
    host.close().await;
    assert!(!is_running(before));
}

async fn a6_add_returns_at_once_and_keeps_trying() {
    let directory = tempfile::tempdir().unwrap();
    let tries = directory.path().join("tries");
    // Another exit code each time, so that it looks like bad luck.
    let script = format!("echo x >> {0}; exit $(wc -l < {0})", tries.display());
    let host = Host::new();
    host.add("later", sh(&script)).unwrap();
    assert_eq!(host.servers(), ["later"]);
    assert_eq!(host.server_status("later").unwrap().status, StatusKind::Pending);
    host.ready("later").await.unwrap_err();
    until(&host, "later", |status| matches!(status, Status::Starting { attempt: 2, .. })).await;
    assert!(matches!(host.add("", missing()), Err(HostError::BadName { .. })));
    host.close().await;
    assert!(matches!(host.add("late", missing()), Err(HostError::Closed)));
}

async fn a7_a_name_that_several_servers_have_is_refused_unless_the_policy_says_otherwise() {
    let (a, b) = (Toy::new(&["search", "only"]), Toy::new(&["search"]));
    let (first, second) = (a.server("a"), b.server("b"));
    let servers = [("a", &first), ("b", &second)];
    let host = host_with(Host::builder(), &servers).await;
    let error = host.call("search", ()).await.unwrap_err();
    let HostError::Ambiguous { servers: offering, .. } = &error else { panic!("{error}") };
    assert_eq!(offering.iter().map(|server| &**server).collect::<Vec<_>>(), ["a", "b"]);
    assert!(error.to_string().contains("several servers: a, b"), "{error}");
    let told = host.execute("search", ()).await;
    assert!(told.is_error && told.text().contains("mcp__a__search"), "{}", told.text());
    assert_eq!((a.called(), b.called()), (0, 0), "nothing was sent");
    host.call("mcp__b__search", ()).await.unwrap();
    host.call_tool("b", "search", ()).await.unwrap();
    host.call("only", ()).await.unwrap();
    assert_eq!((a.called(), b.called()), (1, 2));
    host.close().await;

    let builder = Host::builder().ambiguous_names(AmbiguousNamePolicy::FirstServer);
    let host = host_with(builder, &servers).await;
    host.call("search", ()).await.unwrap();
    assert_eq!((a.called(), b.called()), (2, 2));
    host.close().await;
}

async fn a8_headers_and_addresses_are_checked_when_a_connection_is_opened() {
    let host = Host::new();
    for (server, said) in [
        (Http::new("https://example.org/mcp").header("bad name", "s3cr3t"), "\"bad name\""),
        (Http::new("https://example.org/mcp").header("X-Key", "s3cr3t\n"), "\"X-Key\""),
        (Http::new("example.org/mcp"), "address"),
        (Http::new("http://example.org/mcp"), "https"),
    ] {
        let error = host.connect("web", server.clone()).await.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(!format!("{error} {error:?} {server:?}").contains("s3cr3t"), "{error:?}");
        // The same from a client without a host.
        let error = switchboard_session::Client::new().connect(server).await.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    host.close().await;
}

async fn d7_every_status_has_a_masked_configuration() {
    let toy = Toy::new(&["x"]).server("toy");
    let host = Host::new();
    let stdio = Stdio::new("x").args(["--token", "s3cr3t", "-v"]).env("KEY", "s3cr3t").cwd("/tmp");
    let http = Http::new("https://example.org/mcp?key=s3cr3t").header("X-Key", "s3cr3t").sse();
    let disabled = |spec: ServerSpec| {
        spec.start(switchboard_host::config::StartPolicy::Off(switchboard_host::config::OffReason::Disabled))
    };
    host.connect("stdio", disabled(stdio.into())).await.unwrap();
    host.connect("http", disabled(http.into())).await.unwrap();
    host.connect("here", InProcess::new(&toy)).await.unwrap();
    host.connect(
        "own",
        ServerSpec::custom(InProcess::new(&toy)).call_timeout(std::time::Duration::from_secs(9)),
    )
    .await
    .unwrap();
    let config: ServerConfig =
        serde_json::from_value(json!({"command": "x", "env": {"A": "${PATH}"}})).unwrap();
    host.connect("config", disabled(config.into())).await.unwrap();
    let shown: Vec<serde_json::Value> =
        host.status().iter().map(|status| status.config.value().clone()).collect();
    assert_eq!(
        shown,
        [
            json!({"type": "stdio", "command": "x", "args": ["--token", "••••", "-v"], "env": {"KEY": "••••"},
                   "cwd": "/tmp", "disabled": true}),
            json!({"type": "sse", "url": "https://example.org/mcp?key=••••", "headers": {"X-Key": "••••"},
                   "disabled": true}),
            json!({"type": "sdk", "name": "toy"}),
            json!({"type": "custom"}),
            json!({"type": "stdio", "command": "x", "env": {"A": "${PATH}"}}),
        ]
    );
    let whole = serde_json::to_string(&host.status()).unwrap();
    assert!(!whole.contains("s3cr3t"), "{whole}");
    host.close().await;
}

async fn d8_permissions_need_no_registration_of_servers() {
    let toy = Toy::new(&["echo", "die", "x"]);
    let server = toy.server("toy");
    let policy =
        Policy::new(Rules::new(["deny trusted/x".parse().unwrap(), "allow plain/x".parse().unwrap()]));
    let host = Host::builder().permissions(policy).build();
    host.connect("trusted", ServerSpec::from(InProcess::new(&server)).trusted()).await.unwrap();
    host.connect("plain", InProcess::new(&server)).await.unwrap();
    // A trusted server is believed that `echo` only reads; of another it has to be asked, and nobody is there.
    host.call_tool("trusted", "echo", ()).await.unwrap();
    for (server, tool) in [("plain", "echo"), ("trusted", "x")] {
        let error = host.call_tool(server, tool, ()).await.unwrap_err();
        assert!(matches!(error, HostError::Refused { .. }), "{error}");
    }
    host.call_tool("plain", "x", ()).await.unwrap();
    assert_eq!(toy.called(), 2);
    // Trust that changes is known at once, and the connection stays.
    host.connect("plain", ServerSpec::from(InProcess::new(&server)).trusted()).await.unwrap();
    host.call_tool("plain", "echo", ()).await.unwrap();
    let gate = host.permissions().unwrap();
    gate.set_policy(Policy::new(Rules::new(["deny plain/*".parse().unwrap()])));
    host.call_tool("plain", "echo", ()).await.unwrap_err();
    host.close().await;
}

async fn d10_connected_servers_and_tools_of_servers_are_listed_apart() {
    let host = Host::builder().with_server("toy", &Toy::new(&["x"]).server("toy")).build();
    let set = host.set_servers([("good", in_process("toy")), ("bad", missing())]).await;
    // `added` is about the set: a server that did not connect is in it.
    assert_eq!(set.added, ["good", "bad"]);
    assert_eq!(set.errors.keys().collect::<Vec<_>>(), ["bad"]);
    assert_eq!(host.servers(), ["good", "bad"]);
    assert_eq!(host.connected(), ["good"]);
    let servers: Vec<String> = host.all_tools().iter().map(|tool| tool.server().to_owned()).collect();
    assert_eq!(servers, ["(application)", "(application)", "good"]);
    let tools: Vec<String> = host.server_tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(tools, ["mcp__good__x"]);
    host.close().await;
}
