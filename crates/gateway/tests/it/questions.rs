//! Questions of upstreams, in every cell: forms, URLs, sampling and roots reach the client whose call they belong to.

use std::time::Duration;

use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard::protocol::{ElicitParams, ElicitResult, ErrorCode, Raw, ResourceBody, RpcError};
use switchboard::transport::link::BoxFuture;
use switchboard::{CallError, json};
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::{Cell, Reach, Side, cells};
use crate::person::Person;

trials! {
    trial_leaving_tasks:
        forms_urls_sampling_and_roots_are_answered_by_the_client,
        a_call_may_ask_several_times_and_is_started_once,
        prompts_and_resources_may_ask,
        two_clients_with_questions_do_not_cross,
        a_question_beside_a_call_of_another_caller_is_refused,
        a_question_that_waits_delays_no_timeout_of_another_call,
        a_question_after_a_cancelled_call_of_another_caller_is_refused,
        a_client_that_cannot_be_asked_is_not_asked,
}

async fn forms_urls_sampling_and_roots_are_answered_by_the_client() {
    for cell in cells() {
        let bench = cell.open().await;
        let ada = Person::new("ada");
        let session = bench.client(&ada).await;
        let call = async |tool: &str| session.call_tool(tool, json!({})).await.unwrap().text();
        assert_eq!(call("up__ask").await, "ada", "{cell:?}");
        assert_eq!(call("up__visit").await, "Accept", "{cell:?}");
        assert_eq!(call("up__sample").await, "ada says hello", "{cell:?}");
        assert_eq!(call("up__roots").await, "file:///home/ada", "{cell:?}");
        assert_eq!(*ada.asked.lock(), ["Which color?", "Log in."], "{cell:?}");
        assert_eq!(bench.gateway.status().parked_calls, 0, "{cell:?}");
        bench.close().await;
    }
}

async fn a_call_may_ask_several_times_and_is_started_once() {
    for cell in cells() {
        let bench = cell.open().await;
        let ada = Person::new("ada");
        let session = bench.client(&ada).await;
        let result = session.call_tool("up__ask_twice", json!({})).await.unwrap();
        assert_eq!(result.text(), "ada ada", "{cell:?}");
        assert_eq!(*ada.asked.lock(), ["Which first?", "Which second?"], "{cell:?}");
        let result = session.call_tool("up__ask_together", json!({})).await.unwrap();
        assert_eq!(result.text(), "ada ada", "{cell:?}");
        assert_eq!(ada.asked.lock().len(), 4, "{cell:?}");
        // A modern upstream runs its handler again for every round; a legacy one is called once.
        let counts = bench.counts().await;
        if cell.upstream == Side::Legacy {
            assert_eq!(counts.get("runs of ask_twice"), Some(&1), "{cell:?}");
            assert_eq!(counts.get("runs of ask_together"), Some(&1), "{cell:?}");
        } else {
            assert_eq!(counts.get("runs of ask_twice"), Some(&3), "{cell:?}");
            assert_eq!(counts.get("runs of ask_together"), Some(&2), "{cell:?}");
        }
        bench.close().await;
    }
}

async fn prompts_and_resources_may_ask() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let prompt = session.get_prompt("up__ask", [("a", "b")]).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("ada"), "{cell:?}");
        let read = session.read_resource("note://ask").await.unwrap();
        assert_eq!(read.contents[0].body, ResourceBody::Text("ada".into()), "{cell:?}");
        bench.close().await;
    }
}

/// Over a pipe a legacy server does not say which call it asks for: with several callers its question is refused.
fn names_its_call(cell: Cell) -> bool {
    cell.upstream == Side::Modern || cell.reach == Reach::Http
}

async fn two_clients_with_questions_do_not_cross() {
    for cell in cells() {
        let bench = cell.open().await;
        let people = [Person::new("ada"), Person::new("bob")];
        let mut sessions = Vec::new();
        for person in &people {
            sessions.push((person.name, bench.client(person).await));
        }
        for _ in 0..20 {
            let calls = sessions.iter().map(|(name, session): &(&'static str, _)| {
                let (name, call) = (*name, session.call_tool("up__ask_twice", json!({})).into_future());
                async move { (name, call.await) }
            });
            let mut running = tokio::task::JoinSet::new();
            calls.for_each(|call| _ = running.spawn(call));
            while let Some(done) = running.join_next().await {
                let (name, result) = done.unwrap();
                match result {
                    Ok(result) => assert_eq!(result.text(), format!("{name} {name}"), "{cell:?}"),
                    // Refused, typed; never answered by the other client.
                    Err(CallError::Remote(error)) if !names_its_call(cell) => {
                        assert_ambiguous(&error, cell);
                    }
                    Err(error) => panic!("{cell:?}: {error}"),
                }
            }
        }
        bench.close().await;
    }
}

/// The upstream passes on the error that it got in answer to its question.
fn assert_ambiguous(error: &RpcError, cell: Cell) {
    assert!(error.message.contains("ambiguous"), "{cell:?}: {}", error.message);
    assert!(error.message.contains("\nAsk on the response stream"), "{cell:?}: {}", error.message);
    let data = error.data.as_ref().map(Raw::as_str);
    assert_eq!(data, Some(r#"{"reason":"ambiguous_caller"}"#), "{cell:?}");
}

async fn a_question_beside_a_call_of_another_caller_is_refused() {
    for cell in cells() {
        let bench = cell.open().await;
        let people = [Person::new("ada"), Person::new("bob")];
        let (ada, bob) = (bench.client(&people[0]).await, bench.client(&people[1]).await);
        let waiting = tokio::spawn(ada.call_tool("up__wait", json!({})).into_future());
        bench.counted("runs of wait", 1).await;
        match bob.call_tool("up__ask", json!({})).await {
            Ok(result) => assert!(names_its_call(cell) && result.text() == "bob", "{cell:?}"),
            Err(CallError::Remote(error)) if !names_its_call(cell) => {
                assert_ambiguous(&error, cell);
                assert!(people[1].asked.lock().is_empty(), "{cell:?}");
            }
            Err(error) => panic!("{cell:?}: {error}"),
        }
        assert!(people[0].asked.lock().is_empty(), "{cell:?}");
        waiting.abort();
        bench.counted("ended waits", 1).await;
        bench.close().await;
    }
}

/// Answers no question.
struct Absent(tokio::sync::mpsc::UnboundedSender<()>);

impl ClientHandler for Absent {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async {
            self.0.send(()).unwrap();
            std::future::pending().await
        })
    }
}

async fn a_question_that_waits_delays_no_timeout_of_another_call() {
    for client in [Side::Legacy, Side::Modern] {
        let cell = Cell { client, upstream: Side::Legacy, reach: Reach::Http };
        // Enough for a question to arrive on a machine that is busy.
        let timeout = Duration::from_secs(3);
        let bench = cell.open_with_spec(|spec| spec.call_timeout(timeout)).await;
        let (sender, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let ada = bench.client_with(Absent(sender), "ada").await;
        let bob = bench.client(&Person::new("bob")).await;
        let mut asking = tokio::spawn(ada.call_tool("up__ask", json!({})).into_future());
        tokio::select! {
            question = asked.recv() => question.unwrap(),
            ended = &mut asking => panic!("{cell:?}: not asked: {ended:?}"),
        }
        let error = bob.call_tool("up__wait", json!({})).await.unwrap_err();
        let CallError::Remote(error) = error else { panic!("{cell:?}: {error}") };
        assert!(error.data.unwrap().as_str().contains("upstream_timeout"), "{cell:?}: {}", error.message);
        // Ada has all the time that she needs.
        assert!(tokio::time::timeout(timeout, &mut asking).await.is_err(), "{cell:?}");
        asking.abort();
        bench.close().await;
    }
}

async fn a_question_after_a_cancelled_call_of_another_caller_is_refused() {
    for reach in [Reach::Child, Reach::Http] {
        let cell = Cell { client: Side::Legacy, upstream: Side::Legacy, reach };
        let bench = cell.open().await;
        let people = [Person::new("ada"), Person::new("bob")];
        let (ada, bob) = (bench.client(&people[0]).await, bench.client(&people[1]).await);
        let waiting = tokio::spawn(ada.call_tool("up__wait", json!({})).into_future());
        bench.counted("runs of wait", 1).await;
        waiting.abort();
        // The gateway has passed the cancellation on; another server might go on with the call all the same.
        bench.counted("ended waits", 1).await;
        match bob.call_tool("up__ask", json!({})).await {
            Ok(result) => assert!(names_its_call(cell) && result.text() == "bob", "{cell:?}"),
            Err(CallError::Remote(error)) if !names_its_call(cell) => {
                assert_ambiguous(&error, cell);
                assert!(people[1].asked.lock().is_empty());
            }
            Err(error) => panic!("{cell:?}: {error}"),
        }
        // Whatever goes on is of her own.
        assert_eq!(ada.call_tool("up__ask", json!({})).await.unwrap().text(), "ada", "{cell:?}");
        bench.close().await;
    }
}

async fn a_client_that_cannot_be_asked_is_not_asked() {
    for cell in cells() {
        let bench = cell.open().await;
        let nobody = Person::silent();
        let session = bench.client(&nobody).await;
        let error = session.call_tool("up__ask", json!({})).await.unwrap_err();
        let CallError::Remote(error) = error else { panic!("{cell:?}: {error}") };
        if cell.client == Side::Modern {
            assert_eq!(error.code, ErrorCode::MISSING_CLIENT_CAPABILITY, "{cell:?}: {}", error.message);
        }
        // The upstream call is over: cancelled, or refused.
        let ended = if cell.upstream == Side::Legacy { "ended asks" } else { "runs of ask" };
        bench.counted(ended, 1).await;
        assert_eq!(bench.gateway.status().parked_calls, 0, "{cell:?}");
        assert!(nobody.asked.lock().is_empty(), "{cell:?}");
        bench.close().await;
    }
}
