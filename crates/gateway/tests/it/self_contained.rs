//! Questions between a modern client and a modern upstream pass through: nothing is kept, and any replica can continue.

use switchboard::client::HandlerCapabilities;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::protocol::{FromRaw, InputRequired, Raw, RpcError};
use switchboard::server::StateKeys;
use switchboard::{InProcess, json};
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::{Cell, Side, cells};
use crate::person::Person;
use crate::raw_client::{RawClient, answer};
use crate::upstream;

trials! {
    trial_leaving_tasks:
        keys_of_the_upstream_pass_and_nothing_is_parked,
        any_replica_with_the_keys_continues_a_call,
        a_relayed_state_is_bound_to_caller_and_request,
        a_parked_call_names_its_replica,
        capabilities_of_the_client_are_mirrored,
}

fn modern_cells() -> Vec<Cell> {
    cells().into_iter().filter(|cell| cell.client == Side::Modern && cell.upstream == Side::Modern).collect()
}

async fn keys_of_the_upstream_pass_and_nothing_is_parked() {
    for cell in modern_cells() {
        let bench = cell.open().await;
        let client = RawClient::connect(bench.gateway.server(), Some("ada")).await;
        let (key, state) = client.question("up__ask_twice", json!({})).await.unwrap();
        assert_eq!(key, "first", "{cell:?}");
        assert_eq!(bench.gateway.status().parked_calls, 0, "{cell:?}");
        let (key, state) = client.question("up__ask_twice", answer(&key, &state, "red")).await.unwrap();
        assert_eq!(key, "second", "{cell:?}");
        let result = client.call("up__ask_twice", answer(&key, &state, "blue")).await.unwrap();
        assert!(result.as_str().contains("red blue"), "{cell:?}: {}", result.as_str());
        let together = client.call("up__ask_together", json!({})).await.unwrap();
        let asked = InputRequired::from_raw(&together).unwrap().input_requests.unwrap();
        assert_eq!(asked.keys().collect::<Vec<_>>(), ["one", "two"], "{cell:?}");
        bench.close().await;
    }
}

fn shared_options(keys: &StateKeys) -> GatewayOptions {
    GatewayOptions::default().with_state_keys(keys.clone())
}

async fn any_replica_with_the_keys_continues_a_call() {
    let keys = StateKeys::random();
    let upstream = upstream::build(Side::Modern.revisions());
    let mut gateways = Vec::new();
    for _ in 0..2 {
        let host = Gateway::host_builder().build();
        host.connect("up", InProcess::new(&upstream)).await.unwrap();
        gateways.push(Gateway::new(host, shared_options(&keys)));
    }
    let one = RawClient::connect(gateways[0].server(), Some("ada")).await;
    let two = RawClient::connect(gateways[1].server(), Some("ada")).await;
    let (key, state) = one.question("up__ask_twice", json!({})).await.unwrap();
    let (key, state) = two.question("up__ask_twice", answer(&key, &state, "red")).await.unwrap();
    let result = one.call("up__ask_twice", answer(&key, &state, "blue")).await.unwrap();
    assert!(result.as_str().contains("red blue"), "{}", result.as_str());
    let (key, state) = one.question("up__ask", json!({})).await.unwrap();
    let host = Gateway::host_builder().build();
    host.connect("up", InProcess::new(&upstream)).await.unwrap();
    let foreign = Gateway::new(host, shared_options(&StateKeys::random()));
    let stranger = RawClient::connect(foreign.server(), Some("ada")).await;
    assert!(stranger.call("up__ask", answer(&key, &state, "red")).await.is_err(), "it has other keys");
    for gateway in gateways.iter().chain([&foreign]) {
        gateway.host().close().await;
    }
}

async fn a_relayed_state_is_bound_to_caller_and_request() {
    for cell in modern_cells() {
        let bench = cell.open().await;
        let ada = RawClient::connect(bench.gateway.server(), Some("ada")).await;
        let bob = RawClient::connect(bench.gateway.server(), Some("bob")).await;
        let (key, state) = ada.question("up__ask", json!({})).await.unwrap();
        let retry = || answer(&key, &state, "red");
        assert!(bob.call("up__ask", retry()).await.is_err(), "{cell:?}: another principal");
        let mut other = retry();
        other["arguments"] = json!({ "x": 1 });
        assert!(ada.call("up__ask", other).await.is_err(), "{cell:?}: another request");
        assert!(ada.call("up__ask_twice", retry()).await.is_err(), "{cell:?}: another tool");
        assert!(ada.call("up__ask", retry()).await.is_ok(), "{cell:?}");
        assert!(ada.call("up__ask", retry()).await.is_err(), "{cell:?}: a second time");
        bench.close().await;
    }
}

fn reason(error: &RpcError) -> String {
    let data = error.data.clone().unwrap_or_else(Raw::empty_object);
    let reason = data.fields().find(|(name, _)| *name == "reason");
    reason.and_then(|(_, value)| value.decode().ok()).unwrap_or_default()
}

async fn a_parked_call_names_its_replica() {
    let keys = StateKeys::random();
    let upstream = upstream::build(Side::Legacy.revisions());
    let mut gateways = Vec::new();
    for name in ["one", "two"] {
        let host = Gateway::host_builder().build();
        host.connect("up", InProcess::new(&upstream)).await.unwrap();
        gateways.push(Gateway::new(host, shared_options(&keys).with_replica(name)));
    }
    let one = RawClient::connect(gateways[0].server(), Some("ada")).await;
    let two = RawClient::connect(gateways[1].server(), Some("ada")).await;
    let (key, state) = one.question("up__ask", json!({})).await.unwrap();
    let error = two.call("up__ask", answer(&key, &state, "red")).await.unwrap_err();
    assert_eq!(reason(&error), "question_elsewhere", "{}", error.message);
    assert_eq!(gateways[0].status().parked_calls, 1, "it still waits");
    let result = one.call("up__ask", answer(&key, &state, "red")).await.unwrap();
    assert!(result.as_str().contains("red"));
    for gateway in &gateways {
        gateway.host().close().await;
    }
}

async fn capabilities_of_the_client_are_mirrored() {
    for cell in cells().into_iter().filter(|cell| cell.upstream == Side::Modern) {
        let bench = cell.open().await;
        let seen = async |person| {
            let session = bench.client(&person).await;
            let text = session.call_tool("up__capabilities", json!({})).await.unwrap().text();
            Raw::parse(text).unwrap().decode::<switchboard::protocol::ClientCapabilities>().unwrap()
        };
        let all = seen(Person::new("ada")).await;
        assert!(all.declares("elicitation.form") && all.declares("elicitation.url"), "{cell:?}: {all:?}");
        assert!(all.sampling.is_some() && !all.declares("sampling.tools"), "{cell:?}: {all:?}");
        let none = seen(Person::silent()).await;
        assert!(none.elicitation.is_none() && none.sampling.is_none(), "{cell:?}: {none:?}");
        assert_eq!(Person::silent().capabilities, HandlerCapabilities::none());
        assert!(all.extensions.is_none() && none.extensions.is_none(), "{cell:?}: no tasks");
        bench.close().await;
    }
}
