//! The plain endpoint through its typed client, over sockets, alone and beside MCP.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_http::HttpError;
use switchboard_service::client::{CallArguments, ServiceCaller, StreamItem};
use switchboard_service::rpc::{CombinedService, HttpStatusError, RpcCaller, RpcService};
use switchboard_service::{Cx, Error, EventPublisher, Events, LostEvents, PromptMessages, ServiceBuilder};
use switchboard_session::server;
use switchboard_testkit::{HttpScript, read_request, wait_until};
use switchboard_transport::http::client::Http;
use switchboard_transport::http::server::{Endpoint, HttpListener, HttpServerOptions};
use tokio::io::AsyncWriteExt;

use crate::client::one_trait::{Counting, use_texts};
use crate::client::sample::{self, SampleService};
use crate::client::sessions;
use crate::expansion::{Svc, Texts, TextsClient, TextsRpcClient, TextsServer};

/// Serves until the end of the test.
async fn serve(endpoint: impl Endpoint) -> String {
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap();
    tokio::spawn(listener.serve(endpoint));
    format!("http://{address}")
}

fn rpc(builder: &ServiceBuilder) -> RpcService {
    RpcService::new(builder, HttpServerOptions::default()).unwrap()
}

async fn caller(builder: &ServiceBuilder) -> RpcCaller {
    let base = serve(rpc(builder)).await;
    RpcCaller::new(&format!("{base}/rpc"), Arc::clone(sample::design())).unwrap()
}

#[tokio::test]
async fn the_plain_endpoint_client_implements_the_trait() {
    let base = serve(rpc(&TextsServer::builder(Svc))).await;
    let api = TextsRpcClient::new(&format!("{base}/rpc")).unwrap();
    use_texts(&api).await;
    let unmapped = api.complete_text("x".into()).await.unwrap_err();
    assert!(matches!(unmapped, Error::Unmapped { method } if method == "complete_text"));
}

#[tokio::test]
async fn mcp_and_the_plain_endpoint_share_a_listener_and_a_service() {
    let served = Arc::new(Counting::default());
    let builder = TextsServer::builder(Arc::clone(&served));
    let base = serve(CombinedService::from_builder(&builder, HttpServerOptions::default()).unwrap()).await;
    let fallback = TextsRpcClient::new(&format!("{base}/rpc")).unwrap();
    // Methods that are not mapped to MCP use the fallback, others do not.
    for (round, offer) in sessions::ERAS.into_iter().enumerate() {
        let there = Http::new(format!("{base}/mcp"));
        let session =
            switchboard_service::client::client().with_revisions(offer).connect(there).await.unwrap();
        let api = TextsClient::new(session).with_fallback(fallback.clone());
        use_texts(&api).await;
        assert_eq!(served.counts(), (5 * (round + 1), round + 1));
        let mut stream = api.spell_stream(&Cx::call().build(), "ab".into());
        for expected in
            [StreamItem::Event("a".to_owned()), StreamItem::Event("b".to_owned()), StreamItem::Result(())]
        {
            assert_eq!(stream.recv().await.unwrap(), Some(expected));
        }
        served.mapped.fetch_sub(1, Ordering::SeqCst);
    }
    use_texts(&fallback).await;
    assert_eq!(served.counts(), (15, 3));
    let http = switchboard_http::HttpClient::new(switchboard_http::HttpClientOptions::default()).unwrap();
    let address = |path: &str| {
        let plain = switchboard_http::PlainHttp::LoopbackOnly;
        switchboard_http::Address::parse(&format!("{base}{path}"), plain).unwrap()
    };
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    for (path, status, says) in
        [("/mcp", 200, "serverInfo"), ("/rpc", 200, "serverInfo"), ("/x", 404, "the endpoint is /mcp")]
    {
        let request = switchboard_http::Request::new(http::Method::POST, address(path))
            .with_header(http::header::CONTENT_TYPE, "application/json".parse().unwrap())
            .with_header(http::header::ACCEPT, "application/json, text/event-stream".parse().unwrap())
            .with_body(discover.to_string());
        let response = http.send(request).await.unwrap();
        assert_eq!(response.status, status, "{path}");
        let body = response.body.collect(100_000).await.unwrap();
        assert!(String::from_utf8_lossy(&body).contains(says), "{path}: {body:?}");
    }
}

#[tokio::test]
async fn every_failure_is_typed() {
    let caller = caller(&sample::builder()).await;
    let fail = async |kind: &str| {
        let args = CallArguments::new().with("kind", kind);
        caller.method::<(), Error>("fail", args, None).await.unwrap_err()
    };
    let own = fail("own").await;
    assert!(
        matches!(&own, Error::Tool(own) if own.code == "not_found" && own.data == Some(json!({"kind": "own"})))
    );
    assert!(matches!(fail("internal").await, Error::Rpc(error) if error.message == "Internal error"));
    assert!(matches!(fail("panic").await, Error::Rpc(error) if error.code.0 == -32603));
    assert!(matches!(fail("rpc").await, Error::Rpc(error) if error.code.0 == -7));
    let unknown = caller.method::<(), Error>("nothing", CallArguments::new(), None).await.unwrap_err();
    assert!(matches!(unknown, Error::MethodNotFound { method } if method == "nothing"));
    let wrong = caller.method::<String, Error>("numbers", CallArguments::new(), None).await.unwrap_err();
    assert!(matches!(wrong, Error::Malformed(_)), "{wrong:?}");

    let args = CallArguments::new().with("times", &0);
    let error = caller.method::<u32, Error>("shout", args, None).await.unwrap_err();
    let repair = error.repair().unwrap();
    assert!(
        repair.prompt().starts_with("\nOperation: tools/call:shout_loud\nSchema: {"),
        "{}",
        repair.prompt()
    );
    assert!(repair.prompt().ends_with("\nExample params: {\"times\":3}"));
    assert_eq!(repair.prior, Some(json!({"times": 0})));
    let error = caller.call_raw("reset", json!({"all": "yes"})).await.unwrap_err();
    assert_eq!(
        error.repair().unwrap().prompt(),
        "\nOperation: reset\n\
         Schema: {\"additionalProperties\":false,\"properties\":{\"all\":{\"type\":\"boolean\"},\"depth\":\
         {\"default\":0,\"minimum\":0,\"type\":\"integer\"}},\"required\":[\"all\"],\"type\":\"object\"}\n\
         Error: Invalid arguments: `all` must be a boolean; got \"yes\"\n\
         Redo the operation now with valid parameters.\n\
         Use only valid schema fields and ensure required fields and types/enums are valid.\n\
         Example params: {\"all\":true}"
    );
    let prompt =
        caller.method::<PromptMessages, Error>("review", CallArguments::new(), None).await.unwrap_err();
    assert!(prompt.repair().unwrap().prompt().starts_with("\nOperation: prompts/get:review\n"));
}

#[tokio::test]
async fn transport_errors_are_not_argument_errors() {
    let unreachable = RpcCaller::new("http://127.0.0.1:1/rpc", Arc::clone(sample::design())).unwrap();
    let refused = unreachable.method::<(), Error>("numbers", CallArguments::new(), None).await.unwrap_err();
    assert!(matches!(refused, Error::Transport(_)), "{refused:?}");
    assert!(!refused.is_retryable());
    assert!(RpcCaller::new("http://example.com/rpc", Arc::clone(sample::design())).is_err());

    let base = serve(rpc(&sample::builder())).await;
    let elsewhere = RpcCaller::new(&format!("{base}/other"), Arc::clone(sample::design())).unwrap();
    let error = elsewhere.method::<(), Error>("numbers", CallArguments::new(), None).await.unwrap_err();
    assert_eq!(error.downcast_ref::<HttpStatusError>().unwrap().status, 404, "{error:?}");

    let small =
        RpcCaller::new(&format!("{base}/rpc"), Arc::clone(sample::design())).unwrap().with_max_bytes(20);
    let error = small.method::<Vec<u32>, Error>("numbers", CallArguments::new(), None).await.unwrap_err();
    assert!(
        matches!(error.downcast_ref::<HttpError>(), Some(HttpError::TooLarge { limit: 20 })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_timed_out_call_is_dropped() {
    let bench = Arc::new(SampleService::default());
    let caller = caller(&ServiceBuilder::new(Arc::clone(&bench) as _)).await;
    let cx = Cx::call().timeout(Duration::from_millis(50)).build();
    let slow = || CallArguments::new().with("ms", &60_000);
    let late = caller.method::<(), Error>("slow", slow(), Some(&cx)).await.unwrap_err();
    assert!(matches!(late, Error::Timeout));
    let quick = caller.clone().with_timeout(Duration::from_millis(50));
    assert!(matches!(quick.method::<(), Error>("slow", slow(), None).await, Err(Error::Timeout)));
    wait_until("the drop of both calls", || bench.dropped.load(Ordering::SeqCst) == 2).await;
    assert_eq!(bench.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_stream_yields_events_errors_and_gaps() {
    let caller = caller(&sample::builder()).await;
    let shout = async |args: Value| {
        let (events, mut received) = Events::<u32>::channel(10_000);
        let result = caller
            .streaming::<u32, Error>("shout", CallArguments::from_fields(&args), None, events.into_sink())
            .await;
        let mut numbers = Vec::new();
        while let Some(number) = received.recv().await.unwrap() {
            numbers.push(number);
        }
        (result, numbers)
    };
    let (result, numbers) = shout(json!({"times": 5000})).await;
    assert_eq!((result.unwrap(), numbers), (5000, (0..5000).collect()));
    let (result, numbers) = shout(json!({"times": 9, "fail_after": 2})).await;
    assert!(matches!(result, Err(Error::Tool(own)) if own.code == "hoarse"));
    assert_eq!(numbers, [0, 1]);
    let (result, numbers) = shout(json!({"times": 0})).await;
    assert!(result.unwrap_err().repair().is_some() && numbers.is_empty());
}

/// A server that responds to one request with these bytes and closes the connection, and a caller of it.
async fn says(answer: &'static str) -> (HttpScript, RpcCaller) {
    let server = HttpScript::per_connection(move |mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
    })
    .await;
    let caller = RpcCaller::new(&server.url("/rpc"), Arc::clone(sample::design())).unwrap();
    (server, caller)
}

#[tokio::test]
async fn responses_of_other_servers_are_decoded_or_rejected() {
    const STREAM: &str =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";
    macro_rules! stream { ($($text:literal),*) => { concat!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n", $($text),*) } }
    assert!(stream!("").starts_with(STREAM));
    let hear = async |answer: &'static str| {
        let (events, mut received) = Events::<u32>::channel(16);
        let args = CallArguments::new().with("times", &1);
        let (_server, caller) = says(answer).await;
        let result = caller.streaming::<u32, Error>("shout", args, None, events.into_sink()).await;
        let mut items = Vec::new();
        while let Some(item) = received.next().await {
            items.push(item);
        }
        (result, items)
    };
    // Comments, other events, all kinds of line ends, multi-line data, and a gap in the sequence.
    let (result, mut items) = hear(stream!(
        ": hello\r\n\r\nevent: other\r\ndata: {}\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"notifications/dev.switchboard/stream\",\
         \"params\":{\"requestId\":1,\"seq\":2,\"content\":[{\"type\":\"text\",\"text\":\"7\"}]}}\r\n\r\n",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/other\",\"params\":{}}\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":3}\n\n"
    ))
    .await;
    assert_eq!(result.unwrap(), 3);
    assert_eq!(items.pop().unwrap().unwrap(), 7);
    let lost = items.pop().unwrap().unwrap_err();
    assert_eq!(lost.downcast_ref::<LostEvents>().unwrap().count, 2);
    // An error in the stream.
    let (result, _) = hear(stream!(
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32050,\"message\":\"enough\"}}\n\n"
    ))
    .await;
    assert!(matches!(result, Err(Error::Rpc(error)) if error.code.0 == -32050 && error.message == "enough"));
    // A truncated stream, and a response that is not a stream.
    let (result, _) = hear(stream!("data: {\"jsonrpc\":\"2.0\",")).await;
    assert!(matches!(result, Err(Error::Transport(_))));
    let (result, _) = hear(stream!("data: nonsense\n\n")).await;
    assert!(matches!(result, Err(Error::Malformed(_))));
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nnonsense", None),
        ("HTTP/1.1 200 OK\r\ncontent-length: 36\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":1}", None),
        ("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\n\r\noops", Some(502)),
        ("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", Some(401)),
    ] {
        let (result, _) = hear(answer).await;
        let error = result.unwrap_err();
        match expected {
            None => assert!(matches!(error, Error::Malformed(_)), "{answer}: {error:?}"),
            Some(status) => assert_eq!(error.downcast_ref::<HttpStatusError>().unwrap().status, status),
        }
    }
}

#[tokio::test]
async fn events_are_received_and_published_over_the_plain_endpoint() {
    let (handle, feed) = EventPublisher::channel(16);
    let builder = sample::builder().events(feed).accept_notifications(true);
    let caller = caller(&builder).await;
    let mcp = ServiceCaller::new(
        sessions::session(&builder.build().unwrap(), switchboard_session::RevisionPolicy::ModernOnly).await,
        Arc::clone(sample::design()),
    );
    let mut ticks = caller.events::<u32>("ticked").await.unwrap();
    let received = loop {
        handle.publish("ticked", &7);
        if let Ok(received) = tokio::time::timeout(Duration::from_millis(20), ticks.recv()).await {
            break received.unwrap().unwrap();
        }
    };
    assert_eq!(received, 7);
    // An event published here arrives over MCP.
    let mut all = mcp.listen_events().await;
    let said = loop {
        caller.notify("said", &json!({"text": "hi"})).await.unwrap();
        match tokio::time::timeout(Duration::from_millis(20), all.recv()).await {
            Ok(received) => break received.unwrap().unwrap(),
            Err(_) => continue,
        }
    };
    assert_eq!(said.data.as_str(), r#"{"text":"hi"}"#);
    assert!(matches!(caller.notify("said", &json!({})).await, Err(Error::InvalidParams(_))));
    assert!(matches!(caller.events::<u32>("tocked").await, Err(Error::Unknown { .. })));
    let error = caller.call_raw("events/stream", json!({})).await.unwrap_err();
    assert!(matches!(&error, Error::Rpc(error) if error.code.0 == -32600), "{error:?}");
}

#[tokio::test]
async fn a10_events_of_a_plain_endpoint_without_a_feed_end_with_an_error_at_once() {
    let caller = caller(&sample::builder()).await;
    let mut ticks = caller.events::<u32>("ticked").await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(60), ticks.recv()).await.expect("must end");
    assert!(ended.is_err(), "{ended:?}");
}

#[tokio::test]
async fn callers_are_authenticated_as_over_mcp() {
    let options = HttpServerOptions::default().with_authenticate(|head: &http::request::Parts| {
        use switchboard_transport::http::server::AuthRejection;
        match head.headers.get("authorization").map(|token| token.as_bytes()) {
            Some(b"Bearer ada") => Ok(Some(server::Caller::new("ada").with_scopes(["run"]))),
            Some(b"Bearer bob") => Ok(Some(server::Caller::new("bob"))),
            Some(_) => Err(AuthRejection::invalid_token()),
            None => Err(AuthRejection::no_token()),
        }
    });
    let base = serve(RpcService::new(&sample::scoped(), options).unwrap()).await;
    let as_caller = |token: &str| {
        let caller = RpcCaller::new(&format!("{base}/rpc"), Arc::clone(sample::design())).unwrap();
        caller.with_header(http::header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())
    };
    let numbers = async |caller: RpcCaller| {
        caller.method::<Vec<u32>, Error>("numbers", CallArguments::new(), None).await
    };
    assert_eq!(numbers(as_caller("ada")).await.unwrap(), [1, 2]);
    assert!(matches!(numbers(as_caller("bob")).await, Err(Error::MethodNotFound { .. })));
    let error = numbers(as_caller("eve")).await.unwrap_err();
    assert_eq!(error.downcast_ref::<HttpStatusError>().unwrap().status, 401);
}
