//! The operations of a host, one by one.

use serde_json::json;
use switchboard_host::{Host, HostError, ToolExplanation, WithheldReason};
use switchboard_testkit::trial;

use crate::hosts::{child, host_of, in_process, names};
use crate::toy::Toy;

switchboard_testkit::trials![trial:
    connect_connects_initializes_and_fetches_the_tools,
    disconnect_closes_one_connection,
    all_tools_of_all_servers_without_those_denied,
    find_tool_says_which_server_provides_it,
    call_tool_on_a_given_server,
    set_denied_tools_hides_and_refuses_them,
    servers_lists_the_connected_names,
    close_disconnects_all,
    a_call_creates_a_span_named_after_method_and_tool,
];

async fn connect_connects_initializes_and_fetches_the_tools() {
    let host = Host::builder().without_resource_tools().build();
    host.connect("toy", child("toy")).await.unwrap();
    let status = host.server_status("toy").unwrap();
    assert_eq!(status.server_info.unwrap().name, "toy");
    assert_eq!(status.tools.unwrap().len(), 9);
    assert_eq!(host.all_tools().len(), 9);
    host.close().await;
}

async fn disconnect_closes_one_connection() {
    let host = host_of(&[("a", &Toy::new(&["x"]).server("a")), ("b", &Toy::new(&["y"]).server("b"))]).await;
    host.disconnect("a").await.unwrap();
    assert_eq!(host.servers(), ["b"]);
    host.call_tool("b", "y", ()).await.unwrap();
    host.close().await;
}

async fn all_tools_of_all_servers_without_those_denied() {
    let host =
        host_of(&[("a", &Toy::new(&["x", "y"]).server("a")), ("b", &Toy::new(&["z"]).server("b"))]).await;
    host.set_denied_tools("a", ["y"]);
    assert_eq!(names(&host), ["mcp__a__x", "mcp__b__z"]);
    let first = &host.all_tools()[0];
    assert_eq!((first.server(), first.tool().name.as_str()), ("a", "x"));
    host.close().await;
}

async fn find_tool_says_which_server_provides_it() {
    let host = host_of(&[
        ("a", &Toy::new(&["x"]).server("a")),
        ("b", &Toy::new(&["store", "x"]).server("b")),
        ("c", &Toy::new(&["x"]).server("c")),
    ])
    .await;
    assert_eq!(host.find_tool("store").unwrap().tool.server(), "b");
    assert_eq!(host.find_tool("mcp__c__x").unwrap().tool.server(), "c");
    let several = host.find_tool("x").unwrap();
    assert_eq!(several.tool.server(), "a", "the first in configured order");
    assert_eq!(several.others.iter().map(|server| &**server).collect::<Vec<_>>(), ["b", "c"]);
    assert!(host.find_tool("nothing").is_none());
    host.close().await;
}

async fn call_tool_on_a_given_server() {
    let host = host_of(&[("a", &Toy::new(&["x"]).server("a"))]).await;
    let said = host.call_tool("a", "x", json!({"key": "greeting"})).await.unwrap();
    assert_eq!(said.text(), r#"{"key":"greeting"}"#);
    let unknown = host.call_tool("b", "x", ()).await.unwrap_err();
    assert!(unknown.to_string().starts_with("server not connected: \"b\""), "{unknown}");
    assert!(matches!(host.call_tool("a", "z", ()).await, Err(HostError::UnknownTool { .. })));
    host.close().await;
}

async fn set_denied_tools_hides_and_refuses_them() {
    let toy = Toy::new(&["read_file", "write_file", "delete_file"]);
    let host = host_of(&[("fs", &toy.server("fs"))]).await;
    let handle = host.get("mcp__fs__write_file").unwrap();
    assert!(host.set_denied_tools("fs", ["write_file", "delete_*"]).is_empty());
    assert_eq!(names(&host), ["mcp__fs__read_file"]);
    for refused in [
        host.call_tool("fs", "write_file", ()).await,
        host.call("mcp__fs__delete_file", ()).await,
        handle.call(()).await,
    ] {
        assert!(matches!(refused, Err(HostError::Withheld { .. })), "{refused:?}");
    }
    assert_eq!(toy.called(), 0);
    let ToolExplanation::Withheld { reason, .. } = host.explain_tool("delete_file") else {
        panic!("it is denied")
    };
    assert_eq!(reason, WithheldReason::Denied { rule: "delete_*".into() });
    // Rules that match nothing are likely misspelled.
    let idle = host.set_denied_tools("fs", ["wirte_file"]);
    assert_eq!(idle.iter().map(|rule| &**rule).collect::<Vec<_>>(), ["wirte_file"]);
    assert_eq!(names(&host).len(), 3);
    // They may be set before the server is there.
    host.set_denied_tools("later", ["x"]);
    host.register("later", &Toy::new(&["x", "y"]).server("later"));
    host.connect("later", in_process("later")).await.unwrap();
    assert_eq!(names(&host)[3..], ["mcp__later__y"]);
    host.close().await;
}

async fn servers_lists_the_connected_names() {
    let host = host_of(&[("b", &Toy::new(&[]).server("b")), ("a", &Toy::new(&[]).server("a"))]).await;
    assert_eq!(host.servers(), ["b", "a"], "in the order they were configured");
    assert_eq!(host.catalog().servers().collect::<Vec<_>>(), ["b", "a"]);
    host.close().await;
}

async fn close_disconnects_all() {
    let host = host_of(&[("a", &Toy::new(&["x"]).server("a")), ("b", &Toy::new(&["y"]).server("b"))]).await;
    host.close().await;
    assert!(host.servers().is_empty() && names(&host).is_empty() && host.status().is_empty());
    assert!(matches!(host.call_tool("a", "x", ()).await, Err(HostError::NotConnected { .. })));
    host.close().await;
}

async fn a_call_creates_a_span_named_after_method_and_tool() {
    let host = host_of(&[("filesystem", &Toy::new(&["read_file"]).server("fs"))]).await;
    let spans = crate::spans::Spans::default();
    let seen = spans.clone();
    // For this thread alone: the runtime has no other.
    let guard = switchboard_testkit::record_with(spans);
    host.call_tool("filesystem", "read_file", json!({"path": "/etc/hidden"})).await.unwrap();
    host.call_tool("filesystem", "read_file", ()).await.unwrap();
    drop(guard);
    let seen = seen.taken();
    let call = seen.iter().find(|span| span.contains("otel.name=tools/call read_file")).unwrap();
    for attribute in [
        "mcp.method.name=tools/call",
        "gen_ai.tool.name=read_file",
        "gen_ai.operation.name=execute_tool",
        "otel.kind=client",
    ] {
        assert!(call.contains(attribute), "{attribute} in {call}");
    }
    assert!(!seen.iter().any(|span| span.contains("hidden")), "arguments are not in it");
    host.close().await;
}
