//! Invalid arguments, their repair prompts, and the repair loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard_design::{ArgumentErrors, ErrorPolicy};
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities,
    Tool,
};
use switchboard_service::client::{CallArguments, call_with_repair, get_prompt_with_repair};
use switchboard_service::{Error, ServiceBuilder};
use switchboard_session::server::{Handler, HandlerOutcome, Server, ServerRequest};

use crate::client::sample::{self, SampleService};
use crate::client::sessions::{self, ERAS, callers};

const SHOUT: &str = "\nOperation: tools/call:shout_loud\n\
     Schema: {\"additionalProperties\":false,\"properties\":{\"fail_after\":{\"description\":\"Number of events before it fails.\",\
     \"minimum\":0,\"type\":\"integer\"},\"times\":{\"description\":\"Number of repetitions.\",\"maximum\":5000,\"minimum\":1,\
     \"type\":\"integer\"}},\"required\":[\"times\"],\"type\":\"object\"}\n\
     Error: Invalid arguments: `times` must be at least 1; got 0\n\
     Redo the operation now with valid parameters.\n\
     Use only valid schema fields and ensure required fields and types/enums are valid.\n\
     Example params: {\"times\":3}";

const REVIEW: &str = "\nOperation: prompts/get:review\n\
     Schema: {\"additionalProperties\":false,\"properties\":{\"code\":{\"description\":\"The text to review.\",\
     \"type\":\"string\"},\"depth\":{\"type\":\"string\"},\"options\":{\"type\":\"string\"}},\
     \"required\":[\"code\"],\"type\":\"object\"}\n\
     Error: Invalid arguments: `code` is required\n\
     Redo the operation now with valid parameters.\n\
     Use only valid schema fields and ensure required fields and types/enums are valid.\n\
     Example params: {\"code\":\"text\"}";

type Set = fn(ServiceBuilder) -> ServiceBuilder;

/// Each way in which a server reports invalid arguments.
const CARRIERS: [Set; 4] = [
    |builder| builder,
    |builder| builder.argument_errors(ArgumentErrors::Result),
    |builder| builder.argument_errors(ArgumentErrors::Code),
    |builder| builder.error_policy(ErrorPolicy::Codes),
];

#[tokio::test]
async fn the_repair_prompt_does_not_depend_on_how_the_server_reports_errors() {
    for carrier in CARRIERS {
        for caller in callers(carrier).await {
            let args = CallArguments::new().with("times", &0);
            let error = caller.tool::<u32, Error>(sample::SHOUT, args, None, None).await.unwrap_err();
            assert!(error.is_retryable(), "{error:?}");
            let repair = error.repair().unwrap();
            assert_eq!(repair.prompt(), SHOUT);
            assert_eq!(repair.prior, Some(json!({"times": 0})));
            assert_eq!(repair.issues[0].pointer, "/times");

            let error =
                caller.prompt::<Error>(0, CallArguments::new().with("depth", &1), None).await.unwrap_err();
            let repair = error.repair().unwrap();
            assert_eq!(repair.prompt(), REVIEW);
            assert_eq!(repair.prior, Some(json!({"depth": 1})));
        }
    }
}

#[tokio::test]
async fn a_tool_error_is_not_an_argument_error() {
    for carrier in CARRIERS {
        for caller in callers(carrier).await {
            let args = CallArguments::new().with("kind", "own");
            let error = caller.tool::<(), Error>(sample::FAIL, args, None, None).await.unwrap_err();
            let Error::Tool(own) = &error else { panic!("{error:?}") };
            assert_eq!((own.code.as_str(), own.message.as_str()), ("not_found", "No such kind"));
            assert_eq!(own.data, Some(json!({"kind": "own"})));
            assert!(!error.is_retryable() && error.repair().is_none());
            let args = CallArguments::new().with("kind", "rpc");
            let error = caller.tool::<(), Error>(sample::FAIL, args, None, None).await.unwrap_err();
            assert!(matches!(&error, Error::Rpc(error) if error.code.0 == -7), "{error:?}");
        }
    }
}

#[tokio::test]
async fn the_repair_loop_ends_with_valid_arguments() {
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
async fn the_repair_loop_stops_at_its_limit_with_the_last_error() {
    for most in [0, 1, 4] {
        for offer in ERAS {
            let bench = Arc::new(SampleService::default());
            let caller = sessions::caller(Arc::clone(&bench) as _, |builder| builder, offer).await;
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
async fn the_repair_loop_stops_at_any_other_error() {
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
async fn arguments_are_repaired_from_the_listed_schema() {
    for carrier in CARRIERS {
        for offer in ERAS {
            let server = carrier(sample::builder()).build().unwrap();
            let session = sessions::session(&server, offer).await;
            let mut prompts = Vec::new();
            let result = call_with_repair(&session, 2, "shout_loud", json!({"times": 0}), |repair| {
                prompts.push(repair.prompt());
                assert_eq!(repair.prior, Some(json!({"times": 0})));
                async { Ok(json!({"times": 1})) }
            })
            .await
            .unwrap();
            assert_eq!(result.text(), "1");
            // The listed schema includes the server's example.
            let listed = SHOUT.replace(
                "\"additionalProperties\":false,",
                "\"additionalProperties\":false,\"examples\":[{\"times\":3}],",
            );
            assert_eq!(prompts, [listed]);

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

/// A third-party server: it lists a schema and reports invalid arguments as a failed result.
struct Weather(Arc<AtomicUsize>);

impl Handler for Weather {
    fn handle(
        &self,
        request: ServerRequest,
        _: switchboard_session::server::RequestContext,
    ) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let schema = json!({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}});
                HandlerOutcome::now(ListToolsResult::new([Tool::new("weather", schema)]))
            }
            ServerRequest::CallTool(call) => {
                self.0.fetch_add(1, Ordering::SeqCst);
                let args: Value = call.arguments.unwrap().decode().unwrap();
                HandlerOutcome::now(match args["city"].as_str().unwrap() {
                    "nowhere" => CallToolResult::error(
                        "MCP error -32602: Input validation error: Invalid arguments for tool weather: no such city",
                    ),
                    "down" => CallToolResult::error("the station is down"),
                    city => CallToolResult::new([Content::text(format!("sunny in {city}"))]),
                })
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

#[tokio::test]
async fn a9_arguments_are_validated_before_a_call_and_repaired_after_a_failed_result() {
    let calls = Arc::new(AtomicUsize::new(0));
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server =
        Server::builder(Implementation::new("weather", "1.0.0"), offers).build(Weather(Arc::clone(&calls)));
    for offer in ERAS {
        let session = sessions::session(&server, offer).await;
        calls.store(0, Ordering::SeqCst);
        let mut seen = Vec::new();
        let result = call_with_repair(&session, 3, "weather", json!({"town": "Oslo"}), |repair| {
            seen.push((calls.load(Ordering::SeqCst), repair.message.clone(), repair.prior.clone()));
            let next = if seen.len() == 1 { json!({"city": "nowhere"}) } else { json!({"city": "Oslo"}) };
            async move { Ok(next) }
        });
        assert_eq!(result.await.unwrap().text(), "sunny in Oslo");
        assert_eq!(seen.len(), 2, "{seen:?}");
        // The first was not sent; the server rejected the second with a failed result.
        assert_eq!(seen[0].0, 0);
        assert!(seen[0].1.contains("/city") || seen[0].1.contains("city"), "{seen:?}");
        assert_eq!(seen[1].0, 1);
        assert!(seen[1].1.contains("no such city"), "{seen:?}");
        assert_eq!(seen[1].2, Some(json!({"city": "nowhere"})));
        // A failure that is not about arguments is not repaired.
        let never = async |_| panic!("the arguments are fine");
        let error =
            call_with_repair(&session, 3, "weather", json!({"city": "down"}), never).await.unwrap_err();
        assert!(matches!(error, Error::Tool(_)), "{error:?}");
    }
}

#[tokio::test]
#[cfg(feature = "rpc")]
async fn v3_a_missing_scope_is_typed_and_never_repaired() {
    use switchboard_service::client::{ServiceCaller, client};
    use switchboard_transport::http::client::Http;
    use switchboard_transport::http::server::{HttpListener, HttpServerOptions};

    for reveals in [false, true] {
        let builder = sample::scoped().reveal_scopes(reveals);
        let server = builder.clone().build().unwrap();
        let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}/mcp", listener.address().unwrap());
        let serving =
            tokio::spawn(listener.serve(builder.into_http_service(HttpServerOptions::default()).unwrap()));
        for offer in ERAS {
            let here = sessions::session(&server, offer).await;
            let there = client().with_revisions(offer).connect(Http::new(&url)).await.unwrap();
            for session in [here, there] {
                let caller = ServiceCaller::new(session.clone(), Arc::clone(sample::design()));
                let typed =
                    caller.tool::<Vec<u32>, Error>(sample::NUMBERS, CallArguments::new(), None, None).await;
                let asked = |_| async { panic!("the model was asked") };
                let repaired = caller.with_repair(3, "numbers", json!({}), asked).await;
                let listed = call_with_repair(&session, 3, "numbers", json!({}), asked).await;
                for error in [typed.unwrap_err(), repaired.unwrap_err(), listed.unwrap_err()] {
                    assert!(!error.is_retryable() && error.repair().is_none(), "{error:?}");
                    match &error {
                        Error::Unauthorized { scopes } if reveals => assert_eq!(scopes, &["run"]),
                        Error::Unknown { name, .. } if !reveals => assert_eq!(name, "numbers"),
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
        serving.abort();
    }
}
