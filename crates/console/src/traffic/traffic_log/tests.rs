//! Tests of the log: joining, limits, masks, exports, batches.

use std::time::Duration;

use switchboard_host::{CallNumber, FrameBody, Host};
use switchboard_protocol::{
    CallToolResult, Implementation, ListCapability, ListToolsResult, Raw, RequestId, RpcError,
    ServerCapabilities, Tool,
};
use switchboard_session::link::LinkError;
use switchboard_session::server::{
    Handler, HandlerOutcome, InProcess, RequestContext, Server, ServerRequest,
};

use super::*;
use crate::contract::FrameStatus;
use crate::traffic::{FrameBatches, open_recording};

fn source(server: &str) -> TrafficSource<'_> {
    let mut source = TrafficSource::default();
    source.server = Some(server);
    source.session = Some(1);
    source
}

fn observe(log: &TrafficLog, direction: Direction, body: FrameBody<'_>) {
    log.observe(&source("demo"), &ObservedFrame::new(direction, body));
}

fn call(log: &TrafficLog, number: i64, params: &str) {
    let id = RequestId::Number(number);
    observe(log, Direction::Out, FrameBody::Request { id: &id, method: "tools/call", params: Some(params) });
}

fn respond(log: &TrafficLog, number: i64, result: &str) {
    let (id, result) = (RequestId::Number(number), Raw::parse(result.to_owned()).unwrap());
    let body = FrameBody::Response { id: &id, method: "tools/call", outcome: Ok(&result) };
    let frame = ObservedFrame::new(Direction::In, body).with_elapsed(Duration::from_millis(7));
    log.observe(&source("demo"), &frame);
}

fn numbers(page: &TrafficPage) -> Vec<u64> {
    page.frames.iter().map(|frame| frame.frame).collect()
}

#[test]
fn a_response_is_joined_with_its_request() {
    let log = TrafficLog::new();
    call(&log, 1, r#"{"name":"add","arguments":{}}"#);
    call(&log, 2, r#"{"name":"ask"}"#);
    respond(&log, 2, r#"{"isError":true}"#);
    // A request of the server with the same id, and our response.
    let id = RequestId::Number(1);
    observe(&log, Direction::In, FrameBody::Request { id: &id, method: "roots/list", params: None });
    let error = RpcError::internal("no");
    let body = FrameBody::Response { id: &id, method: "roots/list", outcome: Err(&error) };
    observe(&log, Direction::Out, body);
    respond(&log, 1, "{}");
    call(&log, 3, r#"{"name":"slow"}"#);
    observe(&log, Direction::Out, FrameBody::Cancelled { id: &RequestId::Number(3), method: "tools/call" });
    call(&log, 4, r#"{"name":"lost"}"#);
    let lost = LinkError::Closed;
    let request = Some((&RequestId::Number(4), "tools/call"));
    observe(&log, Direction::In, FrameBody::Failed { request, error: &lost });

    let page = log.page(0, 100);
    let ends: Vec<_> = page
        .frames
        .iter()
        .filter_map(|frame| Some((frame.request_frame?, frame.target.as_deref(), frame.status)))
        .collect();
    assert_eq!(
        ends,
        [
            (2, Some("ask"), Some(FrameStatus::ToolError)),
            (4, None, Some(FrameStatus::Error)),
            (1, Some("add"), Some(FrameStatus::Ok)),
            (7, Some("slow"), Some(FrameStatus::Cancelled)),
            (9, Some("lost"), Some(FrameStatus::Error)),
        ]
    );
    assert_eq!(numbers(&page), (1..=10).collect::<Vec<_>>());
    assert_eq!(page.frames[2].ms, Some(7.0));
    assert_eq!(log.frames.lock().open_requests(), 0);
}

#[test]
fn a_flood_stays_within_the_limits() {
    let limits = TrafficLimits { frames: 100, bytes: 20_000, payload_bytes: 5_000 };
    let log = TrafficLog::with_limits(limits);
    for number in 0..1_000 {
        call(&log, number, r#"{"name":"never answered"}"#);
    }
    let totals = log.totals();
    assert_eq!((totals.frames, totals.first_frame), (100, 901));
    assert_eq!(log.frames.lock().open_requests(), 100);
    assert_eq!(log.payload(900, true), Err(PayloadError::Dropped));
    assert_eq!(log.payload(1_001, true), Err(PayloadError::Unknown));
    // Large payloads drop more frames, and are cut themselves.
    for number in 0..10 {
        call(&log, number, &format!(r#"{{"name":"{}"}}"#, "x".repeat(50_000)));
    }
    let totals = log.totals();
    assert_eq!((totals.frames, totals.bytes, totals.first_frame), (4, 20_000, 1_007));
    let payload = log.payload(1_010, true).unwrap();
    assert!(payload.truncated && payload.bytes > 50_000 && payload.payload.len() == 5_000);
    assert_eq!(numbers(&log.page(0, 2)), [1_007, 1_008]);
    assert!(log.page(0, 2).has_more && !log.page(1_008, 2).has_more);
    assert_eq!(numbers(&log.page(1_008, 2)), [1_009, 1_010]);
    // After clearing, numbers go on.
    assert_eq!((log.clear().frames, log.totals().first_frame), (0, 1_011));
    assert_eq!(log.payload(1_010, false), Err(PayloadError::Dropped));
    call(&log, 1, "{}");
    assert_eq!(numbers(&log.page(0, 10)), [1_011]);
}

#[test]
fn a_log_on_demand_records_once_it_is_looked_at() {
    let log = TrafficLog::on_demand();
    assert!(!log.is_watching() && !log.totals().recording);
    log.start_recording();
    assert!(log.is_watching() && log.totals().recording);
}

#[test]
fn payloads_and_exports_are_masked() {
    let log = TrafficLog::new();
    log.add_secrets(["hunter2-hunter2".to_owned()]);
    call(&log, 1, r#"{"name":"login hunter2-hunter2","arguments":{"apiKey":"s3cret","n":1.50}}"#);
    respond(&log, 1, r#"{"content":[{"type":"text","text":"hunter2-hunter2"}]}"#);
    let shown = log.payload(1, true).unwrap();
    assert!(shown.payload.contains(r#""apiKey":"•••","n":1.50"#), "{}", shown.payload);
    assert_eq!(log.page(0, 9).frames[0].target.as_deref(), Some("login •••"));
    let file = log.export(None, &[]);
    for text in [&shown.payload, &log.payload(2, false).unwrap().payload, &file] {
        assert!(!text.contains("hunter2") && !text.contains("s3cret"), "{text}");
    }
}

#[test]
fn an_export_can_be_opened_again() {
    let log = TrafficLog::new();
    call(&log, 1, r#"{"name":"add"}"#);
    respond(&log, 1, r#"{"resultType":"input_required"}"#);
    observe(&log, Direction::In, FrameBody::Invalid { text: b"listening\xff" });
    observe(&log, Direction::Out, FrameBody::Cancelled { id: &RequestId::Number(9), method: "x" });
    let opened = open_recording(&TrafficLog::new(), "mine", log.export(None, &[]).as_bytes()).unwrap();
    let frames: Vec<_> = opened.frames.iter().map(|recorded| &recorded.frame).collect();
    // What was not on the wire is not recorded.
    assert_eq!(frames.len(), 3);
    assert_eq!((frames[1].request_frame, frames[1].status), (Some(1), Some(FrameStatus::InputRequired)));
    assert_eq!((frames[1].method.as_deref(), frames[1].target.as_deref()), (Some("tools/call"), Some("add")));
    assert_eq!((&*frames[0].server, frames[0].direction), ("demo", FrameDirection::Out));
    assert_eq!((frames[2].kind, &*opened.frames[2].payload), (FrameKind::Invalid, "listening\u{fffd}"));
    assert_eq!(opened.frames[0].payload, log.payload(1, true).unwrap().payload);
    // The handshake is not among the frames, and another server is not recorded.
    let revisions = [("other", Revision::V2025_06_18), ("demo", Revision::V2025_11_25)];
    let file = log.export(None, &revisions.map(|(name, revision)| (name.to_owned(), revision)));
    assert!(file.starts_with("recording: 1\nserver: demo\nrevision: 2025-11-25\n\n"), "{file}");
    // Some frames only.
    let some = open_recording(&log, "some", log.export(Some(&[2, 999]), &[]).as_bytes()).unwrap();
    assert_eq!(some.frames.len(), 1);
    assert!(open_recording(&log, "none", b"\xff").is_err());
}

#[test]
fn clients_of_a_gateway_have_lanes_of_their_own() {
    let log = Arc::new(TrafficLog::new());
    let clients = ClientTraffic::new(Arc::clone(&log));
    let id = RequestId::Number(1);
    let mut source = TrafficSource::default();
    source.principal = Some("ada");
    let request = FrameBody::Request { id: &id, method: "tools/list", params: None };
    clients.observe(&source, &ObservedFrame::new(Direction::In, request));
    let result = Raw::empty_object();
    let response = FrameBody::Response { id: &id, method: "tools/list", outcome: Ok(&result) };
    clients.observe(&source, &ObservedFrame::new(Direction::Out, response));
    let frames = log.page(0, 9).frames;
    assert_eq!((&*frames[0].server, frames[0].direction), ("client ada", FrameDirection::Out));
    assert_eq!((frames[1].direction, frames[1].request_frame), (FrameDirection::In, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn new_frames_are_published_in_bounded_batches() {
    let log = Arc::new(TrafficLog::new());
    call(&log, 0, "{}");
    let mut batches = FrameBatches::new(&log);
    for number in 0..700 {
        call(&log, number, "{}");
    }
    let began = tokio::time::Instant::now();
    let first = next_batch(&mut batches).await;
    assert_eq!((first.frames.len(), first.frames[0].frame), (500, 2));
    assert_eq!(next_batch(&mut batches).await.frames.len(), 200);
    assert!(began.elapsed() >= Duration::from_millis(100));
    // Nothing new: it waits.
    let waiting = tokio::time::timeout(Duration::from_secs(60), next_batch(&mut batches));
    assert!(waiting.await.is_err());
    call(&log, 1, "{}");
    log.clear();
    call(&log, 2, "{}");
    assert_eq!(numbers(&next_batch(&mut batches).await), [703]);
    call(&log, 3, "{}");
    log.clear();
    batches.wait().await;
    assert!(batches.take().is_none(), "it was cleared");
}

async fn next_batch(batches: &mut FrameBatches) -> TrafficPage {
    batches.wait().await;
    batches.take().unwrap()
}

/// A server with one tool, which returns nothing.
struct OneTool;

impl Handler for OneTool {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let tool = Tool::new("add", serde_json::json!({ "type": "object" }));
                HandlerOutcome::now(ListToolsResult::new([tool]))
            }
            _ => HandlerOutcome::now(CallToolResult::new([])),
        }
    }
}

#[tokio::test]
async fn a_host_and_the_clients_of_a_server_are_observed_in_one_log() {
    let log = Arc::new(TrafficLog::new());
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("sums", "1.0.0"), offers)
        .traffic_observer(Arc::new(ClientTraffic::new(Arc::clone(&log))))
        .build(OneTool);
    let host = Host::builder().with_traffic_observer(Arc::<TrafficLog>::clone(&log)).build();
    host.connect("sums", InProcess::new(&server)).await.unwrap();
    log.clear();
    let number = CallNumber::next();
    host.call_tool("sums", "add", ()).number(number).await.unwrap();
    let frames = log.page(0, 9).frames;
    let shown: Vec<_> = frames.iter().map(|frame| (&*frame.server, frame.kind, frame.direction)).collect();
    use FrameKind::{Request, Response};
    assert_eq!(
        shown,
        [
            ("sums", Request, FrameDirection::Out),
            ("clients", Request, FrameDirection::Out),
            ("clients", Response, FrameDirection::In),
            ("sums", Response, FrameDirection::In),
        ]
    );
    assert_eq!((frames[0].call, frames[3].call), (Some(number.get()), Some(number.get())));
    assert_eq!(frames[3].request_frame, Some(frames[0].frame));
    assert!(frames.iter().all(|frame| frame.target.as_deref() == Some("add")));
    host.close().await;
}
