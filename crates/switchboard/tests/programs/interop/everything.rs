//! Our client with `@modelcontextprotocol/server-everything`: every feature of 2025-11-25 that it has, over pipes, over
//! streamable HTTP and over the HTTP+SSE of 2024.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use switchboard::client::HttpBinding;
use switchboard::client::{
    Change, ClientHandler, ClientSession, HandlerCapabilities, HandlerError, RequestingServer,
};
use switchboard::protocol::{Content, Level, ListenFilter, Revision};
use switchboard::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, OrderedMap, Raw,
    Reference, Root, TaskParams,
};
use switchboard::transport::link::BoxFuture;
use switchboard::{Client, json};
use switchboard_testkit::Failed;

use crate::interop::listening::Listening;
use crate::interop::peer::Peer;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("everything_lists_calls_and_stops", || lists_calls_and_stops(Over::Pipes)),
    ("everything_content_of_every_kind", || content_of_every_kind(Over::Pipes)),
    ("everything_resources_prompts_and_completion", || resources_prompts_and_completion(Over::Pipes)),
    ("everything_progress_and_cancellation", || progress_and_cancellation(Over::Pipes)),
    ("everything_asks_us", || asks_us(Over::Pipes)),
    ("everything_subscriptions_and_logs", || subscriptions_and_logs(Over::Pipes)),
    ("everything_runs_a_task", || runs_a_task(Over::Pipes)),
    ("everything_lists_calls_and_stops_over_http", || lists_calls_and_stops(Over::Streamable)),
    ("everything_content_of_every_kind_over_http", || content_of_every_kind(Over::Streamable)),
    ("everything_resources_prompts_and_completion_over_http", || {
        resources_prompts_and_completion(Over::Streamable)
    }),
    ("everything_progress_and_cancellation_over_http", || progress_and_cancellation(Over::Streamable)),
    ("everything_asks_us_over_http", || asks_us(Over::Streamable)),
    ("everything_subscriptions_and_logs_over_http", || subscriptions_and_logs(Over::Streamable)),
    ("everything_runs_a_task_over_http", || runs_a_task(Over::Streamable)),
    ("everything_lists_calls_and_stops_over_sse", || lists_calls_and_stops(Over::Sse)),
    ("everything_content_of_every_kind_over_sse", || content_of_every_kind(Over::Sse)),
    ("everything_resources_prompts_and_completion_over_sse", || resources_prompts_and_completion(Over::Sse)),
    ("everything_progress_and_cancellation_over_sse", || progress_and_cancellation(Over::Sse)),
    ("everything_asks_us_over_sse", || asks_us(Over::Sse)),
    ("everything_subscriptions_and_logs_over_sse", || subscriptions_and_logs(Over::Sse)),
    ("everything_runs_a_task_over_sse", || runs_a_task(Over::Sse)),
    ("everything_of_2024_is_found_at_its_address", found_at_its_address),
];

/// How the server is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Pipes,
    Streamable,
    Sse,
}

/// The server, started.
enum Everything {
    Child(Peer),
    Listening(Listening, HttpBinding),
}

impl Everything {
    async fn start(over: Over) -> Self {
        match over {
            Over::Pipes => Self::Child(Peer::node("mcp-server-everything", &[])),
            Over::Streamable => Self::Listening(
                Listening::everything("streamableHttp", "/mcp").await,
                HttpBinding::Streamable,
            ),
            Over::Sse => Self::Listening(Listening::everything("sse", "/sse").await, HttpBinding::Sse),
        }
    }

    async fn connect(&self, client: &Client) -> ClientSession {
        match self {
            Self::Child(peer) => peer.connect(client).await,
            Self::Listening(server, way) => server.connect(client, *way).await,
        }
    }

    async fn stop(self, session: ClientSession) {
        match self {
            Self::Child(peer) => drop(peer.stop(session).await),
            Self::Listening(server, _) => {
                session.close().await;
                // That we left is told, not found out.
                server.says(&["session termination", "Client Disconnected"]).await;
                server.stop().await;
            }
        }
    }
}

fn lists_calls_and_stops(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let peer = Everything::start(over).await;
        let session = peer.connect(&Client::new()).await;
        let terms = session.info().unwrap();
        assert_eq!(terms.revision, Revision::LATEST_LEGACY);
        assert_eq!(terms.server.as_ref().unwrap().name, "mcp-servers/everything");
        assert!(terms.instructions.is_some());
        let tools = session.list_tools().await.unwrap();
        assert!(tools.rejected.is_empty() && tools.cut.is_none());
        let echo = tools.by_name("echo").expect("it has a tool echo");
        assert!(echo.input_schema.as_str().contains("\"message\""));
        let said = session.call_tool("echo", json!({ "message": "nonce 4711" })).await.unwrap();
        assert_eq!(said.text(), "Echo: nonce 4711");
        session.ping().await.unwrap();
        peer.stop(session).await;
    })
}

fn content_of_every_kind(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let peer = Everything::start(over).await;
        let session = peer.connect(&Client::new()).await;
        let image = session.call_tool("get-tiny-image", json!({})).await.unwrap();
        assert!(image.content.iter().any(|content| matches!(content, Content::Image(_))));
        let links = session.call_tool("get-resource-links", json!({ "count": 2 })).await.unwrap();
        assert_eq!(
            links.content.iter().filter(|content| matches!(content, Content::ResourceLink(_))).count(),
            2
        );
        let arguments = json!({ "resourceType": "Text", "resourceId": 1 });
        let embedded = session.call_tool("get-resource-reference", arguments).await.unwrap();
        assert!(embedded.content.iter().any(|content| matches!(content, Content::Resource(_))));
        let weather =
            session.call_tool("get-structured-content", json!({ "location": "Chicago" })).await.unwrap();
        assert!(weather.structured_content.is_some());
        let wrong = session.call_tool("get-sum", json!({ "a": "not a number" })).await.unwrap();
        assert!(wrong.is_error);
        peer.stop(session).await;
    })
}

fn resources_prompts_and_completion(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let peer = Everything::start(over).await;
        let session = peer.connect(&Client::new()).await;
        let resources = session.list_resources().await.unwrap();
        let first = resources.first().expect("it has resources");
        assert!(!session.read_resource(first.uri.as_str()).await.unwrap().contents.is_empty());
        assert!(!session.list_resource_templates().await.unwrap().is_empty());
        let prompts = session.list_prompts().await.unwrap();
        assert!(prompts.by_name("simple-prompt").is_some());
        let prompt = session.get_prompt("args-prompt", [("city", "Oslo")]).await.unwrap();
        assert!(!prompt.messages.is_empty());
        let params = switchboard::protocol::CompleteParams::new(
            Reference::prompt("completable-prompt"),
            "department",
            "E",
        );
        let completion = session.complete(params).await.unwrap().completion;
        assert!(completion.values.iter().any(|value| value == "Engineering"), "{:?}", completion.values);
        peer.stop(session).await;
    })
}

fn progress_and_cancellation(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let peer = Everything::start(over).await;
        let session = peer.connect(&Client::new()).await;
        let seen = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&seen);
        let slow = json!({ "duration": 1, "steps": 4 });
        let call = session.call_tool("trigger-long-running-operation", slow).on_progress(move |progress| {
            assert_eq!(progress.total, Some(4.0));
            counting.fetch_add(1, Ordering::Relaxed);
        });
        assert!(!call.await.unwrap().is_error);
        assert!(seen.load(Ordering::Relaxed) >= 2, "progress was reported");
        // Dropped in the middle: the connection goes on, and what still comes is nobody's.
        let forever = json!({ "duration": 30, "steps": 60 });
        let call = session.call_tool("trigger-long-running-operation", forever);
        assert!(tokio::time::timeout(Duration::from_millis(700), async { call.await }).await.is_err());
        let said = session.call_tool("echo", json!({ "message": "still here" })).await.unwrap();
        assert_eq!(said.text(), "Echo: still here");
        peer.stop(session).await;
    })
}

/// Fills in every form, samples a fixed sentence.
pub(crate) struct Obliging;

impl ClientHandler for Obliging {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms().with_urls().with_sampling()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            Ok(match request {
                ElicitParams::Form(_) => {
                    let mut content = OrderedMap::new();
                    content.insert("name", Raw::from(json!("Ada")));
                    ElicitResult::accept(content)
                }
                _ => ElicitResult::new(ElicitAction::Accept),
            })
        })
    }

    fn sample<'a>(
        &'a self,
        _: CreateMessageParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async { Ok(CreateMessageResult::new("a-model", [Content::text("sampled words")])) })
    }
}

fn asks_us(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let peer = Everything::start(over).await;
        let session = peer.connect(&Client::new().with_answers(Obliging)).await;
        session.set_roots([Root::new("file:///tmp/a-root")]).unwrap();
        let sampled = session.call_tool("trigger-sampling-request", json!({ "prompt": "hi" })).await.unwrap();
        assert!(sampled.text().contains("sampled words"), "{}", sampled.text());
        let elicited = session.call_tool("trigger-elicitation-request", json!({})).await.unwrap();
        assert!(elicited.text().contains("Ada"), "{}", elicited.text());
        let roots = session.call_tool("get-roots-list", json!({})).await.unwrap();
        assert!(roots.text().contains("file:///tmp/a-root"), "{}", roots.text());
        peer.stop(session).await;
    })
}

fn subscriptions_and_logs(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let peer = Everything::start(over).await;
        let session = peer.connect(&Client::new()).await;
        session.set_log_level(Level::Debug).await.unwrap();
        let uri = session.list_resources().await.unwrap()[0].uri.clone();
        let mut filter = ListenFilter::new();
        filter.resource_subscriptions.push(uri.clone());
        let mut listening = session.listen(filter).await.unwrap();
        session.call_tool("toggle-subscriber-updates", json!({})).await.unwrap();
        loop {
            match listening.next().await.expect("the session is open") {
                Change::Resource { uri: updated } => break assert_eq!(updated, uri),
                _ => continue,
            }
        }
        drop(listening);
        let mut changes = session.changes().unwrap();
        session.call_tool("toggle-simulated-logging", json!({})).await.unwrap();
        loop {
            if let Change::Log(_) = changes.next().await.expect("the session is open") {
                break;
            }
        }
        peer.stop(session).await;
    })
}

fn runs_a_task(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let peer = Everything::start(over).await;
        let session = peer.connect(&Client::new().with_answers(Obliging)).await;
        let research = json!({ "topic": "switchboards", "ambiguous": false });
        let done =
            session.call_tool("simulate-research-query", research).as_task(TaskParams::new()).await.unwrap();
        assert!(done.text().contains("switchboards"), "{}", done.text());
        peer.stop(session).await;
    })
}

/// Nobody has to know which binding is behind an address.
fn found_at_its_address() -> Result<(), Failed> {
    block_on(async {
        let server = Listening::everything("sse", "/sse").await;
        let session = server.connect(&Client::new(), HttpBinding::Auto).await;
        let said = session.call_tool("echo", json!({ "message": "found" })).await.unwrap();
        assert_eq!(said.text(), "Echo: found");
        session.close().await;
        server.stop().await;
    })
}
