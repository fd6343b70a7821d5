//! Views over HTTP: `/mcp/NAME` beside `/mcp`.

use switchboard::gateway::view::View;
use switchboard::gateway::{GatewayEndpoint, GatewayOptions};
use switchboard::server::{HttpListener, HttpServerOptions, ReplicaName};
use switchboard::{Client, Http, json};
use switchboard_session::ClientSession;
use switchboard_testkit::{trial_leaving_tasks, trials};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use crate::cells::Side;
use crate::shop::{ShopBench, tool_names};

trials! {
    trial_leaving_tasks:
        every_view_has_its_endpoint,
        only_the_exact_name_is_a_view,
        sessions_of_a_removed_view_end,
        session_ids_name_the_replica_of_the_gateway,
        a_renamed_tool_mirrors_its_arguments_in_headers,
}

const VIEWS: &str = r#"
[views.one]
servers = "one"
prefix = "never"
tools.include = ["search", "marked", "wait"]
[views.one.server.one.tool.marked]
name = "placed"
arguments.zone = { fixed = "b" }
[views.two]
servers = "two"
"#;

async fn serve(bench: &ShopBench, tasks: &mut JoinSet<()>) -> String {
    serve_with(bench, tasks, HttpServerOptions::default()).await
}

async fn serve_with(bench: &ShopBench, tasks: &mut JoinSet<()>, options: HttpServerOptions) -> String {
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap().to_string();
    tasks.spawn(listener.serve(GatewayEndpoint::new(&bench.gateway, options)));
    address
}

async fn connect(side: Side, address: &str, path: &str) -> ClientSession {
    let client = Client::new().with_revisions(side.revisions());
    client.connect(Http::new(format!("http://{address}{path}"))).await.unwrap()
}

async fn every_view_has_its_endpoint() {
    for side in [Side::Legacy, Side::Modern] {
        let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
        let mut tasks = JoinSet::new();
        let address = serve(&bench, &mut tasks).await;
        assert_eq!(tool_names(&connect(side, &address, "/mcp").await).await.len(), 14);
        let one = connect(side, &address, "/mcp/one").await;
        assert_eq!(tool_names(&one).await, ["placed", "search", "wait"], "{side:?}");
        let two = connect(side, &address, "/mcp/two").await;
        assert_eq!(tool_names(&two).await.len(), 7, "{side:?}");
        assert!(two.call_tool("two__search", json!({ "query": "a", "repo": "b" })).await.is_ok());
        assert!(one.call_tool("two__search", json!({})).await.is_err(), "{side:?}");
        bench.host.close().await;
    }
}

/// Sends a request and returns its whole answer.
async fn post(address: &str, path: &str, headers: &str, body: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;

async fn only_the_exact_name_is_a_view() {
    let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
    let mut tasks = JoinSet::new();
    let address = serve(&bench, &mut tasks).await;
    assert!(post(&address, "/mcp/one", "", INITIALIZE).await.starts_with("HTTP/1.1 200 "));
    assert!(post(&address, "/mcp/one?x=1", "", INITIALIZE).await.starts_with("HTTP/1.1 200 "));
    for path in [
        "/mcp/ONE",
        "/mcp/One",
        "/mcp/%6fne",
        "/mcp/one/",
        "/mcp/one/two",
        "/mcp//one",
        "/mcp/../mcp/one",
        "/mcp/on",
        "/mcp/onee",
        "/mcp/",
        "/one",
        "/mcp/one%00",
        "/mcp/one.",
        "/mcpone",
        "/mcp/./one",
    ] {
        let answer = post(&address, path, "", INITIALIZE).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path} {answer}");
    }
    bench.host.close().await;
}

async fn session_ids_name_the_replica_of_the_gateway() {
    let mut names = Vec::new();
    let chosen = || HttpServerOptions::default().with_replica("http-1".parse().unwrap());
    for (replica, http) in [
        (Some("eu-1"), HttpServerOptions::default()),
        (None, HttpServerOptions::default()),
        (Some("not a name"), HttpServerOptions::default()),
        (Some("eu-1"), chosen()),
        (None, chosen()),
    ] {
        let options = match replica {
            Some(name) => GatewayOptions::default().with_replica(name),
            None => GatewayOptions::default(),
        };
        let bench = ShopBench::open(VIEWS, options).await;
        let mut tasks = JoinSet::new();
        let address = serve_with(&bench, &mut tasks, http).await;
        for path in ["/mcp", "/mcp/one"] {
            let head = post(&address, path, "", INITIALIZE).await;
            let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
            names.push(ReplicaName::in_session_id(id).unwrap().to_owned());
        }
        bench.host.close().await;
    }
    let [one, of_view, random, random_of_view, process, process_of_view, chosen @ ..] = names.as_slice()
    else {
        panic!("{names:?}")
    };
    assert_eq!((one.as_str(), of_view.as_str()), ("eu-1", "eu-1"));
    assert!(random == random_of_view && random.len() == 16, "{names:?}");
    let of_process = ReplicaName::of_process().to_string();
    assert_eq!((process, process_of_view), (&of_process, &of_process));
    assert_eq!(chosen, ["http-1"; 4], "the name that the program has chosen for the endpoint");
}

async fn sessions_of_a_removed_view_end() {
    let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
    let mut tasks = JoinSet::new();
    let address = serve(&bench, &mut tasks).await;
    let head = post(&address, "/mcp/one", "", INITIALIZE).await;
    let session = head.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
    let headers = format!("{session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert!(post(&address, "/mcp/one", &headers, ready).await.starts_with("HTTP/1.1 202 "));
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert!(post(&address, "/mcp/one", &headers, list).await.contains("placed"));
    // A session of one view is not one of another.
    for path in ["/mcp/two", "/mcp"] {
        let answer = post(&address, path, &headers, list).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path} {answer}");
    }

    let mut waiting = Vec::new();
    for side in [Side::Legacy, Side::Modern] {
        let client = connect(side, &address, "/mcp/one").await;
        let call = tokio::spawn({
            let client = client.clone();
            async move { client.call_tool("wait", json!({})).await }
        });
        waiting.push((side, client, call));
    }
    switchboard_testkit::wait_until("the calls", || bench.ledger.lock().len() == 2).await;
    bench.gateway.set_views(View::parse_all("[views.two]\nservers = \"two\"").unwrap());
    assert!(post(&address, "/mcp/one", &headers, list).await.starts_with("HTTP/1.1 404 "));
    for (side, client, _) in &waiting {
        assert!(client.call_tool("search", json!({})).await.is_err(), "{side:?}");
    }
    bench.release.notify_waiters();
    for (side, _, call) in waiting {
        assert_eq!(call.await.unwrap().unwrap().text(), "released", "{side:?}: the call under way ends");
    }
    // A view of the same name is another one: the old session stays ended.
    bench.gateway.set_views(View::parse_all(VIEWS).unwrap());
    assert!(post(&address, "/mcp/one", &headers, list).await.starts_with("HTTP/1.1 404 "));
    assert!(post(&address, "/mcp/one", "", INITIALIZE).await.starts_with("HTTP/1.1 200 "));
    bench.host.close().await;
}

async fn a_renamed_tool_mirrors_its_arguments_in_headers() {
    let bench = ShopBench::open(VIEWS, GatewayOptions::default()).await;
    let mut tasks = JoinSet::new();
    let address = serve(&bench, &mut tasks).await;
    // Our client sends the headers that the shown schema asks for.
    let session = connect(Side::Modern, &address, "/mcp/one").await;
    tool_names(&session).await;
    let answer = session.call_tool("placed", json!({ "region": "eu" })).await.unwrap();
    assert_eq!(answer.text(), r#"{"region":"eu","zone":"b"}"#);
    bench.calls();
    let call = |headers: &str| {
        let body = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"placed","arguments":{"region":"eu"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let headers = format!(
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: placed\r\n{headers}"
        );
        let address = address.clone();
        async move { post(&address, "/mcp/one", &headers, body).await }
    };
    let right = call("mcp-param-region: eu\r\n").await;
    assert!(right.starts_with("HTTP/1.1 200 ") && right.contains("region"), "{right}");
    assert_eq!(bench.calls().len(), 1);
    // A header that differs from the argument, and one that is missing, are refused.
    for headers in ["mcp-param-region: us\r\n", ""] {
        let answer = call(headers).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{headers:?} {answer}");
    }
    assert_eq!(bench.calls(), [], "nothing was sent");
    bench.host.close().await;
}
