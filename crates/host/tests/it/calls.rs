//! Calls: cancelled together, spilled, replayed or not, and asked back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_host::{
    CallDecision, CallPolicy, Host, HostError, ProposedCall, ReplayPolicy, Run, SpillPolicy, Status,
    TraceContext, TraceHeaders, Validation,
};
use switchboard_protocol::{ElicitAction, ElicitParams, ElicitResult, OrderedMap, Raw, Root, Tool};
use switchboard_session::RevisionPolicy;
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_testkit::{STEP_TIMEOUT, trial};

use crate::hosts::{child, host_of, host_with, reopened, until};
use crate::toy::Toy;

switchboard_testkit::trials![trial:
    cancelling_a_run_ends_its_calls_on_every_server,
    cancelling_a_run_ends_calls_that_were_not_sent_yet,
    what_changed_while_it_was_being_permitted_is_not_called,
    dropping_a_call_cancels_it,
    a_large_result_goes_to_a_private_file,
    a_call_whose_outcome_is_unknown_is_not_made_again,
    a_call_of_a_tool_that_says_it_is_idempotent_is_made_again_where_the_policy_says_so,
    arguments_that_do_not_fit_are_not_sent,
    a_structured_result_that_does_not_fit_is_told,
    a_server_that_asks_is_answered_by_the_caller,
    a_server_that_asks_a_caller_without_answers_is_refused,
    callers_that_are_asked_at_once_each_answer_their_own,
    servers_are_told_the_roots_and_their_changes,
    calls_beyond_those_that_run_wait_and_are_made,
    the_trace_travels_in_meta,
    calls_are_counted,
    a_call_waits_for_a_server_that_is_starting,
    tools_that_vanish_during_a_call_do_not_end_it,
];

async fn cancelling_a_run_ends_its_calls_on_every_server() {
    let host = Host::builder().with_server("inside", &Toy::full().server("inside")).build();
    host.set_servers([
        ("stdio", child("toy")),
        ("legacy", child("legacy")),
        ("inside", crate::hosts::in_process("inside")),
    ])
    .await;
    let (run, other) = (Run::new(), Run::new());
    let call = |server: &'static str, run: &Run| {
        let call = host.call_tool(server, "forever", ()).within(run);
        tokio::spawn(async move { call.await })
    };
    let mut calls: Vec<_> = ["stdio", "legacy", "inside"]
        .iter()
        .flat_map(|server| [call(server, &run), call(server, &run)])
        .collect();
    let kept = call("stdio", &other);
    tokio::task::yield_now().await;
    let began = Instant::now();
    run.cancel();
    for call in calls.drain(..) {
        let ended = call.await.unwrap().unwrap_err();
        assert!(matches!(ended, HostError::Cancelled { .. }), "{ended}");
    }
    assert!(began.elapsed() < STEP_TIMEOUT, "{:?}", began.elapsed());
    assert!(!kept.is_finished(), "another run is not touched");
    let late = host.call_tool("stdio", "echo", ()).within(&run).await.unwrap_err();
    assert!(!late.outcome_unknown(), "nothing was sent: {late}");
    host.call_tool("stdio", "echo", ()).within(&other).await.unwrap();
    kept.abort();
    host.close().await;
}

/// Never decides.
struct Undecided;

impl CallPolicy for Undecided {
    fn decide<'a>(&'a self, _: &'a ProposedCall<'a>) -> BoxFuture<'a, CallDecision> {
        Box::pin(std::future::pending())
    }
}

async fn cancelling_a_run_ends_calls_that_were_not_sent_yet() {
    let toy = Toy::full();
    let builder = Host::builder().with_call_policy(Arc::new(Undecided));
    let host = host_with(builder, &[("toy", &toy.server("toy"))]).await;
    let starting = host.clone();
    let connecting =
        tokio::spawn(async move { starting.connect("hangs", crate::hosts::sh("cat >/dev/null")).await });
    until(&host, "toy", |_| host.servers().len() == 2).await;
    let run = Run::new();
    let calls = [("toy", "echo"), ("hangs", "anything")].map(|(server, tool)| {
        let call = host.call_tool(server, tool, ()).within(&run);
        tokio::spawn(async move { call.await })
    });
    tokio::task::yield_now().await;
    run.cancel();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert!(matches!(error, HostError::Cancelled { sent: false, .. }), "{error}");
    }
    assert_eq!(toy.called(), 0);
    host.close().await;
    connecting.await.unwrap().unwrap_err();
}

/// Permits when it is told to.
struct Later(tokio::sync::Notify);

impl CallPolicy for Later {
    fn decide<'a>(&'a self, _: &'a ProposedCall<'a>) -> BoxFuture<'a, CallDecision> {
        Box::pin(async {
            self.0.notified().await;
            CallDecision::Allow
        })
    }
}

async fn what_changed_while_it_was_being_permitted_is_not_called() {
    let toy = Toy::full();
    let server = toy.server("toy");
    let permit = Arc::new(Later(tokio::sync::Notify::new()));
    let host =
        host_with(Host::builder().with_call_policy(Arc::clone(&permit) as _), &[("toy", &server)]).await;
    let call = |host: &Host| {
        let call = host.call_tool("toy", "echo", ());
        tokio::spawn(async move { call.await })
    };
    // Another definition.
    let calling = call(&host);
    let mut events = host.events();
    toy.tools.lock()[0].description = Some("Deletes everything.".to_owned());
    server.publisher().tools_changed();
    crate::hosts::heard(&mut events, |event| {
        matches!(event, switchboard_host::HostEvent::Drift(_)).then_some(())
    })
    .await;
    permit.0.notify_one();
    let error = calling.await.unwrap().unwrap_err();
    assert!(matches!(error, HostError::Refused { .. }), "{error}");
    // Denied meanwhile.
    let calling = call(&host);
    tokio::task::yield_now().await;
    host.set_denied_tools("toy", ["echo"]);
    permit.0.notify_one();
    let error = calling.await.unwrap().unwrap_err();
    assert!(matches!(error, HostError::Withheld { .. }), "{error}");
    assert_eq!(toy.called(), 0);
    host.set_denied_tools::<&str>("toy", []);
    permit.0.notify_one();
    call(&host).await.unwrap().unwrap();
    host.close().await;
}

async fn dropping_a_call_cancels_it() {
    let host = host_of(&[("toy", &Toy::full().server("toy"))]).await;
    let within = tokio::time::timeout(Duration::from_millis(20), host.call_tool("toy", "forever", ()));
    assert!(within.await.is_err());
    host.call_tool("toy", "echo", ()).await.unwrap();
    host.close().await;
}

async fn a_large_result_goes_to_a_private_file() {
    let directory = tempfile::tempdir().unwrap();
    let builder = Host::builder().with_spill(SpillPolicy::new(directory.path()));
    let host = host_with(builder, &[("toy", &Toy::full().server("toy"))]).await;
    let shown = host.execute("mcp__toy__large", ()).await.text();
    assert!(shown.len() < 3_000, "{}", shown.len());
    let file = std::fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap();
    assert!(shown.contains(file.path().to_str().unwrap()), "{shown}");
    assert_eq!(file.metadata().unwrap().len(), 200_000);
    // Programs get the result as it is.
    assert_eq!(host.call_tool("toy", "large", ()).await.unwrap().text().len(), 200_000);
    host.close().await;
}

async fn a_call_whose_outcome_is_unknown_is_not_made_again() {
    let host = host_with(Host::builder().with_replay(ReplayPolicy::Idempotent), &[]).await;
    host.connect("toy", child("toy")).await.unwrap();
    // It does not say that it may be repeated.
    let error = host.call_tool("toy", "die", ()).await.unwrap_err();
    assert!(error.outcome_unknown(), "{error}");
    assert_eq!(host.server_metrics("toy").unwrap().failures, 1);
    reopened(&host, "toy", 1).await;
    assert_eq!(host.server_metrics("toy").unwrap().calls, 1, "once");
    host.close().await;
}

async fn a_call_of_a_tool_that_says_it_is_idempotent_is_made_again_where_the_policy_says_so() {
    for (replay, succeeds) in [(ReplayPolicy::Never, false), (ReplayPolicy::Idempotent, true)] {
        let directory = tempfile::tempdir().unwrap();
        let marker = directory.path().join("died");
        let host = host_with(Host::builder().with_replay(replay), &[]).await;
        let spec = crate::hosts::child_with("dies-once", &[("MARKER", marker.to_str().unwrap())]);
        host.connect("toy", spec).await.unwrap();
        let outcome = host.call_tool("toy", "once", ()).await;
        match outcome {
            Ok(said) => assert!(succeeds && said.text() == "alive"),
            Err(error) => assert!(!succeeds && error.outcome_unknown(), "{error}"),
        }
        host.close().await;
    }
}

async fn arguments_that_do_not_fit_are_not_sent() {
    let toy = Toy::full();
    let host = host_of(&[("toy", &toy.server("toy"))]).await;
    let error = host.call_tool("toy", "picky", json!({"path": 7})).await.unwrap_err();
    let HostError::Arguments { problem, repair, .. } = &error else { panic!("{error}") };
    assert!(problem.contains("`path`") && problem.contains("string"), "{problem}");
    assert!(repair.contains(r#"{"path":"/tmp/a"}"#) && repair.contains("The file."), "{repair}");
    assert_eq!(toy.called(), 0);
    host.close().await;
    // The server's own refusal carries the same.
    let host =
        host_with(Host::builder().with_validation(Validation::Off), &[("toy", &toy.server("toy"))]).await;
    let error = host.call_tool("toy", "picky", json!({"path": 7})).await.unwrap_err();
    assert!(error.next_step().contains(r#"{"path":"/tmp/a"}"#), "{}", error.next_step());
    assert_eq!(toy.called(), 1);
    host.close().await;
}

async fn a_structured_result_that_does_not_fit_is_told() {
    let toy = Toy::new(&[]);
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    *toy.tools.lock() = vec![Tool::new("structured", json!({"type": "object"})).with_output_schema(schema)];
    let host = host_of(&[("toy", &toy.server("toy"))]).await;
    host.call_tool("toy", "structured", json!({"n": 1})).await.unwrap();
    let error = host.call_tool("toy", "structured", json!({"n": "one"})).await.unwrap_err();
    assert!(matches!(error, HostError::Output { .. }), "{error}");
    assert!(error.to_string().contains("`n` must be"), "{error}");
    host.close().await;
}

/// Answers with its name.
pub(crate) struct Called(pub(crate) &'static str);

impl ClientHandler for Called {
    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async {
            let content: OrderedMap<Raw> =
                [("name".to_owned(), Raw::encode(self.0).unwrap())].into_iter().collect();
            Ok(ElicitResult::new(ElicitAction::Accept).with_content(content))
        })
    }
}

async fn a_server_that_asks_is_answered_by_the_caller() {
    for offer in [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
        let builder = Host::builder().with_abilities(HandlerCapabilities::none().with_forms());
        let host = host_with(builder, &[("toy", &Toy::full().served("toy", offer))]).await;
        for name in ["Ada", "Bob"] {
            let run = Run::with_handler(Called(name));
            let said = host.call_tool("toy", "ask", ()).within(&run).await.unwrap();
            assert!(said.text().contains(name), "{}", said.text());
        }
        host.close().await;
    }
}

async fn a_server_that_asks_a_caller_without_answers_is_refused() {
    for offer in [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
        let builder = Host::builder().with_abilities(HandlerCapabilities::none().with_forms());
        let host = host_with(builder, &[("toy", &Toy::full().served("toy", offer))]).await;
        let refused = host.execute("mcp__toy__ask", ()).await;
        assert!(
            refused.is_error && refused.text().contains("does not answer requests"),
            "{}",
            refused.text()
        );
        // Another's run does not answer for it.
        let run = Run::with_handler(Called("Eve"));
        let waiting = host.call_tool("toy", "forever", ()).within(&run);
        let asking = async {
            let error = host.call_tool("toy", "ask", ()).await.unwrap_err().to_string();
            assert!(error.contains("does not answer requests") || error.contains("ambiguous"), "{error}");
        };
        tokio::select! {
            biased;
            _ = waiting => panic!("it takes for ever"),
            () = asking => {}
        }
        host.close().await;
    }
}

async fn callers_that_are_asked_at_once_each_answer_their_own() {
    let builder = Host::builder().with_abilities(HandlerCapabilities::none().with_forms());
    let host = host_with(builder, &[("toy", &Toy::full().served("toy", RevisionPolicy::ModernOnly))]).await;
    let names = ["Ada", "Bob", "Eve", "Mallory"];
    let calls = names.map(|name| {
        let call = host.call_tool("toy", "ask", ()).within(&Run::with_handler(Called(name)));
        tokio::spawn(async move { call.await })
    });
    for (name, call) in names.iter().zip(calls) {
        let said = call.await.unwrap().unwrap().text();
        assert!(said.contains(name), "{name}: {said}");
    }
    host.close().await;
}

async fn servers_are_told_the_roots_and_their_changes() {
    for offer in [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
        let roots = |name: &str| vec![Root::new(format!("file:///{name}"))];
        let builder = Host::builder().with_roots(roots("first"));
        let host = host_with(builder, &[("toy", &Toy::new(&["roots"]).served("toy", offer))]).await;
        assert_eq!(host.call_tool("toy", "roots", ()).await.unwrap().text(), "file:///first");
        host.set_roots(roots("second"));
        assert_eq!(host.call_tool("toy", "roots", ()).await.unwrap().text(), "file:///second");
        host.reconnect("toy").await.unwrap();
        assert_eq!(host.call_tool("toy", "roots", ()).await.unwrap().text(), "file:///second");
        host.close().await;
    }
}

async fn calls_beyond_those_that_run_wait_and_are_made() {
    let host = host_of(&[("toy", &Toy::full().server("toy"))]).await;
    let run = Run::new();
    let pending: Vec<_> = (0..256)
        .map(|_| {
            let call = host.call_tool("toy", "forever", ()).within(&run);
            tokio::spawn(async move { call.await })
        })
        .collect();
    tokio::task::yield_now().await;
    let waiting = host.call_tool("toy", "echo", ());
    let mut waiting = tokio::spawn(async move { waiting.await });
    assert!(
        tokio::time::timeout(Duration::from_millis(50), &mut waiting).await.is_err(),
        "it has no turn yet"
    );
    run.cancel();
    waiting.await.unwrap().unwrap();
    for call in pending {
        call.await.unwrap().unwrap_err();
    }
    host.close().await;
}

struct Trace;

impl TraceContext for Trace {
    fn current(&self) -> Option<TraceHeaders> {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned();
        Some(TraceHeaders { parent, state: Some("vendor=1".to_owned()) })
    }
}

async fn the_trace_travels_in_meta() {
    let toy = Toy::full();
    let builder = Host::builder().with_trace_context(Arc::new(Trace));
    let host = host_with(builder, &[("toy", &toy.server("toy"))]).await;
    host.call_tool("toy", "echo", ()).await.unwrap();
    let meta = toy.last_meta.lock().clone().unwrap();
    assert!(
        meta.contains(r#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01""#),
        "{meta}"
    );
    assert!(meta.contains(r#""tracestate":"vendor=1""#), "{meta}");
    host.close().await;
}

async fn calls_are_counted() {
    let host = host_of(&[("a", &Toy::full().server("a")), ("b", &Toy::full().server("b"))]).await;
    host.call_tool("a", "echo", ()).await.unwrap();
    host.call_tool("a", "fail", ()).await.unwrap();
    host.call_tool("b", "boom", ()).await.unwrap_err();
    let a = host.server_metrics("a").unwrap();
    assert_eq!((a.calls, a.tool_errors, a.failures), (2, 1, 0));
    let all = host.metrics();
    assert_eq!((all.calls, all.tool_errors, all.failures), (3, 1, 1));
    assert!(all.latency(0.99).is_some_and(|latency| latency < STEP_TIMEOUT));
    assert!(serde_json::to_value(&all).unwrap()["toolErrors"] == 1);
    host.close().await;
}

async fn a_call_waits_for_a_server_that_is_starting() {
    let host = Host::builder().build();
    let connecting = host.connect("toy", child("toy"));
    let calling = async {
        until(&host, "toy", |status| matches!(status, Status::Starting { .. })).await;
        host.call_tool("toy", "echo", json!({"early": true})).await.unwrap()
    };
    let (connected, said) = tokio::join!(connecting, calling);
    connected.unwrap();
    assert_eq!(said.text(), r#"{"early":true}"#);
    host.close().await;
}

async fn tools_that_vanish_during_a_call_do_not_end_it() {
    let toy = Toy::full();
    let server = toy.server("toy");
    let host = host_of(&[("toy", &server)]).await;
    let run = Run::new();
    let handle = host.get("mcp__toy__echo").unwrap();
    let calling = tokio::spawn({
        let call = host.call_tool("toy", "forever", ()).within(&run);
        async move { call.await }
    });
    tokio::task::yield_now().await;
    let mut events = host.events();
    toy.tools.lock().clear();
    server.publisher().tools_changed();
    crate::hosts::heard(&mut events, |event| {
        matches!(event, switchboard_host::HostEvent::Tools(_)).then_some(())
    })
    .await;
    assert!(host.find_tool("forever").is_none());
    assert!(matches!(handle.call(()).await, Err(HostError::UnknownTool { .. })), "but no new one is made");
    assert!(!calling.is_finished());
    run.cancel();
    calling.await.unwrap().unwrap_err();
    host.close().await;
}
