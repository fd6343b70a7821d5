//! Notifications of extensions: sent to clients that declared the extension, delivered to their call, in order.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, Raw, RpcError, ServerCapabilities,
};
use switchboard_session::link::{SingleLink, pair};
use switchboard_session::server::{
    Handler, HandlerOutcome, InProcess, RequestContext, Server, ServerRequest,
};
use switchboard_session::{Client, ClientSession, ConnectionLimits, MuxLink, RevisionPolicy};

const EVENT: &str = "notifications/com.example/event";

/// A tool that sends a notification for each number up to its argument, and returns the next number.
struct CountingTool;

impl Handler for CountingTool {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let ServerRequest::CallTool(call) = request else {
            let note = Raw::from(serde_json::json!({ "requestId": cx.request_id() }));
            cx.notify(EVENT, Some(&note));
            return HandlerOutcome::error(RpcError::method_not_found(if cx.may_notify(EVENT) {
                "told"
            } else {
                ""
            }));
        };
        let most: u32 = call.arguments.unwrap().decode::<serde_json::Value>().unwrap()["most"]
            .as_u64()
            .and_then(|most| u32::try_from(most).ok())
            .unwrap();
        HandlerOutcome::later(async move {
            for number in 1..=most {
                let note = serde_json::json!({ "requestId": cx.request_id(), "number": number });
                cx.notify(EVENT, Some(&Raw::from(note)));
                cx.progress(number.into(), None, None);
                tokio::task::yield_now().await;
            }
            Ok(CallToolResult::new([Content::text((most + 1).to_string())]).into())
        })
    }
}

fn server() -> Arc<Server> {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("counts", "1.0.0"), offers).build(CountingTool)
}

fn client(offer: RevisionPolicy) -> Client {
    Client::new().with_revisions(offer).with_extension("com.example/counting", Raw::empty_object())
}

async fn connect_over_pipe(client: &Client) -> ClientSession {
    let (near, far) = pair();
    let server = server();
    tokio::spawn(async move { server.serve(far).await });
    client.connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await.unwrap()
}

/// Calls the counting tool; returns the numbers of its notifications, and its result.
async fn count(session: &ClientSession, most: u32) -> (Vec<u64>, String) {
    let received: Arc<Mutex<Vec<u64>>> = Arc::default();
    let sink = Arc::clone(&received);
    let result = session
        .call_tool("count", serde_json::json!({ "most": most }))
        .on_notification(move |method, params| {
            assert_eq!(method, EVENT);
            sink.lock().push(params.decode::<serde_json::Value>().unwrap()["number"].as_u64().unwrap());
        })
        .await
        .unwrap();
    (Arc::try_unwrap(received).unwrap().into_inner(), result.text().to_string())
}

const BOTH: [RevisionPolicy; 2] = [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly];

#[tokio::test]
async fn a_call_gets_notifications_of_an_extension_in_order_before_its_result() {
    for offer in BOTH {
        let session = connect_over_pipe(&client(offer)).await;
        assert_eq!(count(&session, 50).await, ((1..=50).collect(), "51".to_owned()));
        let session = client(offer).connect(InProcess::new(&server())).await.unwrap();
        assert_eq!(count(&session, 50).await, ((1..=50).collect(), "51".to_owned()));
    }
}

#[tokio::test]
async fn concurrent_calls_get_only_their_own_notifications() {
    for offer in BOTH {
        let session = connect_over_pipe(&client(offer)).await;
        let (three, five) = tokio::join!(count(&session, 3), count(&session, 5));
        assert_eq!(three, (vec![1, 2, 3], "4".to_owned()));
        assert_eq!(five, (vec![1, 2, 3, 4, 5], "6".to_owned()));
    }
}

#[tokio::test]
async fn a_client_that_did_not_declare_the_extension_gets_no_notifications() {
    for offer in BOTH {
        let session = connect_over_pipe(&Client::new().with_revisions(offer)).await;
        assert_eq!(count(&session, 3).await, (vec![], "4".to_owned()));
        let other = Client::new().with_revisions(offer).with_extension("com.example2/x", Raw::empty_object());
        assert_eq!(count(&connect_over_pipe(&other).await, 3).await, (vec![], "4".to_owned()));
    }
}

#[tokio::test]
async fn a_request_of_an_extension_gets_its_notifications_without_a_declaration() {
    for offer in BOTH {
        let session = connect_over_pipe(&Client::new().with_revisions(offer)).await;
        let received: Arc<Mutex<u32>> = Arc::default();
        let sink = Arc::clone(&received);
        let call = session.raw_call("com.example/count", Raw::empty_object());
        let refused = call.on_notification(move |_, _| *sink.lock() += 1).await.unwrap_err();
        assert!(refused.to_string().contains("told"), "{refused}");
        assert_eq!(*received.lock(), 1);
    }
}
