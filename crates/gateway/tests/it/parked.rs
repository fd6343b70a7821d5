//! Parked calls: a modern client answers a question of a running upstream call. What expires is cancelled, what is unknown is
//! refused, and nothing is started twice.

use std::time::Duration;

use switchboard::gateway::view::View;
use switchboard::gateway::{GatewayOptions, ParkedLimits};
use switchboard::protocol::{Raw, RpcError};
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::{Http, json};
use switchboard_testkit::{trial_leaving_tasks, trials};
use switchboard_transport::http::server::ForwardedHeader;
use tokio::task::JoinSet;

use crate::attack_client::{Answer, AttackClient};
use crate::cells::{Cell, Reach, Side};
use crate::raw_client::{RawClient, answer};

trials! {
    trial_leaving_tasks:
        a_question_is_answered_by_a_retry_with_its_state,
        an_unanswered_question_is_asked_again,
        an_expired_question_cancels_the_call_and_says_so,
        a_state_is_used_once_by_its_principal_for_its_request,
        a_state_is_of_no_use_where_the_name_of_its_tool_stands_for_another,
        the_number_of_parked_calls_is_bounded,
        an_anonymous_caller_leaves_room_for_the_others,
        dropping_the_gateway_cancels_parked_calls,
}

fn cells() -> Vec<Cell> {
    [Reach::InProcess, Reach::Child, Reach::Http]
        .map(|reach| Cell { client: Side::Modern, upstream: Side::Legacy, reach })
        .into()
}

fn reason(error: &RpcError) -> String {
    let data = error.data.clone().unwrap_or_else(Raw::empty_object);
    data.fields()
        .find(|(name, _)| *name == "reason")
        .and_then(|(_, value)| value.decode().ok())
        .unwrap_or_default()
}

async fn a_question_is_answered_by_a_retry_with_its_state() {
    for cell in cells() {
        let bench = cell.open().await;
        let client = RawClient::connect(bench.gateway.server(), Some("ada")).await;
        let (key, state) = client.question("up__ask_twice", json!({})).await.unwrap();
        assert_eq!(bench.gateway.status().parked_calls, 1, "{cell:?}");
        let parked = bench.gateway.parked_calls();
        assert_eq!((&*parked[0].server, parked[0].name.as_str()), ("up", "ask_twice"), "{cell:?}");
        assert!(parked[0].principal.is_some() && parked[0].expires_at > parked[0].parked_at, "{cell:?}");
        let (second, state) = client.question("up__ask_twice", answer(&key, &state, "red")).await.unwrap();
        assert_ne!(second, key, "another question has another key");
        let result = client.call("up__ask_twice", answer(&second, &state, "blue")).await.unwrap();
        assert!(result.as_str().contains("red blue"), "{cell:?}: {}", result.as_str());
        assert_eq!(bench.gateway.status().parked_calls, 0, "{cell:?}");
        assert_eq!(bench.counts().await.get("runs of ask_twice"), Some(&1), "{cell:?}");
        bench.close().await;
    }
}

async fn an_unanswered_question_is_asked_again() {
    for cell in cells() {
        let bench = cell.open().await;
        let client = RawClient::connect(bench.gateway.server(), None).await;
        let (key, state) = client.question("up__ask", json!({})).await.unwrap();
        let retry = json!({ "inputResponses": { "other": {} }, "requestState": state });
        let (again, state) = client.question("up__ask", retry).await.unwrap();
        assert_eq!(again, key, "{cell:?}");
        let result = client.call("up__ask", answer(&again, &state, "red")).await.unwrap();
        assert!(result.as_str().contains("red"), "{cell:?}");
        assert_eq!(bench.counts().await.get("runs of ask"), Some(&1), "{cell:?}");
        bench.close().await;
    }
}

async fn an_expired_question_cancels_the_call_and_says_so() {
    for cell in cells() {
        let limits = ParkedLimits::default().with_lifetime(Duration::from_millis(50));
        let bench = cell.open_with(GatewayOptions::default().with_parked(limits)).await;
        let client = RawClient::connect(bench.gateway.server(), None).await;
        let (key, state) = client.question("up__ask", json!({})).await.unwrap();
        bench.counted("ended asks", 1).await;
        assert_eq!(bench.gateway.status().parked_calls, 0, "{cell:?}");
        let error = client.call("up__ask", answer(&key, &state, "red")).await.unwrap_err();
        assert_eq!(reason(&error), "question_expired", "{cell:?}");
        assert!(error.message.contains("Call the tool again") && error.message.contains("may have run"));
        assert_eq!(bench.counts().await.get("runs of ask"), Some(&1), "it was not started again: {cell:?}");
        bench.close().await;
    }
}

async fn a_state_is_used_once_by_its_principal_for_its_request() {
    for cell in cells() {
        let bench = cell.open().await;
        let ada = RawClient::connect(bench.gateway.server(), Some("ada")).await;
        let bob = RawClient::connect(bench.gateway.server(), Some("bob")).await;
        let (key, state) = ada.question("up__ask", json!({})).await.unwrap();
        let retry = || answer(&key, &state, "red");
        assert!(bob.call("up__ask", retry()).await.is_err(), "{cell:?}: another principal");
        let mut other = retry();
        other["arguments"] = json!({ "x": 1 });
        assert!(ada.call("up__ask", other).await.is_err(), "{cell:?}: another request");
        let mut forged = retry();
        forged["requestState"] = json!(format!("{}A", &state[..state.len() - 1]));
        assert!(ada.call("up__ask", forged).await.is_err(), "{cell:?}: a forged state");
        assert_eq!(bench.gateway.status().parked_calls, 1, "{cell:?}: none of them ended it");
        assert!(ada.call("up__ask", retry()).await.is_ok(), "{cell:?}");
        assert!(ada.call("up__ask", retry()).await.is_err(), "{cell:?}: a second time");
        assert_eq!(bench.counts().await.get("runs of ask"), Some(&1), "{cell:?}");
        bench.close().await;
    }
}

async fn the_number_of_parked_calls_is_bounded() {
    // Over HTTP a legacy server names the call of each question, so that several can wait.
    let cell = Cell { client: Side::Modern, upstream: Side::Legacy, reach: Reach::Http };
    let limits = ParkedLimits::default().with_total(3).with_per_principal(2);
    let bench = cell.open_with(GatewayOptions::default().with_parked(limits)).await;
    let ada = RawClient::connect(bench.gateway.server(), Some("ada")).await;
    let bob = RawClient::connect(bench.gateway.server(), Some("bob")).await;
    let (key, state) = ada.question("up__ask", json!({})).await.unwrap();
    ada.question("up__ask", json!({})).await.unwrap();
    let error = ada.question("up__ask", json!({})).await.unwrap_err();
    assert_eq!(reason(&error), "too_many_questions", "her share is taken");
    bob.question("up__ask", json!({})).await.unwrap();
    let error = bob.question("up__ask", json!({})).await.unwrap_err();
    assert_eq!(reason(&error), "too_many_questions", "all is taken");
    assert_eq!(bench.gateway.status().parked_calls, 3);
    // The calls that found no room were cancelled; an answer makes room.
    bench.counted("ended asks", 2).await;
    assert!(ada.call("up__ask", answer(&key, &state, "red")).await.is_ok());
    bob.question("up__ask", json!({})).await.unwrap();
    bench.close().await;
}

async fn an_anonymous_caller_leaves_room_for_the_others() {
    let cell = Cell { client: Side::Modern, upstream: Side::Legacy, reach: Reach::Http };
    let limits = ParkedLimits::default().with_per_server(4);
    let bench = cell.open_with(GatewayOptions::default().with_parked(limits)).await;
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}/mcp", listener.address().unwrap());
    let options = HttpServerOptions::default()
        .with_trusted_proxies(["127.0.0.1".parse().unwrap()], ForwardedHeader::XForwardedFor);
    let mut serving = JoinSet::new();
    serving.spawn(listener.serve(HttpService::new(bench.gateway.server(), options)));
    let asked = async |address: &str| {
        let dial = Http::new(url.as_str()).header("x-forwarded-for", address);
        let client = AttackClient::connect(dial, Side::Modern).await;
        match client.request("tools/call", r#""name":"up__ask""#).await {
            Answer::Result(_) => "asked".to_owned(),
            Answer::Error(error) => reason(&error),
            other => panic!("{other}"),
        }
    };
    assert_eq!(asked("192.0.2.1").await, "asked");
    assert_eq!(asked("192.0.2.1").await, "asked");
    for _ in 0..5 {
        assert_eq!(asked("192.0.2.1").await, "too_many_questions", "half is enough for one");
    }
    assert_eq!(asked("192.0.2.2").await, "asked", "there is room for another");
    assert_eq!(bench.gateway.status().parked_calls, 3);
    bench.close().await;
}

async fn dropping_the_gateway_cancels_parked_calls() {
    for cell in cells() {
        let bench = cell.open().await;
        let client = RawClient::connect(bench.gateway.server(), None).await;
        client.question("up__ask", json!({})).await.unwrap();
        drop(client);
        let bench = bench.without_gateway();
        bench.counted("ended asks", 1).await;
        bench.close().await;
    }
}

const VIEWS: &str = r#"
[views.one]
servers = "up"
[views.one.server.up.tool.ask]
name = "choose"
[views.two]
servers = "up"
[views.two.server.up.tool.ask_twice]
name = "choose"
"#;

async fn a_state_is_of_no_use_where_the_name_of_its_tool_stands_for_another() {
    for upstream in [Side::Legacy, Side::Modern] {
        let cell = Cell { client: Side::Modern, upstream, reach: Reach::InProcess };
        let views = View::parse_all(VIEWS).unwrap();
        let bench = cell.open_with(GatewayOptions::default().with_views(views)).await;
        let view =
            async |name: &str| RawClient::connect(&bench.gateway.view(name).unwrap(), Some("ada")).await;
        let (one, two) = (view("one").await, view("two").await);
        let (key, state) = one.question("choose", json!({})).await.unwrap();
        let error = two.call("choose", answer(&key, &state, "red")).await.unwrap_err();
        assert_eq!(reason(&error), "question_expired", "{cell:?}");
        assert_eq!(bench.counts().await.get("runs of ask_twice"), None, "{cell:?}");
        let result = one.call("choose", answer(&key, &state, "red")).await.unwrap();
        assert!(result.as_str().contains("red"), "{cell:?}: {}", result.as_str());
        bench.close().await;
    }
}
