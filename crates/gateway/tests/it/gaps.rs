//! Fourteen gaps of other gateways, one test for each, over real transports: clients over HTTP, servers as child processes or
//! over HTTP.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard::client::{Change, RevisionPolicy};
use switchboard::gateway::policy::Policy;
use switchboard::gateway::{Gateway, GatewayOptions, PrefixPolicy};
use switchboard::protocol::method::ListTools;
use switchboard::protocol::{
    CallToolResult, ClientCapabilities, CompleteParams, Content, Implementation, Level, ListCapability,
    ListToolsResult, ListenFilter, PageParams, Raw, Reference, RpcError, ServerCapabilities, Tool,
};
use switchboard::server::{
    Handler, HandlerOutcome, HttpListener, HttpServerOptions, HttpService, RequestContext, ServerRequest,
    StateKeys,
};
use switchboard::{CallError, Client, Http, Server, json};
use switchboard_session::ClientSession;
use switchboard_testkit::{trial_leaving_tasks, trials, wait_until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::cells::{Bench, Cell, Reach, Side, serve_http};
use crate::person::Person;
use crate::raw_client::{RawClient, answer};
use crate::upstream;

trials! {
    trial_leaving_tasks:
        gap_01_questions_are_answered_in_every_cell,
        gap_02_listen_delivers_what_it_acknowledges,
        gap_03_resource_subscriptions_deliver,
        gap_04_progress_and_logs_reach_modern_clients,
        gap_05_a_large_catalog_is_listed_and_called_in_both_eras,
        gap_06_lists_and_discovery_are_answered_from_memory,
        gap_07_removed_prompts_and_resources_disappear,
        gap_08_colliding_names_have_no_random_winner,
        gap_09_questions_need_no_affinity,
        gap_10_more_than_a_thousand_sessions_and_a_settable_limit,
        gap_11_the_log_level_of_each_client_counts,
        gap_12_capabilities_of_the_client_are_mirrored,
        gap_13_rules_about_uris_bind_templates,
        gap_14_discovery_names_only_versions_that_are_served,
}

const SIDES: [Side; 2] = [Side::Legacy, Side::Modern];

fn cell(client: Side, upstream: Side) -> Cell {
    // A legacy server over HTTP names the call of its questions.
    let reach = if upstream == Side::Legacy { Reach::Http } else { Reach::Child };
    Cell { client, upstream, reach }
}

/// A client of a gateway over HTTP. The endpoint lives as long as the set.
async fn connect(bench: &Bench, side: Side, person: &Arc<Person>) -> (ClientSession, JoinSet<()>) {
    let mut serving = JoinSet::new();
    let url = serve_http(bench.gateway.server(), &mut serving).await;
    let client = Client::new().with_revisions(side.revisions()).with_answers(Arc::clone(person));
    (client.connect(Http::new(url)).await.unwrap(), serving)
}

async fn gap_01_questions_are_answered_in_every_cell() {
    for (client, upstream) in SIDES.into_iter().flat_map(|client| SIDES.map(|upstream| (client, upstream))) {
        let bench = cell(client, upstream).open().await;
        let (session, _serving) = connect(&bench, client, &Person::new("ada")).await;
        for (tool, expected) in [("up__ask", "ada"), ("up__ask_twice", "ada ada"), ("up__visit", "Accept")] {
            let text = session.call_tool(tool, json!({})).await.unwrap().text();
            assert_eq!(text, expected, "{client:?} {upstream:?}");
        }
        bench.close().await;
    }
}

async fn gap_02_listen_delivers_what_it_acknowledges() {
    for upstream in SIDES {
        let bench = cell(Side::Modern, upstream).open().await;
        let (session, _serving) = connect(&bench, Side::Modern, &Person::new("ada")).await;
        let mut filter = ListenFilter::new().with_tools_list_changed(true);
        filter.resource_subscriptions.push("note://one".to_owned());
        let mut stream = session.listen(filter.clone()).await.unwrap();
        assert_eq!(stream.accepted(), &filter, "{upstream:?}");
        bench.counted("subscribed", 1).await;
        bench.host.call_tool("up", "touch", json!({})).await.unwrap();
        bench.host.call_tool("up", "toggle", json!({})).await.unwrap();
        let (mut tools, mut resource) = (false, false);
        while !(tools && resource) {
            match stream.next().await.unwrap() {
                Change::Tools => tools = true,
                Change::Resource { uri } => resource = uri == "note://one",
                other => panic!("{upstream:?}: {other:?} was not asked for"),
            }
        }
        bench.close().await;
    }
}

async fn gap_03_resource_subscriptions_deliver() {
    for upstream in SIDES {
        let bench = cell(Side::Legacy, upstream).open().await;
        let (session, _serving) = connect(&bench, Side::Legacy, &Person::new("ada")).await;
        let mut updates = session.subscribe("note://one").await.unwrap();
        bench.counted("subscribed", 1).await;
        bench.host.call_tool("up", "touch", json!({})).await.unwrap();
        let update = updates.next().await;
        assert!(
            matches!(&update, Some(Change::Resource { uri }) if uri == "note://one"),
            "{upstream:?}: {update:?}"
        );
        bench.close().await;
    }
}

async fn gap_04_progress_and_logs_reach_modern_clients() {
    for upstream in SIDES {
        let bench = cell(Side::Modern, upstream).open().await;
        let (session, _serving) = connect(&bench, Side::Modern, &Person::new("ada")).await;
        let last: Arc<Mutex<f64>> = Arc::default();
        let seen = Arc::clone(&last);
        let call = session.call_tool("up__progress", json!({}));
        call.on_progress(move |report| *seen.lock() = report.progress).await.unwrap();
        assert!(*last.lock() == 2.0, "{upstream:?}");
        assert_eq!(logs_of_a_call(&session, Level::Debug, 2).await, ["quiet", "loud"], "{upstream:?}");
        bench.close().await;
    }
}

/// Calls the tool that logs, and returns so many messages.
async fn logs_of_a_call(session: &ClientSession, level: Level, count: usize) -> Vec<String> {
    session.set_log_level(level).await.unwrap();
    let logs: Arc<Mutex<Vec<String>>> = Arc::default();
    let (seen, mut changes) = (Arc::clone(&logs), session.changes().unwrap());
    let following = tokio::spawn(async move {
        while let Some(change) = changes.next().await {
            if let Change::Log(message) = change {
                seen.lock().push(message.data.decode().unwrap());
            }
        }
    });
    session.call_tool("up__log", json!({})).await.unwrap();
    wait_until("the log messages".to_owned(), || logs.lock().len() >= count).await;
    following.abort();
    let logs = logs.lock();
    logs.clone()
}

/// A server with many tools.
struct ManyTools(usize);

impl Handler for ManyTools {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let tool = |number| Tool::new(format!("tool_{number:05}"), json!({ "type": "object" }));
                HandlerOutcome::now(ListToolsResult::new((0..self.0).map(tool).collect::<Vec<_>>()))
            }
            ServerRequest::CallTool(call) => {
                HandlerOutcome::now(CallToolResult::new([Content::text(call.name)]))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

async fn gap_05_a_large_catalog_is_listed_and_called_in_both_eras() {
    const TOOLS: usize = 5_000;
    let mut serving = JoinSet::new();
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("many", "1"), offers).build(ManyTools(TOOLS));
    let host = Gateway::host_builder().build();
    host.connect("many", Http::new(serve_http(&server, &mut serving).await)).await.unwrap();
    let gateway = Gateway::new(host, GatewayOptions::default());
    let url = serve_http(gateway.server(), &mut serving).await;
    for side in SIDES {
        let client = Client::new().with_revisions(side.revisions());
        let session = client.connect(Http::new(url.as_str())).await.unwrap();
        let tools = session.list_tools().await.unwrap();
        assert_eq!(tools.len(), TOOLS, "{side:?}");
        let last = &tools[TOOLS - 1].name;
        let text = session.call_tool(last.as_str(), json!({})).await.unwrap().text();
        assert_eq!(text, format!("tool_{:05}", TOOLS - 1), "{side:?}");
    }
    gateway.host().close().await;
}

async fn gap_06_lists_and_discovery_are_answered_from_memory() {
    for upstream in SIDES {
        let bench = cell(Side::Modern, upstream).open().await;
        let before = bench.counts().await.get("lists").copied();
        assert_eq!(before, Some(1), "{upstream:?}: fetched when it connected");
        for _ in 0..10 {
            let (session, _serving) = connect(&bench, Side::Modern, &Person::new("ada")).await;
            for _ in 0..10 {
                session.request::<ListTools>(&PageParams::new()).await.unwrap();
                session.ping().await.unwrap();
            }
        }
        assert_eq!(bench.counts().await.get("lists").copied(), before, "{upstream:?}");
        bench.close().await;
    }
}

async fn gap_07_removed_prompts_and_resources_disappear() {
    for (client, upstream) in SIDES.into_iter().flat_map(|client| SIDES.map(|upstream| (client, upstream))) {
        let bench = cell(client, upstream).open().await;
        let (session, _serving) = connect(&bench, client, &Person::new("ada")).await;
        let filter = ListenFilter::new().with_prompts_list_changed(true).with_resources_list_changed(true);
        let mut stream = session.listen(filter).await.unwrap();
        for is_there in [true, false] {
            bench.host.call_tool("up", "toggle", json!({})).await.unwrap();
            let (mut prompts, mut resources) = (false, false);
            while !(prompts && resources) {
                match stream.next().await.unwrap() {
                    Change::Prompts => {
                        let list = session.refresh_prompts().await.unwrap();
                        prompts = list.by_name("up__extra").is_some() == is_there;
                    }
                    Change::Resources => {
                        let list = session.refresh_resources().await.unwrap();
                        resources = list.by_name("note://extra").is_some() == is_there;
                    }
                    _ => {}
                }
            }
        }
        bench.close().await;
    }
}

async fn gap_08_colliding_names_have_no_random_winner() {
    let mut serving = JoinSet::new();
    let host = Gateway::host_builder().build();
    for (name, side) in [("one", Side::Legacy), ("two", Side::Modern)] {
        let url = serve_http(&upstream::build(side.revisions()), &mut serving).await;
        host.connect(name, Http::new(url)).await.unwrap();
    }
    let gateway = Gateway::new(host, GatewayOptions::default().with_prefix(PrefixPolicy::Never));
    let url = serve_http(gateway.server(), &mut serving).await;
    for side in SIDES {
        let client = Client::new().with_revisions(side.revisions());
        let session = client.connect(Http::new(url.as_str())).await.unwrap();
        assert!(session.list_tools().await.unwrap().by_name("echo").is_none(), "{side:?}");
        let refused = session.call_tool("echo", json!({})).await;
        assert!(matches!(refused, Err(CallError::Remote(_))), "{side:?}: neither of them");
    }
    let withheld = gateway.status().withheld;
    assert!(withheld.iter().any(|item| item.to_string().contains(r#""echo" of "one" and "echo" of "two""#)));
    gateway.host().close().await;
}

async fn gap_09_questions_need_no_affinity() {
    let (keys, mut serving) = (StateKeys::random(), JoinSet::new());
    let mut gateways = Vec::new();
    let url = serve_http(&upstream::build(Side::Modern.revisions()), &mut serving).await;
    for _ in 0..3 {
        let host = Gateway::host_builder().build();
        host.connect("up", Http::new(url.as_str())).await.unwrap();
        gateways.push(Gateway::new(host, GatewayOptions::default().with_state_keys(keys.clone())));
    }
    let mut clients = Vec::new();
    for gateway in &gateways {
        clients.push(RawClient::connect(gateway.server(), Some("ada")).await);
    }
    // Each request goes to another replica.
    for round in 0..15 {
        let client = |step: usize| &clients[(round + step) % clients.len()];
        let (key, state) = client(0).question("up__ask_twice", json!({})).await.unwrap();
        let (key, state) = client(1).question("up__ask_twice", answer(&key, &state, "red")).await.unwrap();
        let result = client(2).call("up__ask_twice", answer(&key, &state, "blue")).await.unwrap();
        assert!(result.as_str().contains("red blue"), "{}", result.as_str());
    }
    for gateway in gateways {
        gateway.host().close().await;
    }
}

/// Sends one request over a connection of its own, and returns status and head.
async fn post(address: std::net::SocketAddr, headers: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8_lossy(&response).into_owned();
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    (status, response)
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// Opens legacy sessions with a gateway, and returns the statuses of a ping in each of them.
async fn ping_sessions(options: HttpServerOptions, count: usize) -> Vec<u16> {
    let bench = cell(Side::Legacy, Side::Modern).open().await;
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap();
    let mut serving = JoinSet::new();
    serving.spawn(listener.serve(HttpService::new(bench.gateway.server(), options)));
    let mut sessions = Vec::new();
    for _ in 0..count {
        let (status, response) = post(address, "", INITIALIZE).await;
        assert_eq!(status, 200, "{response}");
        let id = response.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
        });
        sessions.push(id.unwrap());
    }
    let mut statuses = Vec::new();
    for id in sessions {
        let headers = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        statuses.push(post(address, &headers, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await.0);
    }
    bench.close().await;
    statuses
}

async fn gap_10_more_than_a_thousand_sessions_and_a_settable_limit() {
    let mut options = HttpServerOptions::default();
    options.sessions_per_client = 2_000;
    let statuses = ping_sessions(options, 1_100).await;
    assert!(statuses.iter().all(|status| *status == 200), "all of them live in one process");
    let mut options = HttpServerOptions::default();
    options.sessions = 3;
    // The one that was idle for longest made room.
    assert_eq!(ping_sessions(options, 4).await, [404, 200, 200, 200]);
}

async fn gap_11_the_log_level_of_each_client_counts() {
    for (client, upstream) in SIDES.into_iter().flat_map(|client| SIDES.map(|upstream| (client, upstream))) {
        let bench = cell(client, upstream).open().await;
        let (detailed, _serving) = connect(&bench, client, &Person::new("ada")).await;
        assert_eq!(
            logs_of_a_call(&detailed, Level::Debug, 2).await,
            ["quiet", "loud"],
            "{client:?} {upstream:?}"
        );
        let (terse, _serving) = connect(&bench, client, &Person::new("bob")).await;
        assert_eq!(logs_of_a_call(&terse, Level::Warning, 1).await, ["loud"], "{client:?} {upstream:?}");
        bench.close().await;
    }
}

async fn gap_12_capabilities_of_the_client_are_mirrored() {
    for client in SIDES {
        let bench = cell(client, Side::Modern).open().await;
        for (person, expected) in [(Person::new("ada"), true), (Person::silent(), false)] {
            let (session, _serving) = connect(&bench, client, &person).await;
            let text = session.call_tool("up__capabilities", json!({})).await.unwrap().text();
            let seen: ClientCapabilities = Raw::parse(text).unwrap().decode().unwrap();
            assert_eq!(seen.elicitation.is_some(), expected, "{client:?}: {seen:?}");
            assert_eq!(seen.sampling.is_some(), expected, "{client:?}: {seen:?}");
        }
        bench.close().await;
    }
}

async fn gap_13_rules_about_uris_bind_templates() {
    let lists = async |session: &ClientSession| {
        session.list_resource_templates().await.unwrap().by_name("page://{id}").is_some()
    };
    for client in SIDES {
        for (rule, is_listed) in [("page://**", false), ("page://secret", true)] {
            let policy = format!("default = \"allow\"\n[[rule]]\neffect = \"deny\"\nuri = [\"{rule}\"]\n");
            let options = GatewayOptions::default().with_policy(Policy::parse(&policy).unwrap());
            let bench = cell(client, Side::Modern).open_with(options).await;
            let (session, _serving) = connect(&bench, client, &Person::new("ada")).await;
            assert_eq!(lists(&session).await, is_listed, "{client:?}: the template itself, by {rule}");
            assert_eq!(session.read_resource("page://7").await.is_ok(), is_listed, "{client:?} {rule}");
            assert!(
                session.read_resource("page://secret").await.is_err(),
                "{client:?}: an expansion, by {rule}"
            );
            let completion = CompleteParams::new(Reference::resource("page://{id}"), "id", "s");
            assert!(
                session.complete(completion).await.is_err(),
                "{client:?}: suggestions name URIs, by {rule}"
            );
            bench.close().await;
        }
    }
}

async fn gap_14_discovery_names_only_versions_that_are_served() {
    let mut serving = JoinSet::new();
    let url = serve_http(&upstream::build(RevisionPolicy::Any), &mut serving).await;
    for policy in [RevisionPolicy::Any, RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
        let host = Gateway::host_builder().build();
        host.connect("up", Http::new(url.as_str())).await.unwrap();
        let gateway =
            Gateway::with_layers(host, GatewayOptions::default(), move |builder| builder.revisions(policy));
        let raw = RawClient::connect(gateway.server(), None).await;
        let named: Vec<String> = match raw.request("server/discover", "").await {
            Ok(found) => member(&found, "supportedVersions"),
            Err(error) => member(&error.data.unwrap(), "supported"),
        };
        let served: Vec<String> = policy.all().iter().map(ToString::to_string).collect();
        assert_eq!(named, served, "{policy:?}");
        // Every version that it names can be spoken, and no other.
        let endpoint = serve_http(gateway.server(), &mut serving).await;
        for revision in RevisionPolicy::Any.all() {
            let client = Client::new().with_revisions(RevisionPolicy::Only(revision));
            let session = client.connect(Http::new(endpoint.as_str())).await;
            assert_eq!(session.is_ok(), named.contains(&revision.to_string()), "{policy:?} {revision}");
        }
        gateway.host().close().await;
    }
}

fn member(raw: &Raw, name: &str) -> Vec<String> {
    let found = raw.fields().find(|(key, _)| *key == name);
    found.unwrap_or_else(|| panic!("{name}: {}", raw.as_str())).1.decode().unwrap()
}
