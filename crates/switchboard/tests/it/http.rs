//! Our client with our server over HTTP, in both eras and over the binding of 2024: the stories a user lives through.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard::client::HttpBinding;
use switchboard::client::{
    Change, ClientHandler, HandlerCapabilities, HandlerError, RequestingServer, RevisionPolicy,
};
use switchboard::protocol::{
    CallToolResult, Content, Implementation, Level, ListenFilter, Raw, ReadResourceResult, Revision,
    RpcError, ServerCapabilities, Tool,
};
use switchboard::protocol::{
    ElicitParams, ElicitResult, FormField, FormSchema, ListCapability, ListToolsResult, OrderedMap,
    ResourcesCapability, ServerResult, Settings, TextField,
};
use switchboard::server::layer::{IncomingRequest, Metrics, Next};
use switchboard::server::{
    Handler, HandlerOutcome, HttpListener, HttpServerOptions, HttpService, RequestContext, ServerRequest,
};
use switchboard::transport::LinkError;
use switchboard::transport::http::server::LegacySse;
use switchboard::transport::link::BoxFuture;
use switchboard::{CallError, Client, Http, Server, json};
use switchboard_testkit::ReservedPort;

struct Fixture;

impl Handler for Fixture {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let schema = json!({ "type": "object" });
                HandlerOutcome::now(ListToolsResult::new([
                    Tool::new("echo", schema.clone()),
                    Tool::new("ask", schema),
                ]))
            }
            ServerRequest::ReadResource(params) => {
                HandlerOutcome::now(ReadResourceResult::new([switchboard::protocol::ResourceContents::text(
                    params.uri, "contents",
                )]))
            }
            ServerRequest::CallTool(call) => match call.name.as_str() {
                "echo" => {
                    let text = call.arguments.as_ref().map_or("", Raw::as_str).to_owned();
                    HandlerOutcome::now(CallToolResult::new([Content::text(text)]))
                }
                "slow" => HandlerOutcome::later(async move {
                    for step in 1..=3_u8 {
                        tokio::time::sleep(Duration::from_millis(60)).await;
                        cx.progress(f64::from(step), Some(3.0), None);
                        cx.log(Level::Warning, None, "working");
                    }
                    Ok(CallToolResult::new([Content::text("done")]).into())
                }),
                "instant" => {
                    cx.progress(1.0, Some(1.0), None);
                    HandlerOutcome::now(CallToolResult::new([Content::text("at once")]))
                }
                "nearly_instant" => HandlerOutcome::later(async move {
                    cx.progress(1.0, Some(1.0), None);
                    Ok(CallToolResult::new([Content::text("at once")]).into())
                }),
                "steps" => HandlerOutcome::later(async move {
                    for step in 1..=3 {
                        cx.notify("notifications/com.example/step", Some(&json!({ "step": step }).into()));
                    }
                    Ok(CallToolResult::new([Content::text("done")]).into())
                }),
                "forever" => HandlerOutcome::later(async { std::future::pending().await }),
                "begins" => HandlerOutcome::later(async move {
                    cx.progress(1.0, None, None);
                    std::future::pending().await
                }),
                "hang_up" => HandlerOutcome::later(async move {
                    cx.hang_up(Duration::from_millis(300));
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    Ok(CallToolResult::new([Content::text("came back")]).into())
                }),
                "ask" => HandlerOutcome::later(async move {
                    let schema = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
                    let answer = cx.elicit("name", ElicitParams::form("Who are you?", schema)).await?;
                    let name: Option<std::collections::HashMap<String, String>> =
                        answer.decode().map_err(|error| RpcError::internal(error.to_string()))?;
                    let name = name.and_then(|mut fields| fields.remove("name")).unwrap_or_default();
                    Ok(ServerResult::from(CallToolResult::new([Content::text(format!("hello {name}"))])))
                }),
                other => {
                    HandlerOutcome::error(RpcError::invalid_params(format!("there is no tool {other:?}")))
                }
            },
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn server() -> Arc<Server> {
    let offers = ServerCapabilities::new()
        .with_tools(ListCapability::new().with_list_changed(true))
        .with_resources(ResourcesCapability::new().with_subscribe(true))
        .with_logging(Settings::new());
    Server::builder(Implementation::new("http-fixture", "1.0.0"), offers).build(Fixture)
}

/// Serves on a free port, and says where.
async fn serve(server: &Arc<Server>, options: HttpServerOptions) -> String {
    let listener = HttpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.address().unwrap();
    tokio::spawn(listener.serve(HttpService::new(server, options)));
    format!("http://{address}")
}

fn http(url: &str) -> Http {
    Http::new(url)
}

struct Ada;

impl ClientHandler for Ada {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let mut content = OrderedMap::new();
        content.insert("name", Raw::from(json!("Ada")));
        Box::pin(async { Ok(ElicitResult::accept(content)) })
    }
}

const OFFERS: [(RevisionPolicy, Revision); 5] = [
    (RevisionPolicy::Any, Revision::V2026_07_28),
    (RevisionPolicy::LegacyOnly, Revision::V2025_11_25),
    (RevisionPolicy::Only(Revision::V2025_06_18), Revision::V2025_06_18),
    (RevisionPolicy::Only(Revision::V2025_03_26), Revision::V2025_03_26),
    (RevisionPolicy::Only(Revision::V2024_11_05), Revision::V2024_11_05),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_revision_lists_calls_reads_and_reports_progress() {
    let server = server();
    let url = serve(&server, HttpServerOptions::default()).await;
    for (offer, spoken) in OFFERS {
        let session = Client::new().with_revisions(offer).connect(http(&format!("{url}/mcp"))).await.unwrap();
        assert_eq!(session.info().unwrap().revision, spoken);
        assert_eq!(session.list_tools().await.unwrap().len(), 2);
        let said = session.call_tool("echo", json!({ "n": 1 })).await.unwrap();
        assert_eq!(said.text(), r#"{"n":1}"#, "{spoken}");
        assert_eq!(session.read_resource("x://y").await.unwrap().contents.len(), 1);
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let slow = session
            .call_tool("slow", json!({}))
            .on_progress(move |progress| _ = told.send(progress.progress));
        assert_eq!(slow.await.unwrap().text(), "done");
        let mut last = None;
        while let Ok(progress) = heard.try_recv() {
            last = Some(progress);
        }
        assert_eq!(last, Some(3.0), "{spoken}");
        let unknown = session.call_tool("nothing", json!({})).await.unwrap_err();
        assert_eq!(unknown.remote().unwrap().code, switchboard::protocol::ErrorCode::INVALID_PARAMS);
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_before_an_answer_that_comes_at_once_is_not_lost() {
    let server = server();
    let url = serve(&server, HttpServerOptions::default()).await;
    for (offer, spoken) in &OFFERS[..2] {
        let session =
            Client::new().with_revisions(*offer).connect(http(&format!("{url}/mcp"))).await.unwrap();
        for tool in ["instant", "nearly_instant"] {
            let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
            let call = session
                .call_tool(tool, json!({}))
                .on_progress(move |progress| _ = told.send(progress.progress));
            assert_eq!(call.await.unwrap().text(), "at once");
            assert_eq!(heard.try_recv(), Ok(1.0), "{tool} in {spoken}");
        }
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_declared_extension_says_about_a_call_reaches_it_in_order() {
    let url = serve(&server(), HttpServerOptions::default()).await;
    for (offer, spoken) in OFFERS {
        let client =
            Client::new().with_revisions(offer).with_extension("com.example/steps", Raw::empty_object());
        let session = client.connect(http(&format!("{url}/mcp"))).await.unwrap();
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let call = session.call_tool("steps", json!({})).on_notification(move |method, params| {
            told.send(format!("{method} {}", params.as_str())).unwrap();
        });
        assert_eq!(call.await.unwrap().text(), "done");
        for step in 1..=3 {
            let said = format!("notifications/com.example/step {{\"step\":{step}}}");
            assert_eq!(heard.recv().await.unwrap(), said, "{spoken}");
        }
        assert_eq!(heard.recv().await, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_asks_in_both_eras() {
    let server = server();
    let url = serve(&server, HttpServerOptions::default()).await;
    for (offer, _) in &OFFERS[..3] {
        let client = Client::new().with_revisions(*offer).with_answers(Ada);
        let session = client.connect(http(&format!("{url}/mcp"))).await.unwrap();
        assert_eq!(session.call_tool("ask", json!({})).await.unwrap().text(), "hello Ada");
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_heard_in_both_eras() {
    let server = server();
    let url = serve(&server, HttpServerOptions::default()).await;
    for (offer, _) in &OFFERS[..2] {
        let session =
            Client::new().with_revisions(*offer).connect(http(&format!("{url}/mcp"))).await.unwrap();
        let mut filter = ListenFilter::new();
        filter.tools_list_changed = true;
        filter.resource_subscriptions.push("x://y".into());
        let mut listening = session.listen(filter).await.unwrap();
        server.publisher().tools_changed();
        assert!(matches!(listening.next().await, Some(Change::Tools)));
        server.publisher().resource_updated("x://y");
        assert!(matches!(listening.next().await, Some(Change::Resource { uri }) if uri == "x://y"));
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_the_server_hangs_up_on_is_gone_back_to() {
    let server = server();
    let url = serve(&server, HttpServerOptions::default()).await;
    let session = Client::new()
        .with_revisions(RevisionPolicy::LegacyOnly)
        .connect(http(&format!("{url}/mcp")))
        .await
        .unwrap();
    assert_eq!(session.call_tool("hang_up", json!({})).await.unwrap().text(), "came back");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_binding_of_2024_is_found_by_itself() {
    let server = server();
    let mut options = HttpServerOptions::default();
    options.legacy_sse = Some(LegacySse::default());
    let url = serve(&server, options).await;
    for way in [HttpBinding::Auto, HttpBinding::Sse] {
        let session = Client::new().connect(http(&format!("{url}/sse")).binding(way)).await.unwrap();
        assert!(session.info().unwrap().revision <= Revision::LATEST);
        let said = session.call_tool("echo", json!({ "n": 2 })).await.unwrap();
        assert_eq!(said.text(), r#"{"n":2}"#);
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_on_one_store_serve_each_others_sessions() {
    let options = HttpServerOptions::default();
    let (one, two) = (serve(&server(), options.clone()).await, serve(&server(), options).await);
    let session = opened(&one).await;
    // The session that the first instance opened is known to the second.
    let listed = post(&two, &session, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).await;
    assert!(listed.contains(r#""name":"echo""#), "{listed}");
}

/// Opens a session by hand and gives its id.
async fn opened(url: &str) -> String {
    let client = switchboard::transport::http_client::HttpClient::new(
        switchboard::transport::http_client::HttpClientOptions::default(),
    )
    .unwrap();
    let address = switchboard::transport::http_client::Address::parse(
        &format!("{url}/mcp"),
        switchboard::transport::http_client::PlainHttp::LoopbackOnly,
    )
    .unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let request = switchboard::transport::http_client::Request::new("POST".parse().unwrap(), address)
        .with_header("content-type".parse().unwrap(), "application/json".parse().unwrap())
        .with_body(body);
    let response = client.send(request).await.unwrap();
    response.headers["mcp-session-id"].to_str().unwrap().to_owned()
}

async fn post(url: &str, session: &str, body: &'static str) -> String {
    let client = switchboard::transport::http_client::HttpClient::new(
        switchboard::transport::http_client::HttpClientOptions::default(),
    )
    .unwrap();
    let address = switchboard::transport::http_client::Address::parse(
        &format!("{url}/mcp"),
        switchboard::transport::http_client::PlainHttp::LoopbackOnly,
    )
    .unwrap();
    let request = switchboard::transport::http_client::Request::new("POST".parse().unwrap(), address)
        .with_header("content-type".parse().unwrap(), "application/json".parse().unwrap())
        .with_header("mcp-session-id".parse().unwrap(), session.parse().unwrap())
        .with_body(body);
    let response = client.send(request).await.unwrap();
    String::from_utf8(response.body.collect(1 << 20).await.unwrap().to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_is_unreachable() {
    let port = ReservedPort::new();
    let url = format!("http://{}/mcp", port.address());
    let error = Client::new().connect(http(&url)).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Unreachable { .. })), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_the_server_forgot_is_replaced_and_calls_are_not_repeated() {
    let server = server();
    let options = HttpServerOptions::default();
    let store = Arc::clone(&options.store);
    let url = serve(&server, options).await;
    let session = Client::new()
        .with_revisions(RevisionPolicy::LegacyOnly)
        .connect(http(&format!("{url}/mcp")))
        .await
        .unwrap();
    let id = forget_all(&store).await;
    assert!(id, "there was a session to forget");
    let lost = session.call_tool("echo", json!({})).await.unwrap_err();
    assert!(matches!(lost, CallError::Link(LinkError::SessionExpired)), "{lost:?}");
    assert_eq!(session.call_tool("echo", json!({ "n": 3 })).await.unwrap().text(), r#"{"n":3}"#);
    // What the new session is told comes on a stream of its own.
    let mut filter = ListenFilter::new();
    filter.resource_subscriptions.push("x://y".into());
    let mut listening = session.listen(filter).await.unwrap();
    server.publisher().resource_updated("x://y");
    let heard = async { while !matches!(listening.next().await, Some(Change::Resource { .. })) {} };
    tokio::time::timeout(Duration::from_secs(120), heard).await.expect("the change is heard");
    session.close().await;
}

async fn forget_all(store: &Arc<dyn switchboard::transport::http::server::SessionStore>) -> bool {
    store.clear().await > 0
}

/// A status without a body would be taken for a broken server, and a stream that goes on for a request that does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_request_is_answered_by_a_stream_that_ends() {
    let server = server();
    let url = serve(&server, HttpServerOptions::default()).await;
    let session = opened(&url).await;
    let client = switchboard::transport::http_client::HttpClient::new(
        switchboard::transport::http_client::HttpClientOptions::default(),
    )
    .unwrap();
    let plain = switchboard::transport::http_client::PlainHttp::LoopbackOnly;
    let address = switchboard::transport::http_client::Address::parse(&format!("{url}/mcp"), plain).unwrap();
    let call = |tool: &str| {
        let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": 7 } });
        let body = json!({ "jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params });
        let request =
            switchboard::transport::http_client::Request::new("POST".parse().unwrap(), address.clone())
                .with_header(
                    "accept".parse().unwrap(),
                    "application/json, text/event-stream".parse().unwrap(),
                )
                .with_header("content-type".parse().unwrap(), "application/json".parse().unwrap())
                .with_header("mcp-session-id".parse().unwrap(), session.parse().unwrap())
                .with_body(body.to_string());
        let client = client.clone();
        async move { client.send(request).await.unwrap() }
    };

    let begins = call("begins").await;
    post(
        &url,
        &session,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"begins"}}"#,
    )
    .await;
    let rest = begins.body.collect(1 << 20);
    let rest = tokio::time::timeout(Duration::from_secs(120), rest).await.expect("the stream ends").unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains("result"));

    let forever = tokio::spawn(call("forever"));
    let forever = async {
        // Until it runs there is nothing to cancel.
        while !forever.is_finished() {
            let cancel =
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"forever"}}"#;
            post(&url, &session, cancel).await;
        }
        forever.await.unwrap()
    };
    let forever = tokio::time::timeout(Duration::from_secs(120), forever).await.expect("it is answered");
    assert_eq!(forever.status.as_u16(), 200);
    assert_eq!(forever.headers["content-type"], "text/event-stream");
    assert!(forever.body.collect(1 << 20).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_mounts_in_axum_in_one_line() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let service = HttpService::new(&server(), HttpServerOptions::default());
    let app = axum::Router::new().route_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, app).await });
    for (offer, spoken) in &OFFERS[..2] {
        let session = Client::new().with_revisions(*offer).connect(http(&url)).await.unwrap();
        assert_eq!(session.info().unwrap().revision, *spoken);
        assert_eq!(session.call_tool("slow", json!({})).await.unwrap().text(), "done");
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_layer_sees_every_request_over_http() {
    for (offer, opening) in
        [(RevisionPolicy::Any, "server/discover"), (RevisionPolicy::LegacyOnly, "initialize")]
    {
        let metrics = Metrics::new();
        let offers = ServerCapabilities::new().with_tools(ListCapability::new());
        let server = Server::builder(Implementation::new("layered", "1.0.0"), offers)
            .layer(metrics.clone())
            .layer(|request: IncomingRequest, next: Next| match request.param("name") {
                Some(name) if name.as_str() == "\"echo\"" => {
                    HandlerOutcome::error(RpcError::invalid_request("not today"))
                }
                _ => next.call(request),
            })
            .build(Fixture);
        let url = serve(&server, HttpServerOptions::default()).await;
        let session = Client::new().with_revisions(offer).connect(http(&format!("{url}/mcp"))).await.unwrap();
        assert_eq!(session.call_tool("slow", ()).await.unwrap().text(), "done");
        let refused = session.call_tool("echo", ()).await.unwrap_err().to_string();
        assert!(refused.contains("not today"), "{refused}");
        let counted = metrics.snapshot();
        assert_eq!(counted[opening].results, 1, "{counted:?}");
        assert_eq!((counted["tools/call"].results, counted["tools/call"].errors), (1, 1), "{counted:?}");
    }
}
