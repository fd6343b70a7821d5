//! Traffic of a session and of a served pipe: progress, notifications, invalid text, and no frame without a watcher.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{
    CallToolResult, Implementation, ListCapability, ListToolsResult, ServerCapabilities, Tool,
};
use switchboard_session::link::{
    CallNumber, Direction, FrameBody, ObservedDial, ObservedFrame, SingleLink, TrafficObserver,
    TrafficSource, TrafficTap, pair,
};
use switchboard_session::server::{
    Caller, Handler, HandlerOutcome, InProcess, RequestContext, Server, ServerRequest,
};
use switchboard_session::{Client, ClientSession, ConnectionLimits, MuxLink, RevisionPolicy};

const BOTH: [RevisionPolicy; 2] = [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly];

/// A tool that reports progress three times, and one that never ends.
struct Progressing;

impl Handler for Progressing {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        if let ServerRequest::ListTools(_) = request {
            let tool = Tool::new("steps", serde_json::json!({ "type": "object" }));
            return HandlerOutcome::now(ListToolsResult::new([tool]));
        }
        if let ServerRequest::CallTool(call) = &request
            && call.name == "forever"
        {
            return HandlerOutcome::later(std::future::pending());
        }
        HandlerOutcome::later(async move {
            for step in 1..=3 {
                cx.progress(step.into(), None, None);
                tokio::task::yield_now().await;
            }
            Ok(CallToolResult::new([]).into())
        })
    }
}

/// Keeps a line for each frame: direction, what it is, and the number of its call.
#[derive(Default)]
struct Lines {
    is_off: AtomicBool,
    asked: AtomicUsize,
    lines: Mutex<Vec<(String, Option<u64>)>>,
    principals: Mutex<Vec<Option<String>>>,
}

impl Lines {
    fn take(&self) -> Vec<(String, Option<u64>)> {
        std::mem::take(&mut *self.lines.lock())
    }

    /// Waits until this line is there.
    async fn wait_for(&self, wanted: &str) {
        let looking = async {
            while !self.lines.lock().iter().any(|(line, _)| line == wanted) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(30), looking).await;
        assert!(found.is_ok(), "{wanted:?} in {:?}", self.lines.lock());
    }
}

impl TrafficObserver for Lines {
    fn is_watching(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        !self.is_off.load(Ordering::Relaxed)
    }

    fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
        let arrow = if frame.direction == Direction::Out { '>' } else { '<' };
        let what = match frame.body {
            FrameBody::Request { method, .. } | FrameBody::Notification { method, .. } => method.to_owned(),
            FrameBody::Response { method, .. } => format!("{method} done"),
            FrameBody::Invalid { text } => String::from_utf8_lossy(text).trim().to_owned(),
            other => format!("{other:?}"),
        };
        self.lines.lock().push((format!("{arrow} {what}"), frame.call.map(CallNumber::get)));
        self.principals.lock().push(source.principal.map(str::to_owned));
    }
}

fn server(observer: &Arc<Lines>) -> Arc<Server> {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new().with_list_changed(true));
    Server::builder(Implementation::new("steps", "1.0.0"), offers)
        .traffic_observer(Arc::<Lines>::clone(observer))
        .build(Progressing)
}

/// Sessions over a pipe and in-process, with the observer of their client and that of their server.
async fn sessions(offer: RevisionPolicy) -> Vec<(ClientSession, Arc<Server>, Arc<Lines>, Arc<Lines>)> {
    let mut sessions = Vec::new();
    for over_pipe in [true, false] {
        let (near_lines, far_lines) = (Arc::<Lines>::default(), Arc::<Lines>::default());
        let server = server(&far_lines);
        let tap = TrafficTap::new(Arc::<Lines>::clone(&near_lines), "steps");
        let client = Client::new().with_revisions(offer);
        let session = match over_pipe {
            true => {
                let (near, far) = pair();
                let served = Arc::clone(&server);
                tokio::spawn(async move { served.serve_as(far, Caller::new("ada")).await });
                let link = MuxLink::start(near, ConnectionLimits::default());
                client.connect(ObservedDial::new(SingleLink::new(link), tap)).await.unwrap()
            }
            false => {
                let dial = InProcess::new(&server).with_caller(Caller::new("ada"));
                client.connect(ObservedDial::new(dial, tap)).await.unwrap()
            }
        };
        session.list_tools().await.unwrap();
        sessions.push((session, server, near_lines, far_lines));
    }
    sessions
}

#[tokio::test]
async fn progress_has_the_number_of_its_call_on_both_sides() {
    for offer in BOTH {
        for (session, _server, near, far) in sessions(offer).await {
            near.take();
            far.take();
            let number = CallNumber::next();
            let call = session.call_tool("steps", serde_json::json!({})).number(number);
            call.on_progress(|_| {}).await.unwrap();
            // Reports are limited in rate, and several that wait to be read may be one, the last.
            let frames = near.take();
            assert_eq!(frames.first().unwrap().0, "> tools/call");
            assert_eq!(frames.last().unwrap().0, "< tools/call done");
            let between = &frames[1..frames.len() - 1];
            assert!((1..=3).contains(&between.len()), "{frames:?}");
            assert!(between.iter().all(|(line, _)| line == "< notifications/progress"), "{frames:?}");
            assert!(frames.iter().all(|(_, call)| *call == Some(number.get())), "{frames:?}");

            far.wait_for("> tools/call done").await;
            let frames = far.take();
            assert_eq!(frames.first().unwrap().0, "< tools/call");
            assert_eq!(frames.last().unwrap().0, "> tools/call done");
            let between = &frames[1..frames.len() - 1];
            assert!(!between.is_empty(), "{frames:?}");
            assert!(between.iter().all(|(line, _)| line == "> notifications/progress"), "{frames:?}");
            assert!(frames[0].1.is_some() && frames.iter().all(|(_, call)| *call == frames[0].1));
            assert!(far.principals.lock().iter().all(Option::is_some), "the caller is known");
        }
    }
}

#[tokio::test]
async fn messages_that_belong_to_no_request_are_shown_on_both_sides() {
    let (session, server, near, far) = sessions(RevisionPolicy::LegacyOnly).await.remove(0);
    server.publisher().tools_changed();
    near.wait_for("< notifications/tools/list_changed").await;
    far.wait_for("> notifications/tools/list_changed").await;
    session.set_roots([]).unwrap();
    near.wait_for("> notifications/roots/list_changed").await;
    far.wait_for("< notifications/roots/list_changed").await;
    // A cancelled request is a notification over a pipe.
    let call = tokio::spawn(session.call_tool("forever", serde_json::json!({})).into_future());
    far.wait_for("< tools/call").await;
    call.abort();
    far.wait_for("< notifications/cancelled").await;
}

#[tokio::test]
async fn text_that_is_no_message_is_shown_by_the_server() {
    let far_lines = Arc::<Lines>::default();
    let served = server(&far_lines);
    let (near, far) = pair();
    tokio::spawn(async move { served.serve(far).await });
    let link = MuxLink::start(near, ConnectionLimits::default());
    let invalid = switchboard_session::link::OneWayMessage::Notification { method: "x", params: Some("}") };
    switchboard_session::link::Link::post(&*link, invalid).unwrap();
    far_lines.wait_for(r#"< {"jsonrpc":"2.0","method":"x","params":}}"#).await;
}

#[tokio::test]
async fn without_a_watcher_each_message_only_asks_whether_there_is_one() {
    for offer in BOTH {
        for (session, _server, near, far) in sessions(offer).await {
            for lines in [&near, &far] {
                lines.is_off.store(true, Ordering::Relaxed);
                lines.take();
                lines.asked.store(0, Ordering::Relaxed);
            }
            session.call_tool("steps", serde_json::json!({})).await.unwrap();
            assert!(near.take().is_empty() && far.take().is_empty());
            // One request each; its exchange and its channel are not decorated.
            assert_eq!(near.asked.load(Ordering::Relaxed), 1);
            assert_eq!(far.asked.load(Ordering::Relaxed), 1);
        }
    }
}
