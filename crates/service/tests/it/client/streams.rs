//! Streams of a typed client: events, result and errors.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, Raw, RpcError, ServerCapabilities,
};
use switchboard_service::client::{CallArguments, ServiceCaller, StreamItem};
use switchboard_service::wire::STREAM_NOTIFICATION;
use switchboard_service::{Cx as ServiceCx, Error, Events, LostEvents, StreamJson};
use switchboard_session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};
use switchboard_session::{Client, RevisionPolicy};

use crate::client::sample;
use crate::client::sessions::{self, ERAS, callers};

fn shout(caller: &ServiceCaller, args: Value) -> switchboard_service::client::CallStream<u32, u32> {
    caller.stream(sample::SHOUT, CallArguments::from_fields(&args), None)
}

#[tokio::test]
async fn events_precede_the_result_in_every_encoding() {
    for json in [StreamJson::Text, StreamJson::Resource, StreamJson::TypedText] {
        for caller in callers(|builder| builder.structured_stream_json(json)).await {
            let mut stream = shout(&caller, json!({"times": 50}));
            for number in 0..50 {
                assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(number)), "{json:?}");
            }
            assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Result(50)), "{json:?}");
            assert_eq!(stream.recv().await.unwrap(), None);
            assert!(stream.next().await.is_none());
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_ends_the_stream() {
    for caller in callers(|builder| builder).await {
        let mut stream = shout(&caller, json!({"times": 5, "fail_after": 2}));
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(0)));
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(1)));
        let error = stream.recv().await.unwrap_err();
        assert!(matches!(&error, Error::Tool(own) if own.code == "hoarse"), "{error:?}");
        assert_eq!(stream.recv().await.unwrap(), None);

        let mut stream = shout(&caller, json!({"times": 0}));
        let error = stream.recv().await.unwrap_err();
        assert!(error.repair().unwrap().prompt().contains("tools/call:shout_loud"));
        assert_eq!(stream.recv().await.unwrap(), None);
    }
}

#[tokio::test]
async fn events_of_a_method_arrive_through_a_channel() {
    for caller in callers(|builder| builder).await {
        let (events, mut heard) = Events::<u32>::channel(64);
        let args = CallArguments::new().with("times", &3);
        let sum: u32 =
            caller.tool::<_, Error>(sample::SHOUT, args, None, Some(events.into_sink())).await.unwrap();
        let mut numbers = Vec::new();
        while let Some(number) = heard.recv().await.unwrap() {
            numbers.push(number);
        }
        assert_eq!((sum, numbers), (3, vec![0, 1, 2]));
    }
}

#[tokio::test]
async fn a_slow_receiver_gets_the_number_of_lost_events() {
    for caller in callers(|builder| builder).await {
        let (events, mut heard) = Events::<u32>::channel(10);
        let args = CallArguments::new().with("times", &100);
        let sum: u32 =
            caller.tool::<_, Error>(sample::SHOUT, args, None, Some(events.into_sink())).await.unwrap();
        assert_eq!(sum, 100);
        for number in 0..10 {
            assert_eq!(heard.recv().await.unwrap(), Some(number));
        }
        let error = heard.recv().await.unwrap_err();
        assert_eq!(error.downcast_ref::<LostEvents>().unwrap().count, 90);
        assert_eq!(heard.recv().await.unwrap(), None);
    }
}

#[tokio::test]
async fn v2_a_typed_stream_works_over_any_session() {
    for offer in ERAS {
        let server = sample::builder().build().unwrap();
        let session = sessions::open(Client::new(), &server, offer).await;
        let caller = ServiceCaller::new(session, Arc::clone(sample::design()));
        let mut stream = shout(&caller, json!({"times": 5}));
        for number in 0..5 {
            assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(number)), "{offer:?}");
        }
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Result(5)), "{offer:?}");
        assert_eq!(stream.recv().await.unwrap(), None);

        // The caller's own progress contains no items.
        let cx = ServiceCx::call().on_progress(|progress| panic!("{progress:?}")).build();
        let args = CallArguments::new().with("times", &3);
        let sum: u32 = caller.tool::<_, Error>(sample::SHOUT, args, Some(&cx), None).await.unwrap();
        assert_eq!(sum, 3);
    }
    let session = sample::builder().connect().await.unwrap();
    let caller = ServiceCaller::new(session, Arc::clone(sample::design()));
    assert_eq!(shout(&caller, json!({"times": 2})).recv().await.unwrap(), Some(StreamItem::Event(0)));
}

#[tokio::test]
async fn d2_an_untyped_call_has_the_items_in_its_result() {
    let server = sample::builder().build().unwrap();
    let session = sessions::open(Client::new(), &server, ERAS[0]).await;
    let caller = ServiceCaller::new(session, Arc::clone(sample::design()));
    let name = &sample::design().tools[sample::SHOUT].name;
    let result = caller.call_raw(name, json!({"times": 2})).await.unwrap();
    assert_eq!(result.text(), "0\n1\n2");
    let ask = async |_| -> Result<Value, Error> { panic!("nothing to repair") };
    let sum: u32 = caller.with_repair_as(1, name, json!({"times": 2}), ask).await.unwrap();
    assert_eq!(sum, 2);
}

/// Sends the given notifications, then an error or a result.
struct Says {
    notes: Vec<Value>,
    answer: Result<Value, RpcError>,
}

impl Handler for Says {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let ServerRequest::CallTool(_) = request else {
            return HandlerOutcome::error(RpcError::method_not_found(request.method()));
        };
        for note in &self.notes {
            let mut note = note.clone();
            note["requestId"] = json!(cx.request_id());
            cx.notify(STREAM_NOTIFICATION, Some(&Raw::from(note)));
        }
        match &self.answer {
            Ok(result) => {
                let mut response = CallToolResult::new([Content::text(result.to_string())]);
                response.structured_content = Some(result.clone().into());
                HandlerOutcome::now(response)
            }
            Err(error) => HandlerOutcome::error(error.clone()),
        }
    }
}

async fn says(notes: &[Value], answer: Result<Value, RpcError>, offer: RevisionPolicy) -> ServiceCaller {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let says = Says { notes: notes.to_vec(), answer };
    let server = Server::builder(Implementation::new("says", "1"), offers).build(says);
    ServiceCaller::new(sessions::session(&server, offer).await, Arc::clone(sample::design()))
}

#[tokio::test]
async fn a_stream_continues_after_undecodable_and_lost_events() {
    let text = |seq: u32, text: &str| json!({"seq": seq, "content": [{"type": "text", "text": text}]});
    let notes = [text(0, "7"), text(1, "seven"), text(4, "8"), json!({"seq": "no"}), text(6, "9")];
    for offer in ERAS {
        let caller = says(&notes, Ok(json!(3)), offer).await;
        let mut stream = shout(&caller, json!({"times": 1}));
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(7)));
        assert!(matches!(stream.recv().await, Err(Error::Malformed(_))));
        let lost = stream.recv().await.unwrap_err();
        assert_eq!(lost.downcast_ref::<LostEvents>().unwrap().count, 2);
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(8)));
        assert!(matches!(stream.recv().await, Err(Error::Malformed(_))));
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(9)));
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Result(3)));
        assert_eq!(stream.recv().await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_protocol_error_keeps_its_code_and_message() {
    for offer in ERAS {
        let note = json!({"seq": 0, "content": [{"type": "text", "text": "7"}]});
        let error = RpcError::new(switchboard_protocol::ErrorCode(-32050), "enough");
        let caller = says(&[note], Err(error), offer).await;
        let mut stream = shout(&caller, json!({"times": 1}));
        assert_eq!(stream.recv().await.unwrap(), Some(StreamItem::Event(7)));
        let Err(Error::Rpc(error)) = stream.recv().await else { panic!("an error") };
        assert_eq!((error.code.0, error.message.as_str()), (-32050, "enough"));
        assert_eq!(stream.recv().await.unwrap(), None);
    }
}
