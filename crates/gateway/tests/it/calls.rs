//! Plain calls, progress, log messages, cancellation, prompts, resources and completion, in every cell.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard::client::Change;
use switchboard::protocol::{CompleteParams, Level, Meta, Raw, Reference, ResourceBody};
use switchboard::{CallError, json};
use switchboard_testkit::{trial_leaving_tasks, trials, wait_until};

use crate::cells::cells;
use crate::person::Person;

trials! {
    trial_leaving_tasks:
        plain_calls_pass,
        reserved_meta_is_stripped_on_both_hops,
        progress_reaches_the_client,
        log_messages_reach_the_client_by_its_own_level,
        cancelling_a_call_cancels_it_upstream,
        prompts_resources_and_completion_pass,
}

async fn plain_calls_pass() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let result = session.call_tool("up__echo", json!({ "text": "hello" })).await.unwrap();
        assert_eq!(result.text(), r#"{"text":"hello"}"#, "{cell:?}");
        let unknown = session.call_tool("up__nothing", json!({})).await.unwrap_err();
        assert!(
            matches!(&unknown, CallError::Remote(error) if error.message.contains("up__nothing")),
            "{unknown}"
        );
        assert_eq!(
            session.info().unwrap().instructions.as_deref(),
            Some("# up\n\nAsk before you act."),
            "{cell:?}"
        );
        bench.close().await;
    }
}

async fn reserved_meta_is_stripped_on_both_hops() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let meta = Meta::new().with("com.example/x", &1).unwrap();
        let meta = meta.with("io.modelcontextprotocol/evil", &1).unwrap();
        let seen = session.call_tool("up__meta", json!({})).meta(meta).await.unwrap();
        let seen = seen.text();
        let keys: Vec<&str> = seen.split(' ').collect();
        assert!(keys.contains(&"com.example/x"), "{cell:?}: {keys:?}");
        let own =
            Meta::PER_REQUEST.into_iter().chain([Meta::PROGRESS_TOKEN, "com.example/x"]).collect::<Vec<_>>();
        assert!(keys.iter().all(|key| own.contains(key)), "{cell:?}: {keys:?}");
        let raw = session.call_tool("up__echo", json!({})).raw().await.unwrap();
        assert!(!raw.as_str().contains(r#""name":"upstream""#), "{cell:?}: {}", raw.as_str());
        bench.close().await;
    }
}

async fn progress_reaches_the_client() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let last: Arc<Mutex<Option<f64>>> = Arc::default();
        let seen = Arc::clone(&last);
        session
            .call_tool("up__progress", json!({}))
            .on_progress(move |report| *seen.lock() = Some(report.progress))
            .await
            .unwrap();
        assert_eq!(*last.lock(), Some(2.0), "{cell:?}");
        bench.close().await;
    }
}

async fn log_messages_reach_the_client_by_its_own_level() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        for (level, expected) in [(Level::Warning, vec!["loud"]), (Level::Debug, vec!["quiet", "loud"])] {
            session.set_log_level(level).await.unwrap();
            let logs: Arc<Mutex<Vec<String>>> = Arc::default();
            let seen = Arc::clone(&logs);
            let mut changes = session.changes().unwrap();
            let following = tokio::spawn(async move {
                while let Some(change) = changes.next().await {
                    if let Change::Log(message) = change {
                        assert_eq!(message.logger.as_deref(), Some("upstream"));
                        seen.lock().push(message.data.decode().unwrap());
                    }
                }
            });
            session.call_tool("up__log", json!({})).await.unwrap();
            wait_until(format!("the messages of {cell:?}"), || logs.lock().len() >= expected.len()).await;
            assert_eq!(*logs.lock(), expected, "{cell:?} {level:?}");
            following.abort();
        }
        bench.close().await;
    }
}

async fn cancelling_a_call_cancels_it_upstream() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let call = tokio::spawn(session.call_tool("up__wait", json!({})).into_future());
        bench.counted("runs of wait", 1).await;
        call.abort();
        bench.counted("ended waits", 1).await;
        assert_eq!(bench.gateway.status().parked_calls, 0, "{cell:?}");
        bench.close().await;
    }
}

async fn prompts_resources_and_completion_pass() {
    for cell in cells() {
        let bench = cell.open().await;
        let session = bench.client(&Person::new("ada")).await;
        let prompt = session.get_prompt("up__greet", [("name", "Ada")]).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("Greet Ada."), "{cell:?}");
        for uri in ["note://one", "page://7"] {
            let read = session.read_resource(uri).await.unwrap();
            assert_eq!(read.contents[0].body, ResourceBody::Text(format!("text of {uri}")), "{cell:?}");
        }
        let unowned = session.read_resource("file:///etc/passwd").await;
        assert!(matches!(unowned, Err(CallError::Remote(_))), "{cell:?}: {unowned:?}");
        for reference in [Reference::prompt("up__greet"), Reference::resource("page://{id}")] {
            let completed = session.complete(CompleteParams::new(reference, "name", "A")).await.unwrap();
            assert_eq!(completed.completion.values, ["A-done"], "{cell:?}");
        }
        let raw =
            session.raw_call("resources/read", Raw::from(json!({ "uri": "note://one" }))).await.unwrap();
        let is_modern = cell.client == crate::cells::Side::Modern;
        assert_eq!(raw.as_str().contains("ttlMs"), is_modern, "{cell:?}: {}", raw.as_str());
        bench.close().await;
    }
}
