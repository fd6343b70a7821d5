//! Traffic: every frame of every binding is shown, in order, with its server, its session and its call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::json;
use switchboard_host::{FrameBody, Host, ObservedFrame, Run, ServerSpec, TrafficObserver, TrafficSource};
use switchboard_protocol::{Implementation, ListCapability, ServerCapabilities};
use switchboard_session::RevisionPolicy;
use switchboard_session::client::HandlerCapabilities;
use switchboard_session::link::Direction;
use switchboard_session::server::Server;
use switchboard_testkit::{STEP_TIMEOUT, trial, trial_leaving_tasks};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::calls::Called;
use crate::hosts::{add_failing, child, in_process, sh, spec};
use crate::toy::{self, Toy};
use crate::web::Web;

// HTTP clients keep idle connections, whose tasks end later.
switchboard_testkit::trials![trial_leaving_tasks:
    a_call_and_its_result_are_shown_over_every_binding,
    a_question_has_the_number_of_its_call_over_every_binding,
    a_cancelled_call_is_marked_over_every_binding,
    calls_at_once_have_numbers_of_their_own;
trial:
    a_watcher_that_comes_later_sees_what_is_sent_from_then_on,
    a_line_that_is_no_message_is_shown,
    a_server_that_cannot_be_reached_is_shown,
];

/// A frame that was observed.
#[derive(Debug, Clone)]
struct Seen {
    server: Option<String>,
    session: Option<u64>,
    direction: Direction,
    kind: &'static str,
    method: String,
    id: Option<String>,
    call: Option<u64>,
    has_elapsed: bool,
    text: String,
}

/// Keeps all frames while it is switched on.
struct Recorder {
    is_on: AtomicBool,
    frames: Mutex<Vec<Seen>>,
}

impl Recorder {
    fn new(is_on: bool) -> Arc<Self> {
        Arc::new(Self { is_on: AtomicBool::new(is_on), frames: Mutex::default() })
    }

    fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.frames.lock())
    }

    /// Waits until a frame is there, and returns all frames of its call.
    async fn call_with(&self, is_wanted: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let looking = async {
            loop {
                let frames = self.frames.lock().clone();
                if let Some(found) = frames.iter().find(|frame| is_wanted(frame)) {
                    let call = found.call;
                    return frames.into_iter().filter(|frame| frame.call == call).collect();
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(STEP_TIMEOUT, looking).await.expect("the frame is shown")
    }
}

impl TrafficObserver for Recorder {
    fn is_watching(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
        let (kind, method, id) = match frame.body {
            FrameBody::Request { id, method, .. } => ("request", method, Some(id)),
            FrameBody::Notification { method, .. } => ("notification", method, None),
            FrameBody::Response { id, method, .. } => ("response", method, Some(id)),
            FrameBody::Cancelled { id, method } => ("cancelled", method, Some(id)),
            FrameBody::Failed { request, .. } => {
                ("failed", request.map_or("", |(_, method)| method), request.map(|(id, _)| id))
            }
            FrameBody::Invalid { .. } => ("invalid", "", None),
            _ => panic!("another kind of frame: {frame:?}"),
        };
        self.frames.lock().push(Seen {
            server: source.server.map(str::to_owned),
            session: source.session,
            direction: frame.direction,
            kind,
            method: method.to_owned(),
            id: id.map(ToString::to_string),
            call: frame.call.map(switchboard_host::CallNumber::get),
            has_elapsed: frame.elapsed.is_some(),
            text: frame.text(),
        });
    }
}

/// One binding: its name, a server, and what keeps the server alive.
struct Binding {
    name: &'static str,
    spec: ServerSpec,
    is_modern: bool,
    /// Observes the frames of the served server; `None` for a child process.
    served: Option<Arc<Recorder>>,
    _web: Option<Web>,
}

fn observed_server(offer: RevisionPolicy) -> (Arc<Server>, Arc<Recorder>) {
    let recorder = Recorder::new(true);
    let offers = ServerCapabilities::new().with_tools(ListCapability::new().with_list_changed(true));
    let server = Server::builder(Implementation::new("toy", "1"), offers)
        .revisions(offer)
        .traffic_observer(Arc::<Recorder>::clone(&recorder))
        .build(Toy::full());
    (server, recorder)
}

/// A host that shows its traffic, with a server over every binding, named for it.
async fn all_bindings() -> (Host, Arc<Recorder>, Vec<Binding>) {
    use RevisionPolicy::{LegacyOnly, ModernOnly};
    let mut bindings = Vec::new();
    for (name, part, is_modern) in [("stdio modern", "toy", true), ("stdio legacy", "legacy", false)] {
        bindings.push(Binding { name, spec: child(part), is_modern, served: None, _web: None });
    }
    let mut builder = Host::builder();
    for (name, offer) in [("in-process modern", ModernOnly), ("in-process legacy", LegacyOnly)] {
        let (server, recorder) = observed_server(offer);
        builder = builder.with_server(name, &server);
        let is_modern = offer == ModernOnly;
        bindings.push(Binding {
            name,
            spec: in_process(name),
            is_modern,
            served: Some(recorder),
            _web: None,
        });
    }
    for (name, offer, is_sse) in
        [("http modern", ModernOnly, false), ("http legacy", LegacyOnly, false), ("sse", LegacyOnly, true)]
    {
        let (server, recorder) = observed_server(offer);
        let web = Web::open(&server).await;
        let http = match is_sse {
            true => Http::new(format!("{}/sse", web.url)).sse(),
            false => Http::new(format!("{}/mcp", web.url)),
        };
        bindings.push(Binding {
            name,
            spec: spec(http),
            is_modern: offer == ModernOnly,
            served: Some(recorder),
            _web: Some(web),
        });
    }
    let recorder = Recorder::new(true);
    let host = builder
        .with_abilities(HandlerCapabilities::none().with_forms())
        .with_traffic_observer(Arc::<Recorder>::clone(&recorder))
        .without_resource_tools()
        .build();
    for binding in &bindings {
        host.connect(binding.name, binding.spec.clone()).await.unwrap();
    }
    (host, recorder, bindings)
}

/// What a frame is, in short.
fn outline(frames: &[Seen]) -> Vec<(Direction, &'static str, &str)> {
    frames.iter().map(|frame| (frame.direction, frame.kind, frame.method.as_str())).collect()
}

async fn a_call_and_its_result_are_shown_over_every_binding() {
    let (host, recorder, bindings) = all_bindings().await;
    let opening = recorder.take();
    for Binding { name, is_modern, served, .. } in &bindings {
        // The session was opened before: probe or handshake, and the list of tools.
        let frames: Vec<_> = opening.iter().filter(|frame| frame.server.as_deref() == Some(name)).collect();
        let first = if *is_modern { "server/discover" } else { "initialize" };
        for (method, kind) in [(first, "request"), (first, "response"), ("tools/list", "response")] {
            assert!(
                frames.iter().any(|frame| frame.method == method && frame.kind == kind),
                "{name}: {frames:?}"
            );
        }
        let sessions: std::collections::BTreeSet<_> = frames.iter().map(|frame| frame.session).collect();
        assert_eq!(sessions.len(), 1, "{name}");
        assert!(frames.iter().all(|frame| frame.session.is_some() && frame.call.is_none()), "{name}");
        if let Some(served) = served {
            served.take();
        }

        host.call_tool(name, "echo", json!({"text": "1.50"})).await.unwrap();
        let frames = recorder.call_with(|frame| frame.kind == "response").await;
        assert_eq!(
            outline(&frames),
            [(Direction::Out, "request", "tools/call"), (Direction::In, "response", "tools/call")],
            "{name}"
        );
        assert!(frames.iter().all(|frame| frame.server.as_deref() == Some(name)), "{name}");
        assert_eq!(frames[0].id, frames[1].id, "{name}");
        assert!(frames[0].call.is_some() && frames[1].has_elapsed, "{name}");
        assert!(frames[0].text.contains(r#""arguments":{"text":"1.50"}"#), "{name}: {}", frames[0].text);
        assert!(frames[1].text.contains(r#"\"1.50\""#), "{name}: {}", frames[1].text);
        recorder.take();
        // The other side of the same connection.
        let Some(served) = served else { continue };
        let frames = served.call_with(|frame| frame.kind == "response").await;
        assert_eq!(
            outline(&frames),
            [(Direction::In, "request", "tools/call"), (Direction::Out, "response", "tools/call")],
            "{name}"
        );
        assert!(frames.iter().all(|frame| frame.server.is_none()), "{name}");
        assert_eq!(frames[0].session.is_some(), !is_modern, "{name}");
    }
    host.close().await;
}

async fn a_question_has_the_number_of_its_call_over_every_binding() {
    let (host, recorder, bindings) = all_bindings().await;
    for Binding { name, is_modern, served, .. } in &bindings {
        recorder.take();
        let served = served.as_ref().inspect(|served| drop(served.take()));
        let run = Run::with_handler(Called("Ada"));
        host.call_tool(name, "ask", ()).within(&run).await.unwrap();
        let is_end = |frame: &Seen| frame.kind == "response" && frame.text.contains("\\\"Ada\\\"");
        let frames = recorder.call_with(is_end).await;
        use Direction::{In, Out};
        let expected = match is_modern {
            true => [(Out, "request", "tools/call"), (In, "response", "tools/call")].repeat(2),
            false => vec![
                (Out, "request", "tools/call"),
                (In, "request", "elicitation/create"),
                (Out, "response", "elicitation/create"),
                (In, "response", "tools/call"),
            ],
        };
        assert_eq!(outline(&frames), expected, "{name}");
        if *is_modern {
            assert!(frames[1].text.contains("input_required"), "{name}: {}", frames[1].text);
        }
        // A served server cannot know that a retry is the same call, but a question on its stream is.
        let Some(served) = served else { continue };
        let frames = served.call_with(is_end).await;
        let mirrored = |(direction, kind, method)| (if direction == In { Out } else { In }, kind, method);
        let expected: Vec<_> =
            expected.into_iter().skip(if *is_modern { 2 } else { 0 }).map(mirrored).collect();
        assert_eq!(outline(&frames), expected, "{name}");
    }
    host.close().await;
}

async fn a_cancelled_call_is_marked_over_every_binding() {
    let (host, recorder, bindings) = all_bindings().await;
    for Binding { name, served, .. } in &bindings {
        recorder.take();
        let served = served.as_ref().inspect(|served| drop(served.take()));
        let run = Run::new();
        let call = tokio::spawn(host.call_tool(name, "forever", ()).within(&run).into_future());
        let is_request = |frame: &Seen| frame.kind == "request" && frame.text.contains("forever");
        recorder.call_with(is_request).await;
        if let Some(served) = served {
            // It has arrived.
            served.call_with(is_request).await;
        }
        run.cancel();
        call.await.unwrap().unwrap_err();
        let frames = recorder.call_with(|frame| frame.kind == "cancelled").await;
        assert_eq!(
            outline(&frames),
            [(Direction::Out, "request", "tools/call"), (Direction::Out, "cancelled", "tools/call")],
            "{name}"
        );
        assert_eq!(frames[0].id, frames[1].id, "{name}");
        assert!(frames[1].has_elapsed, "{name}");
        if let Some(served) = served {
            let frames = served.call_with(|frame| frame.kind == "cancelled").await;
            assert_eq!(outline(&frames).last(), Some(&(Direction::In, "cancelled", "tools/call")), "{name}");
        }
    }
    host.close().await;
}

async fn calls_at_once_have_numbers_of_their_own() {
    let (host, recorder, bindings) = all_bindings().await;
    recorder.take();
    for Binding { name, .. } in &bindings {
        let calls: Vec<_> = (0..16)
            .map(|number| tokio::spawn(host.call_tool(name, "echo", json!({ "n": number })).into_future()))
            .collect();
        for call in calls {
            call.await.unwrap().unwrap();
        }
        let frames = recorder.take();
        assert_eq!(frames.len(), 32, "{name}: {frames:?}");
        for number in 0..16 {
            let request = frames.iter().find(|frame| {
                frame.kind == "request" && frame.text.contains(&format!(r#""arguments":{{"n":{number}}}"#))
            });
            let request = request.expect("the request is shown");
            let same: Vec<_> = frames.iter().filter(|frame| frame.call == request.call).collect();
            assert_eq!(same.len(), 2, "{name}: {same:?}");
            assert_eq!((same[1].kind, &same[1].id), ("response", &request.id), "{name}");
            assert!(same[1].text.contains(&format!(r#"{{\"n\":{number}}}"#)), "{name}: {}", same[1].text);
        }
    }
    host.close().await;
}

async fn a_watcher_that_comes_later_sees_what_is_sent_from_then_on() {
    let recorder = Recorder::new(false);
    let host = Host::builder()
        .with_server("toy", &Toy::full().server("toy"))
        .with_traffic_observer(Arc::<Recorder>::clone(&recorder))
        .build();
    host.connect("toy", in_process("toy")).await.unwrap();
    let run = Run::new();
    let early = tokio::spawn(host.call_tool("toy", "forever", ()).within(&run).into_future());
    host.call_tool("toy", "echo", ()).await.unwrap();
    assert!(recorder.take().is_empty(), "nobody watches");
    recorder.is_on.store(true, Ordering::Relaxed);
    run.cancel();
    early.await.unwrap().unwrap_err();
    assert!(recorder.take().is_empty(), "it was sent before");
    host.call_tool("toy", "echo", ()).await.unwrap();
    assert_eq!(recorder.take().len(), 2);
    recorder.is_on.store(false, Ordering::Relaxed);
    host.call_tool("toy", "echo", ()).await.unwrap();
    assert!(recorder.take().is_empty(), "nobody watches any more");
    host.close().await;
}

async fn a_line_that_is_no_message_is_shown() {
    let recorder = Recorder::new(true);
    let host = Host::builder().with_traffic_observer(Arc::<Recorder>::clone(&recorder)).build();
    let program = std::env::current_exe().unwrap();
    let script = "echo 'listening on stdio'; exec \"$PROGRAM\"";
    let chatty = Stdio::new("sh").args(["-c", script]).env("PROGRAM", program).env(toy::PART, "toy");
    host.connect("chatty", spec(chatty)).await.unwrap();
    let frames = recorder.take();
    let invalid: Vec<_> = frames.iter().filter(|frame| frame.kind == "invalid").collect();
    assert_eq!(invalid.len(), 1, "{frames:?}");
    assert_eq!((invalid[0].text.trim(), invalid[0].direction), ("listening on stdio", Direction::In));
    assert_eq!(invalid[0].server.as_deref(), Some("chatty"));
    host.close().await;
}

async fn a_server_that_cannot_be_reached_is_shown() {
    let recorder = Recorder::new(true);
    let host = Host::builder().with_traffic_observer(Arc::<Recorder>::clone(&recorder)).build();
    add_failing(&host, "missing", spec(Stdio::new("/no/such/program"))).await;
    add_failing(&host, "exits", sh("exit 3")).await;
    let frames = recorder.take();
    for server in ["missing", "exits"] {
        assert!(
            frames.iter().any(|frame| frame.kind == "failed" && frame.server.as_deref() == Some(server)),
            "{server}: {frames:?}"
        );
    }
    host.close().await;
}
