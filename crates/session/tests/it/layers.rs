//! Layers around every request of a server: what they see, their order, panics, and the ones that are ready to use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, Raw, ResourcesCapability, RpcError,
    ServerCapabilities,
};
use switchboard_session::link::{Exchange, SingleLink, pair};
use switchboard_session::server::layer::{AccessLog, ConcurrencyLimit, Metrics, Timeout};
use switchboard_session::server::{
    AnswerOutcome, CachedResult, Caller, Handler, HandlerOutcome, InProcess, IncomingRequest, Layer, Next,
    ReplyChannel, RequestContext, Server, ServerBuilder, ServerRequest, ServerSession,
};
use switchboard_session::{Client, ClientSession, ConnectionLimits, MuxLink, RevisionPolicy};

/// Tools that reply in every way a handler can.
struct Tools {
    cached: CachedResult,
}

impl Handler for Tools {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        let ServerRequest::CallTool(call) = request else {
            return HandlerOutcome::error(RpcError::method_not_found(request.method()));
        };
        let done = CallToolResult::new([Content::text("done")]);
        match call.name.as_str() {
            "now" => HandlerOutcome::now(done),
            "cached" => HandlerOutcome::cached(&self.cached),
            "later" => HandlerOutcome::later(async { Ok(done.into()) }),
            "blocking" => HandlerOutcome::blocking(|| Ok(done.into())),
            "panic" => panic!("on purpose"),
            "panic_later" => HandlerOutcome::later(async { panic!("on purpose") }),
            _ => HandlerOutcome::later(std::future::pending()),
        }
    }
}

const REPLYING: [&str; 4] = ["now", "cached", "later", "blocking"];
const BOTH: [RevisionPolicy; 2] = [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly];

fn builder() -> ServerBuilder {
    let offers = ServerCapabilities::new()
        .with_tools(ListCapability::new())
        .with_resources(ResourcesCapability::new().with_subscribe(true));
    Server::builder(Implementation::new("layered", "1.0.0"), offers)
}

fn build(builder: ServerBuilder) -> Arc<Server> {
    builder.build(Tools { cached: CachedResult::new(CallToolResult::new([Content::text("done")])) })
}

#[derive(Debug, Clone, Copy)]
enum Transport {
    InProcess,
    Pipe,
}

const TRANSPORTS: [Transport; 2] = [Transport::InProcess, Transport::Pipe];

async fn connect(server: &Arc<Server>, offer: RevisionPolicy, transport: Transport) -> ClientSession {
    let client = Client::new().with_revisions(offer);
    match transport {
        Transport::InProcess => client.connect(InProcess::new(server)).await.unwrap(),
        Transport::Pipe => {
            let (near, far) = pair();
            let serving = Arc::clone(server);
            tokio::spawn(async move { serving.serve(far).await });
            client.connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await.unwrap()
        }
    }
}

async fn sessions(server: &Arc<Server>, offer: RevisionPolicy) -> [ClientSession; 2] {
    [connect(server, offer, TRANSPORTS[0]).await, connect(server, offer, TRANSPORTS[1]).await]
}

type Seen = Arc<Mutex<Vec<String>>>;

/// A layer that records the method, the client and the outcome of every request.
fn recorder(name: &'static str, seen: &Seen) -> impl Layer + use<> {
    let seen = Arc::clone(seen);
    move |request: IncomingRequest, next: Next| {
        let client = request.client().map_or_else(|| "?".to_owned(), |client| client.name);
        let line = format!("{name} {} {client}", request.method());
        seen.lock().push(line.clone());
        let seen = Arc::clone(&seen);
        next.call(request).inspect(move |reply| {
            let outcome = reply.map_or_else(|error| error.code.to_string(), |_| "ok".to_owned());
            seen.lock().push(format!("{line} {outcome}"));
        })
    }
}

#[tokio::test]
async fn a_layer_sees_built_in_and_handled_requests_in_process_and_over_a_pipe() {
    for (offer, opening) in BOTH.into_iter().zip(["server/discover", "initialize"]) {
        for transport in TRANSPORTS {
            let seen = Seen::default();
            let server = build(builder().layer(recorder("layer", &seen)));
            let session = connect(&server, offer, transport).await;
            for tool in REPLYING {
                assert_eq!(session.call_tool(tool, ()).await.unwrap().text(), "done", "{tool}");
            }
            session.call_tool("panic", ()).await.unwrap_err();
            session.call_tool("panic_later", ()).await.unwrap_err();
            let subscription = session.subscribe("text://a").await.unwrap();
            let seen = seen.lock().clone();
            let saw = |start: &str, end: &str| {
                let start = format!("layer {start}");
                seen.iter().any(|line| line.starts_with(&start) && line.ends_with(end))
            };
            let all = saw(opening, "ok")
                && saw("tools/call", "ok")
                && saw("tools/call", "-32603")
                && (saw("subscriptions/listen", "") || saw("resources/subscribe", "ok"));
            assert!(all, "{transport:?}: {seen:?}");
            assert!(seen.iter().all(|line| !line.contains('?')), "the client is known: {seen:?}");
            drop(subscription);
        }
    }
}

#[tokio::test]
async fn the_first_layer_is_the_outermost_one() {
    let seen = Seen::default();
    let server = build(builder().layer(recorder("outer", &seen)).layer(recorder("inner", &seen)));
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    seen.lock().clear();
    session.call_tool("now", ()).await.unwrap();
    let order: Vec<_> = seen.lock().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(order, ["outer", "inner", "inner", "outer"]);
}

#[tokio::test]
async fn a_panic_in_a_layer_fails_its_request_only() {
    let panics = |request: IncomingRequest, next: Next| -> HandlerOutcome {
        let tool = request.param("name").and_then(|name| name.decode::<String>().ok()).unwrap_or_default();
        assert_ne!(tool, "now", "on purpose");
        next.call(request).map(move |reply| {
            assert_ne!(tool, "later", "on purpose");
            reply
        })
    };
    for offer in BOTH {
        let server = build(builder().layer(panics));
        for session in sessions(&server, offer).await {
            for tool in ["now", "later"] {
                let error = session.call_tool(tool, ()).await.unwrap_err().to_string();
                assert!(error.contains("incident"), "{error}");
                assert!(!error.contains("on purpose"), "{error}");
            }
            assert_eq!(session.call_tool("cached", ()).await.unwrap().text(), "done");
        }
    }
}

/// A reply channel that drops everything.
struct NullChannel;

impl ReplyChannel for NullChannel {
    fn note(&self, _: &str, _: Option<&Raw>) {}

    fn ask(&self, _: &str, _: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        None
    }
}

fn answer(server: &Arc<Server>, session: &Arc<ServerSession>, method: &str, params: Value) -> AnswerOutcome {
    let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.to_string().into()) else {
        panic!("{frame} is not a request")
    };
    let class = server.classify(&request);
    server.answer(session, request, class, Arc::new(NullChannel))
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }})
}

#[tokio::test]
async fn an_immediate_reply_stays_immediate_through_every_layer() {
    let server = build(
        builder()
            .layer(AccessLog::new(|_| {}))
            .layer(Metrics::new())
            .layer(ConcurrencyLimit::new(9))
            .layer(Timeout::new(Duration::from_secs(1)))
            .layer(|request: IncomingRequest, next: Next| {
                let immediate = request.param("name").is_some_and(|name| name.as_str() != "\"later\"");
                let outcome = next.call(request);
                assert_eq!(outcome.is_immediate(), immediate);
                outcome.map(|reply| reply)
            }),
    );
    for tool in ["now", "cached"] {
        let answered = answer(&server, &Arc::default(), "tools/call", call(tool));
        assert!(matches!(answered, AnswerOutcome::Now(Ok(_))), "{tool}: {answered:?}");
    }
    let answered = answer(&server, &Arc::default(), "tools/call", call("later"));
    assert!(matches!(answered, AnswerOutcome::Later(_)), "{answered:?}");
    let answered = answer(&server, &Arc::default(), "resources/nothing", call("now"));
    assert!(matches!(answered, AnswerOutcome::Now(Err(_))), "{answered:?}");
    let answered = answer(&server, &Arc::default(), "initialize", call("now"));
    assert!(matches!(answered, AnswerOutcome::Refused(_)), "a modern request cannot: {answered:?}");
}

#[test]
fn what_a_layer_rejects_changes_nothing() {
    let rejects = |request: IncomingRequest, next: Next| match request.method() {
        "initialize" => HandlerOutcome::Refused(RpcError::invalid_request("not today")),
        _ => next.call(request),
    };
    let (server, session) = (build(builder().layer(rejects)), Arc::default());
    let who = json!({ "name": "c", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who });
    let answered = answer(&server, &session, "initialize", params);
    let AnswerOutcome::Refused(error) = answered else { panic!("{answered:?}") };
    assert_eq!(error.message, "not today");
    let answered = answer(&server, &session, "tools/call", json!({ "name": "now" }));
    let AnswerOutcome::Refused(error) = answered else { panic!("the session is not open: {answered:?}") };
    assert!(error.message.starts_with("Not initialized"), "{error:?}");
}

#[tokio::test]
async fn a_layer_may_wait_before_it_calls_the_next_one() {
    let waits = |request: IncomingRequest, next: Next| {
        HandlerOutcome::later(async move {
            tokio::task::yield_now().await;
            next.call(request).into_reply().await
        })
    };
    for offer in BOTH {
        let server = build(builder().layer(waits));
        for session in sessions(&server, offer).await {
            for tool in REPLYING {
                assert_eq!(session.call_tool(tool, ()).await.unwrap().text(), "done", "{tool}");
            }
        }
    }
}

#[tokio::test]
async fn cancelling_a_request_drops_it_in_every_layer() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for offer in BOTH {
        let (entered, dropped) = (Arc::new(tokio::sync::Notify::new()), Arc::<AtomicUsize>::default());
        let (at_entry, at_drop) = (Arc::clone(&entered), Arc::clone(&dropped));
        let server = build(builder().layer(move |request: IncomingRequest, next: Next| {
            if request.method() != "tools/call" {
                return next.call(request);
            }
            at_entry.notify_one();
            let guard = Dropped(Arc::clone(&at_drop));
            next.call(request).inspect(move |_| drop(guard))
        }));
        for (at, session) in sessions(&server, offer).await.into_iter().enumerate() {
            let call = tokio::spawn(session.call_tool("forever", ()).into_future());
            entered.notified().await;
            call.abort();
            while dropped.load(Ordering::SeqCst) == at {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
}

#[tokio::test]
async fn requests_beyond_the_concurrency_limit_are_rejected_until_one_ends() {
    let server = build(builder().layer(ConcurrencyLimit::new(1)));
    let session = Arc::default();
    let AnswerOutcome::Later(first) = answer(&server, &session, "tools/call", call("forever")) else {
        panic!("it waits")
    };
    let refused = answer(&server, &session, "tools/call", call("now"));
    let AnswerOutcome::Now(Err(error)) = refused else { panic!("{refused:?}") };
    assert!(error.message.starts_with("too many requests"), "{error:?}");
    drop(first);
    let answered = answer(&server, &session, "tools/call", call("now"));
    assert!(matches!(answered, AnswerOutcome::Now(Ok(_))), "{answered:?}");
    // A stream that lasts does not take the place of requests.
    let listening = answer(&server, &session, "subscriptions/listen", {
        let mut params = call("-");
        params["notifications"] = json!({});
        params
    });
    assert!(matches!(listening, AnswerOutcome::Later(_)), "{listening:?}");
    let answered = answer(&server, &session, "tools/call", call("now"));
    assert!(matches!(answered, AnswerOutcome::Now(Ok(_))), "{answered:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_is_dropped_and_answered() {
    let timeout = Timeout::new(Duration::from_secs(3))
        .with_reply(|method| Err(RpcError::internal(format!("{method} took too long"))));
    let server = build(builder().layer(timeout));
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    let error = session.call_tool("forever", ()).await.unwrap_err().to_string();
    assert!(error.contains("tools/call took too long"), "{error}");
    assert_eq!(session.call_tool("later", ()).await.unwrap().text(), "done");
}

#[tokio::test]
async fn metrics_count_by_method() {
    let metrics = Metrics::new();
    let server = build(builder().layer(metrics.clone()));
    let session = Arc::default();
    for tool in ["now", "panic", "cached"] {
        answer(&server, &session, "tools/call", call(tool));
    }
    let AnswerOutcome::Later(running) = answer(&server, &session, "tools/call", call("forever")) else {
        panic!("it waits")
    };
    assert_eq!(metrics.snapshot()["tools/call"].in_flight, 1);
    drop(running);
    answer(&server, &session, "made/up", call("-"));
    answer(&server, &session, "made/up/too", call("-"));
    let counted = metrics.snapshot();
    let calls = &counted["tools/call"];
    assert_eq!((calls.results, calls.errors, calls.cancelled, calls.in_flight), (2, 1, 1, 0));
    assert_eq!(counted[Metrics::OTHER].errors, 2);
    assert_eq!(counted.len(), 2);
}
