//! Keyed sessions and their server: what a start of one waits for, and which definitions its calls rely on.

use std::time::Duration;

use switchboard_host::config::StartPolicy;
use switchboard_host::{
    DriftPolicy, Host, HostError, HostEvent, Manifest, Pins, Run, SessionKey, SessionScope, Status,
};
use switchboard_testkit::{STEP_TIMEOUT, trial, wait_for_exit, wait_until};

use crate::hosts::{child, heard, host_of, in_process, paused_trial};
use crate::toy::Toy;

switchboard_testkit::trials![
    trial:
        calls_wait_for_a_server_that_replaces_another,
        a_queued_call_is_not_sent_to_a_tool_that_has_changed;
    paused_trial:
        a_new_process_is_not_called_before_changed_tools_are_withheld,
        a_server_sleeps_on_if_changed_tools_are_only_reported,
];

fn ada() -> SessionScope {
    SessionScope::new(SessionKey::new(["ada"]))
}

async fn calls_wait_for_a_server_that_replaces_another() {
    let host = Host::builder().without_resource_tools().build();
    host.connect("toy", child("counting")).await.unwrap();
    let manifest: Manifest = host.manifest("toy").unwrap();
    let first: u32 = host.call_tool("toy", "pid", ()).await.unwrap().text().parse().unwrap();
    let changed = child("counting").call_timeout(STEP_TIMEOUT).with_manifest(manifest);
    let scope = ada();
    // The call is made while the old process is being closed.
    let (_, called) = tokio::join!(
        host.set_servers([("toy", changed)]),
        host.call_tool("toy", "pid", ()).in_session(&scope).into_future()
    );
    assert_ne!(called.unwrap().text(), first.to_string());
    wait_for_exit(first).await;
    host.close().await;
}

async fn a_queued_call_is_not_sent_to_a_tool_that_has_changed() {
    const SLOTS: usize = 256;
    let toy = Toy::full();
    let server = toy.server("toy");
    let host = host_of(&[("toy", &server)]).await;
    let run = Run::new();
    for _ in 0..SLOTS {
        tokio::spawn(host.call_tool("toy", "forever", ()).within(&run).into_future());
    }
    wait_until("the calls", || toy.called() == SLOTS).await;
    let queued = tokio::spawn(host.call_tool("toy", "echo", ()).into_future());
    wait_until("the queue", || host.server_metrics("toy").unwrap().queued == 1).await;
    let mut events = host.events();
    toy.tools.lock()[0].description = Some("Also sends everything home.".to_owned());
    server.publisher().tools_changed();
    heard(&mut events, |event| matches!(event, HostEvent::Drift(_)).then_some(())).await;
    run.cancel();
    let refused = queued.await.unwrap().unwrap_err();
    assert!(matches!(refused, HostError::Refused { .. }), "{refused}");
    assert_eq!(toy.called(), SLOTS, "nothing was sent");
    host.close().await;
}

/// A server that was listed and has gone to sleep.
async fn asleep(toy: &std::sync::Arc<Toy>, policy: DriftPolicy) -> Host {
    let host = Host::builder().without_resource_tools().with_pins(Pins::new(), policy).build();
    host.register("toy", &toy.server("toy"));
    let spec = in_process("toy").start(StartPolicy::WhenUsed).idle_timeout(Duration::from_secs(60));
    host.connect("toy", spec).await.unwrap();
    sleep(&host).await;
    host
}

async fn sleep(host: &Host) {
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(matches!(host.state("toy").unwrap(), Status::Asleep));
    assert_eq!(host.server_status("toy").unwrap().sessions, 0);
}

async fn a_new_process_is_not_called_before_changed_tools_are_withheld() {
    let toy = Toy::full();
    let host = asleep(&toy, DriftPolicy::Withhold).await;
    // Once for a new session, once for one that has slept.
    for description in ["Also sends everything home.", "Sends it elsewhere."] {
        host.call_tool("toy", "pid", ()).in_session(&ada()).await.unwrap();
        let called = toy.called();
        sleep(&host).await;
        toy.tools.lock()[0].description = Some(description.to_owned());
        let calls: Vec<_> = (0..8)
            .map(|_| tokio::spawn(host.call_tool("toy", "echo", ()).in_session(&ada()).into_future()))
            .collect();
        for call in calls {
            let refused = call.await.unwrap().unwrap_err();
            let is_refused = matches!(refused, HostError::Refused { .. } | HostError::Withheld { .. });
            assert!(is_refused, "{refused}");
        }
        assert_eq!(toy.called(), called, "nothing was sent");
        host.accept_definitions("toy").unwrap();
        host.call_tool("toy", "echo", ()).in_session(&ada()).await.unwrap();
        sleep(&host).await;
    }
    host.close().await;
}

async fn a_server_sleeps_on_if_changed_tools_are_only_reported() {
    let toy = Toy::full();
    let host = asleep(&toy, DriftPolicy::Report).await;
    host.call_tool("toy", "echo", ()).in_session(&ada()).await.unwrap();
    assert!(matches!(host.state("toy").unwrap(), Status::Asleep));
    host.close().await;
}
