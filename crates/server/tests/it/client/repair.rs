//! Arguments that do not fit, what whoever wrote them is told, and the loop that tries again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard_design::{ArgumentErrors, ErrorPolicy};
use switchboard_server::client::{Arguments, call_with_repair, get_prompt_with_repair};
use switchboard_server::{Error, ServiceBuilder};

use crate::client::bench::{self, Bench};
use crate::client::open::{self, ERAS, callers};

const SHOUT: &str = "\nOperation: tools/call:shout_loud\n\
     Schema: {\"additionalProperties\":false,\"properties\":{\"fail_after\":{\"description\":\"After how many it fails.\",\
     \"minimum\":0,\"type\":\"integer\"},\"times\":{\"description\":\"How often.\",\"maximum\":5000,\"minimum\":1,\
     \"type\":\"integer\"}},\"required\":[\"times\"],\"type\":\"object\"}\n\
     Error: Invalid arguments: /times: is 0 (expected at least 1)\n\
     Redo the operation now with valid parameters.\n\
     Use only valid schema fields and ensure required fields and types/enums are valid.\n\
     Example params: {\"times\":3}";

const REVIEW: &str = "\nOperation: prompts/get:review\n\
     Schema: {\"additionalProperties\":false,\"properties\":{\"code\":{\"description\":\"What to review.\",\
     \"type\":\"string\"},\"depth\":{\"type\":\"string\"},\"options\":{\"type\":\"string\"}},\
     \"required\":[\"code\"],\"type\":\"object\"}\n\
     Error: Invalid arguments: /code: missing required parameter (expected text)\n\
     Redo the operation now with valid parameters.\n\
     Use only valid schema fields and ensure required fields and types/enums are valid.\n\
     Example params: {\"code\":\"text\"}";

type Set = fn(ServiceBuilder) -> ServiceBuilder;

/// However the server tells of arguments that do not fit.
const CARRIERS: [Set; 4] = [
    |builder| builder,
    |builder| builder.argument_errors(ArgumentErrors::Result),
    |builder| builder.argument_errors(ArgumentErrors::Code),
    |builder| builder.error_policy(ErrorPolicy::Codes),
];

#[tokio::test]
async fn the_repair_prompt_is_the_same_however_the_server_tells_of_it() {
    for carrier in CARRIERS {
        for caller in callers(carrier).await {
            let args = Arguments::new().with("times", &0);
            let error = caller.tool::<u32, Error>(bench::SHOUT, args, None, None).await.unwrap_err();
            assert!(error.is_retryable(), "{error:?}");
            let repair = error.repair().unwrap();
            assert_eq!(repair.prompt(), SHOUT);
            assert_eq!(repair.prior, Some(json!({"times": 0})));
            assert_eq!(repair.issues[0].pointer, "/times");

            let error =
                caller.prompt::<Error>(0, Arguments::new().with("depth", &1), None).await.unwrap_err();
            let repair = error.repair().unwrap();
            assert_eq!(repair.prompt(), REVIEW);
            assert_eq!(repair.prior, Some(json!({"depth": 1})));
        }
    }
}

#[tokio::test]
async fn a_services_own_failure_is_no_matter_of_arguments() {
    for carrier in CARRIERS {
        for caller in callers(carrier).await {
            let args = Arguments::new().with("kind", "own");
            let error = caller.tool::<(), Error>(bench::FAIL, args, None, None).await.unwrap_err();
            let Error::Tool(own) = &error else { panic!("{error:?}") };
            assert_eq!((own.code.as_str(), own.message.as_str()), ("not_found", "No such kind"));
            assert_eq!(own.data, Some(json!({"kind": "own"})));
            assert!(!error.is_retryable() && error.repair().is_none());
            let args = Arguments::new().with("kind", "rpc");
            let error = caller.tool::<(), Error>(bench::FAIL, args, None, None).await.unwrap_err();
            assert!(matches!(&error, Error::Rpc(error) if error.code.0 == -7), "{error:?}");
        }
    }
}

#[tokio::test]
async fn the_loop_ends_with_the_first_arguments_that_fit() {
    for caller in callers(|builder| builder).await {
        let prompts = AtomicUsize::new(0);
        let result = caller
            .with_repair(3, "shout_loud", json!({"times": "many"}), |repair| {
                let number = prompts.fetch_add(1, Ordering::SeqCst);
                assert!(repair.prompt().starts_with("\nOperation: tools/call:shout_loud\nSchema: "));
                async move { Ok(if number == 0 { json!(["no object"]) } else { json!({"times": 2}) }) }
            })
            .await
            .unwrap();
        assert_eq!(result.text(), "2");
        assert_eq!(prompts.load(Ordering::SeqCst), 2);
        let typed: u32 = caller
            .with_repair_as(1, "shout_loud", json!({}), async |repair| Ok(repair.example))
            .await
            .unwrap();
        assert_eq!(typed, 3);
        let prompt =
            caller.prompt_with_repair(1, "review", json!({}), async |repair| Ok(repair.example)).await;
        assert_eq!(prompt.unwrap().messages.len(), 1);
    }
}

#[tokio::test]
async fn the_loop_stops_at_its_limit_with_the_last_error() {
    for most in [0, 1, 4] {
        for offer in ERAS {
            let bench = Arc::new(Bench::default());
            let caller = open::caller(Arc::clone(&bench) as _, |builder| builder, offer).await;
            let asked = AtomicUsize::new(0);
            let error = caller
                .with_repair(most, "fail", json!({"kind": "invalid"}), |_| {
                    asked.fetch_add(1, Ordering::SeqCst);
                    async { Ok(json!({"kind": "invalid"})) }
                })
                .await
                .unwrap_err();
            assert!(error.is_retryable() && error.repair().is_some(), "{error:?}");
            assert_eq!(asked.load(Ordering::SeqCst), most);
            assert_eq!(bench.calls.load(Ordering::SeqCst), most + 1);
        }
    }
}

#[tokio::test]
async fn the_loop_is_left_at_once_for_anything_but_arguments() {
    async fn never(_: switchboard_design::Repair) -> Result<Value, Error> {
        panic!("there is nothing to repair")
    }
    for caller in callers(|builder| builder).await {
        let error = caller.with_repair(3, "fail", json!({"kind": "own"}), never).await.unwrap_err();
        assert!(matches!(error, Error::Tool(_)), "{error:?}");
        let error = caller.with_repair(3, "nothing", json!({}), never).await.unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }), "{error:?}");
        let gives_up = caller
            .with_repair(3, "fail", json!({}), async |_| {
                Err(Error::tool("no_model", "Nobody writes arguments"))
            })
            .await;
        assert!(matches!(gives_up, Err(Error::Tool(own)) if own.code == "no_model"));
        caller.session().close().await;
        let error = caller.with_repair(3, "fail", json!({"kind": "x"}), never).await.unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
    }
}

#[tokio::test]
async fn any_session_can_be_repaired_by_what_its_server_lists() {
    for carrier in CARRIERS {
        for offer in ERAS {
            let server = carrier(bench::builder()).build().unwrap();
            let session = open::session(&server, offer).await;
            let mut prompts = Vec::new();
            let result = call_with_repair(&session, 2, "shout_loud", json!({"times": 0}), |repair| {
                prompts.push(repair.prompt());
                assert_eq!(repair.prior, Some(json!({"times": 0})));
                async { Ok(json!({"times": 1})) }
            })
            .await
            .unwrap();
            assert_eq!(result.text(), "1");
            // The server's own example is not listed, so one is made from the schema.
            assert_eq!(prompts, [SHOUT.replace("{\"times\":3}", "{\"times\":1}")]);

            let mut prompts = Vec::new();
            let prompt = get_prompt_with_repair(&session, 2, "review", json!({}), |repair| {
                prompts.push(repair.prompt());
                async move { Ok(repair.example) }
            });
            assert_eq!(prompt.await.unwrap().messages.len(), 1);
            assert_eq!(prompts, [REVIEW]);
        }
    }
}
