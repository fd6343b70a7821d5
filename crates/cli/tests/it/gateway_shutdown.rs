//! The end of a gateway: calls under way finish, new ones are refused, no process is left.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use switchboard_testkit::{processes_with_argument, unique_seconds, wait_until};

use crate::commands::SWITCHBOARD;
use crate::gateway_program::{ConfiguredGateway, LegacyClient};

/// A configuration with a server whose processes carry this argument.
fn config(marker: &str, drain: &str) -> String {
    let script = format!("{SWITCHBOARD} demo-server; :");
    format!(
        "drain = \"{drain}\"\n[listen]\nhttp = \"127.0.0.1:0\"\n[servers.one]\ncommand = \"sh\"\n\
         args = [\"-c\", {script:?}, {marker:?}]\n"
    )
}

/// Waits until no process carries this argument: supervisors end the servers of a gateway that did not wait for them.
fn wait_for_no_process(marker: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(wait_until("the end of all processes", || processes_with_argument(marker).is_empty()));
}

#[test]
fn calls_under_way_finish_and_new_ones_are_refused() {
    let marker = unique_seconds();
    let mut gateway = ConfiguredGateway::start(&config(&marker, "10m"));
    let client = LegacyClient::connect(gateway.address());
    let call = client.call_until_question("one__order_pizza");
    assert_eq!(gateway.get("/readyz").0, "200");

    gateway.running.terminate();
    gateway.running.err.wait_for("1 call(s) under way", 0);
    // Not a second signal to end: there is nothing to reload any more.
    kill_process(Pid::from_child(&gateway.running.child), Signal::HUP).unwrap();
    assert_eq!(gateway.get("/readyz"), ("503".into(), "shutting down\n".into()));
    assert_eq!(gateway.get("/healthz").0, "200");
    let refused = gateway.run(&["call", "one__add", "a=1", "b=2"]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("shutting down"), "{}", refused.err);

    // The answer to a question of the running call still arrives.
    let result = client.answer(call, json!({ "size": "large", "toppings": ["olives"] }));
    assert!(result.to_string().contains("large pizza with olives"), "{result}");
    assert_eq!(gateway.running.wait().code(), Some(0), "{}", gateway.running.err.all());
    wait_for_no_process(&marker);
}

#[test]
fn a_second_signal_ends_at_once() {
    let marker = unique_seconds();
    let mut gateway = ConfiguredGateway::start(&config(&marker, "10m"));
    let client = LegacyClient::connect(gateway.address());
    let _call = client.call_until_question("one__order_pizza");
    gateway.running.terminate();
    gateway.running.err.wait_for("another signal ends them", 0);
    gateway.running.terminate();
    assert_eq!(gateway.running.wait().code(), Some(128 + 15));
    wait_for_no_process(&marker);
}

#[test]
fn calls_that_take_too_long_are_cancelled() {
    let marker = unique_seconds();
    let mut gateway = ConfiguredGateway::start(&config(&marker, "1ms"));
    let client = LegacyClient::connect(gateway.address());
    let _call = client.call_until_question("one__order_pizza");
    kill_process(Pid::from_child(&gateway.running.child), Signal::TERM).unwrap();
    assert_eq!(gateway.running.wait().code(), Some(0));
    assert!(
        gateway.running.err.all().contains("1 call(s) did not end within"),
        "{}",
        gateway.running.err.all()
    );
    wait_for_no_process(&marker);
}
