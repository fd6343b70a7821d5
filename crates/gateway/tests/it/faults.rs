//! Faults: upstreams that fail or are killed, slow ones, and clients that give up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::{ServerSpec, StatusKind};
use switchboard::protocol::Raw;
use switchboard::server::{Caller, HttpListener, HttpServerOptions, HttpService};
use switchboard::transport::http::server::AuthRejection;
use switchboard::{CallError, Client, Http, InProcess, Stdio, json};
use switchboard_testkit::{STEP_TIMEOUT, trial_leaving_tasks, trials};
use tokio::task::JoinSet;

use crate::cells::{Cell, Reach, Side, cells};
use crate::person::Person;
use crate::raw_client::RawClient;
use crate::{task_upstream, upstream};

trials! {
    trial_leaving_tasks:
        a_dead_upstream_is_an_entry_in_the_status_and_no_error_of_a_list,
        a_killed_upstream_fails_its_calls_and_comes_back,
        a_server_that_never_answers_times_out_and_is_told,
        a_login_that_ends_is_named_by_every_request,
        silent_calls_are_kept_alive_by_progress,
        the_first_lists_wait_for_servers_that_are_starting,
        a_disabled_server_and_a_denied_tool_are_not_exposed,
}

async fn a_dead_upstream_is_an_entry_in_the_status_and_no_error_of_a_list() {
    let host = Gateway::host_builder().build();
    host.add("dead", Stdio::new("/nonexistent/program")).unwrap();
    host.connect("up", InProcess::new(&upstream::build(Side::Modern.revisions()))).await.unwrap();
    let gateway = Gateway::new(host, GatewayOptions::default());
    let session = Client::new().connect(InProcess::new(gateway.server())).await.unwrap();
    assert_eq!(session.list_tools().await.unwrap().len(), crate::upstream::TOOLS.len());
    assert_eq!(session.list_prompts().await.unwrap().len(), 2);
    let status = gateway.status();
    assert_eq!(status.servers[0].name, "dead");
    assert!(status.servers[0].error.is_some());
    assert_eq!(status.servers[1].status, StatusKind::Connected);
    gateway.host().close().await;
}

async fn a_killed_upstream_fails_its_calls_and_comes_back() {
    for client in [Side::Legacy, Side::Modern] {
        for upstream in [Side::Legacy, Side::Modern] {
            let cell = Cell { client, upstream, reach: Reach::Child };
            let bench = cell.open().await;
            let session = bench.client(&Person::new("ada")).await;
            let call = tokio::spawn(session.call_tool("up__wait", json!({})).into_future());
            bench.counted("runs of wait", 1).await;
            let pid = bench.host.child("up").unwrap().unwrap().pid().unwrap();
            std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
            let error = call.await.unwrap().unwrap_err();
            assert!(
                matches!(&error, CallError::Remote(error) if error.message.contains("may have run")),
                "{cell:?}: {error}"
            );
            // Lists come from memory meanwhile, and calls succeed when it is back.
            assert_eq!(session.list_tools().await.unwrap().len(), crate::upstream::TOOLS.len(), "{cell:?}");
            while session.call_tool("up__echo", json!({})).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            bench.close().await;
        }
    }
}

async fn a_server_that_never_answers_times_out_and_is_told() {
    // At once, because each waits for several timeouts, which leave room for a busy machine.
    let mut running = JoinSet::new();
    cells().into_iter().for_each(|cell| _ = running.spawn(time_out(cell)));
    while let Some(cell) = running.join_next().await {
        cell.unwrap();
    }
}

async fn time_out(cell: Cell) {
    // It also limits the quick calls, on a machine that may be busy.
    let timeout = Duration::from_secs(3);
    let bench = cell.open_with_spec(|spec| spec.call_timeout(timeout)).await;
    let patient = InProcess::new(&task_upstream::build(Side::Modern.revisions()));
    bench.host.connect("patient", patient).await.unwrap();
    let (ada, bob) = (bench.client(&Person::new("ada")).await, bench.client(&Person::new("bob")).await);
    let unaffected = tokio::spawn(bob.call_tool("patient__job", json!({})).into_future());
    for (number, what) in [(1, "call"), (2, "prompt"), (3, "resource")] {
        let started = Instant::now();
        let waiting = async {
            match what {
                "call" => ada.call_tool("up__wait", json!({})).await.map(drop),
                "prompt" => ada.get_prompt("up__greet", [("wait", "yes")]).await.map(drop),
                _ => ada.read_resource("page://wait").await.map(drop),
            }
        };
        let others = bob.call_tool("up__echo", json!({})).into_future();
        let (waited, echoed) = tokio::join!(waiting, others);
        assert_eq!(echoed.unwrap().text(), "{}", "{cell:?}");
        let CallError::Remote(error) = waited.unwrap_err() else { panic!("{cell:?}: {what}") };
        let data = error.data.as_ref().map(Raw::as_str);
        assert_eq!(data, Some(r#"{"reason":"upstream_timeout"}"#), "{cell:?} {what}: {}", error.message);
        let took = started.elapsed();
        assert!(took >= timeout && took < STEP_TIMEOUT, "{cell:?} {what}: {took:?}");
        // The server was told: its handler has ended.
        bench.counted("ended waits", number).await;
    }
    assert!(!unaffected.is_finished(), "{cell:?}: it has no such timeout");
    bench.host.call_tool("patient", "release", json!({})).await.unwrap();
    assert_eq!(unaffected.await.unwrap().unwrap().text(), "done", "{cell:?}");
    bench.close().await;
}

async fn a_login_that_ends_is_named_by_every_request() {
    for method in ["tools/call", "prompts/get", "resources/read", "completion/complete"] {
        let is_logged_in = Arc::new(AtomicBool::new(true));
        let allows = Arc::clone(&is_logged_in);
        let options = HttpServerOptions::default().with_authenticate(move |_: &http::request::Parts| {
            match allows.load(Ordering::Relaxed) {
                true => Ok(Some(Caller::new("gateway"))),
                false => Err(AuthRejection::no_token()),
            }
        });
        let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}/mcp", listener.address().unwrap());
        let server = upstream::build(Side::Modern.revisions());
        let serving = tokio::spawn(listener.serve(HttpService::new(&server, options)));
        let host = Gateway::host_builder().build();
        host.connect("up", Http::new(url)).await.unwrap();
        let gateway = Gateway::new(host, GatewayOptions::default());
        let client = RawClient::connect(gateway.server(), None).await;
        is_logged_in.store(false, Ordering::Relaxed);
        let members = match method {
            "tools/call" => r#""name":"up__echo""#,
            "prompts/get" => r#""name":"up__greet""#,
            "resources/read" => r#""uri":"note://one""#,
            _ => r#""ref":{"type":"ref/prompt","name":"up__greet"},"argument":{"name":"name","value":"a"}"#,
        };
        let error = client.request(method, members).await.unwrap_err();
        assert!(error.data.unwrap().as_str().contains("upstream_needs_login"), "{method}: {}", error.message);
        serving.abort();
        gateway.host().close().await;
    }
}

async fn silent_calls_are_kept_alive_by_progress() {
    for cell in cells() {
        let options = GatewayOptions::default().with_keep_alive(Duration::from_millis(60));
        let bench = cell.open_with(options).await;
        let session = bench.client(&Person::new("ada")).await;
        let reports: Arc<Mutex<Vec<f64>>> = Arc::default();
        let seen = Arc::clone(&reports);
        let call = session
            .call_tool("up__wait", json!({}))
            .on_progress(move |report| seen.lock().push(report.progress))
            .into_future();
        let call = tokio::spawn(call);
        switchboard_testkit::wait_until(format!("keep-alive in {cell:?}"), || reports.lock().len() >= 3)
            .await;
        call.abort();
        let reports = reports.lock().clone();
        assert!(
            reports.is_sorted() && reports.iter().all(|progress| *progress < 0.1),
            "{cell:?}: {reports:?}"
        );
        bench.counted("ended waits", 1).await;
        bench.close().await;
    }
}

async fn the_first_lists_wait_for_servers_that_are_starting() {
    let host = Gateway::host_builder().build();
    let program = std::env::current_exe().unwrap();
    let spec =
        ServerSpec::from(Stdio::new(program).env(upstream::PART, "legacy")).startup_timeout(STEP_TIMEOUT);
    host.add("up", spec).unwrap();
    let options = GatewayOptions::default().with_startup_wait(STEP_TIMEOUT);
    let gateway = Gateway::new(host, options);
    let session = Client::new().connect(InProcess::new(gateway.server())).await.unwrap();
    assert_eq!(session.list_tools().await.unwrap().len(), crate::upstream::TOOLS.len());
    assert_eq!(session.call_tool("up__echo", json!({})).await.unwrap().text(), "{}");
    gateway.host().close().await;
}

async fn a_disabled_server_and_a_denied_tool_are_not_exposed() {
    let host = Gateway::host_builder().build();
    let server = || InProcess::new(&upstream::build(Side::Modern.revisions()));
    host.connect("one", ServerSpec::from(server()).deny_tools(["echo"])).await.unwrap();
    host.connect("two", server()).await.unwrap();
    let gateway = Gateway::new(host, GatewayOptions::default());
    let session = Client::new().connect(InProcess::new(gateway.server())).await.unwrap();
    assert!(session.list_tools().await.unwrap().by_name("one__echo").is_none());
    let denied = session.call_tool("one__echo", json!({})).await.unwrap_err();
    let CallError::Remote(denied) = denied else { panic!("{denied}") };
    assert_eq!(denied.message, "Unknown tool: one__echo", "a denied tool answers as unknown");
    gateway.host().toggle("two", false).await.unwrap();
    assert!(session.call_tool("two__echo", json!({})).await.is_err());
    assert!(session.refresh_prompts().await.unwrap().iter().all(|prompt| prompt.name.starts_with("one__")));
    let read = session.raw_call("resources/read", Raw::from(json!({ "uri": "note://one" }))).await;
    assert!(read.is_ok(), "no clash any more");
    gateway.host().close().await;
}
