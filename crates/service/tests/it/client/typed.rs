//! Requests and responses of a typed client, in both eras.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_design::OutputSchemaPolicy;
use switchboard_protocol::{ElicitParams, ElicitResult, Meta, ResourceBody};
use switchboard_service::client::{CallArguments, ServiceCaller};
use switchboard_service::{Cx, Error, PromptMessages, ServiceBuilder};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_session::{ConnectionLimits, MuxLink, RevisionPolicy};

use crate::client::sample::{self, SampleService};
use crate::client::sessions::{self, ERAS, callers};

async fn tool<T: switchboard_service::FromOutput>(
    caller: &ServiceCaller,
    tool: usize,
    args: CallArguments,
) -> T {
    caller.tool::<T, Error>(tool, args, None, None).await.unwrap()
}

#[tokio::test]
async fn every_kind_of_result_round_trips() {
    for rule in [OutputSchemaPolicy::AsIs, OutputSchemaPolicy::ObjectsOnly, OutputSchemaPolicy::Wrapped] {
        for caller in callers(|builder| builder.output_rule(rule)).await {
            assert_eq!(tool::<Vec<u32>>(&caller, sample::NUMBERS, CallArguments::new()).await, [1, 2]);
            for text in ["plain", "", "007", "null", "\"quoted\"", "{\"a\":1}"] {
                let args = CallArguments::new().with("text", text);
                assert_eq!(
                    tool::<Option<String>>(&caller, sample::MAYBE, args).await.unwrap(),
                    text,
                    "{rule:?}"
                );
            }
            assert_eq!(tool::<Option<String>>(&caller, sample::MAYBE, CallArguments::new()).await, None);
            tool::<()>(&caller, sample::FAIL, CallArguments::new().with("kind", "not at all")).await;
        }
    }
    for caller in callers(|builder| builder).await {
        for value in [json!(null), json!(7), json!("x"), json!([1, "a"]), json!({"result": 1}), json!({})] {
            let args = CallArguments::new().with("value", &value);
            assert_eq!(tool::<Value>(&caller, sample::ECHO, args).await, value);
        }
        let status: String = caller.resource::<_, Error>(1, CallArguments::new(), None).await.unwrap();
        assert_eq!(status, "\"fine\"");
    }
}

#[tokio::test]
async fn prompt_arguments_are_texts_or_json() {
    for caller in callers(|builder| builder).await {
        let args =
            CallArguments::new().with("code", "a\nb").with("depth", &3).with("options", &None::<Value>);
        let prompt: PromptMessages = caller.prompt::<Error>(0, args, None).await.unwrap();
        let said: Value = serde_json::from_str(prompt.messages[0].content.as_text().unwrap()).unwrap();
        assert_eq!(said, json!({"code": "a\nb", "depth": 3, "options": null}));
    }
}

#[tokio::test]
async fn completion_gets_the_other_arguments() {
    for caller in callers(|builder| builder).await {
        let args = CallArguments::new().with("value", "2").with("code", "x=1");
        assert_eq!(caller.complete::<Error>(0, args, None).await.unwrap(), ["0:2:x=1"]);
        let args = CallArguments::new().with("value", "").with("code", &None::<String>);
        assert_eq!(caller.complete::<Error>(1, args, None).await.unwrap(), ["1::"]);
    }
}

fn item(id: &str, nums: &[f64], tag: Option<&str>, flag: Option<bool>, limit: i64) -> CallArguments {
    let args = CallArguments::new().with("id", id).with("nums", nums).with("tag", &tag);
    args.with("flag", &flag).with("limit", &limit)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_arguments_of_a_resource_round_trip(
        id in "\\PC{1,12}",
        nums in proptest::collection::vec(-1e9..1e9_f64, 0..4),
        tag in proptest::option::of("\\PC{0,8}"),
        flag in proptest::option::of(any::<bool>()),
        limit in any::<i64>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let offer = if limit % 2 == 0 { RevisionPolicy::ModernOnly } else { RevisionPolicy::LegacyOnly };
            let caller = sessions::caller(Arc::new(SampleService::default()), |builder| builder, offer).await;
            let args = item(&id, &nums, tag.as_deref(), flag, limit);
            match caller.resource::<Value, Error>(0, args, None).await {
                Ok(read) => {
                    let sent = json!({
                        "id": id, "nums": nums, "tag": tag, "flag": flag, "limit": limit, "any": null,
                    });
                    assert_eq!(read, sent);
                }
                // A URI path cannot consist of dots.
                Err(Error::InvalidParams(_)) => assert!(matches!(id.as_str(), "." | ".."), "{id:?}"),
                Err(other) => panic!("{other:?}"),
            }
        });
    }
}

#[tokio::test]
async fn query_values_are_converted_to_the_parameter_type() {
    let read = json!({"id": "x", "nums": [], "tag": null, "flag": null, "limit": 10, "any": null});
    let with = |changes: Value| {
        let mut read = read.clone();
        read.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        Ok(read)
    };
    for (query, expected) in [
        ("", with(json!({}))),
        ("nums=1", with(json!({"nums": [1.0]}))),
        ("nums=1&nums=2.5", with(json!({"nums": [1.0, 2.5]}))),
        ("tag=007", with(json!({"tag": "007"}))),
        ("tag=a+b", with(json!({"tag": "a b"}))),
        ("tag=a%2Bb", with(json!({"tag": "a+b"}))),
        ("tag=a%2Fb%3Fc", with(json!({"tag": "a/b?c"}))),
        ("tag=", with(json!({"tag": ""}))),
        ("tag=true", with(json!({"tag": "true"}))),
        ("flag=true&limit=-3", with(json!({"flag": true, "limit": -3}))),
        ("any=true", with(json!({"any": true}))),
        ("any=7", with(json!({"any": 7}))),
        ("any=1.5", with(json!({"any": 1.5}))),
        ("any=007", with(json!({"any": "007"}))),
        ("any=%2B1", with(json!({"any": "+1"}))),
        ("any=1&any=x&any=false", with(json!({"any": [1, "x", false]}))),
        ("any=", with(json!({"any": ""}))),
        ("nobody=knows", with(json!({}))),
        ("flag=yes", Err("`flag`")),
        ("flag=", Err("`flag`")),
        ("limit=1.5", Err("`limit`")),
        ("limit=1&limit=2", Err("`limit`")),
        ("nums=1&nums=x", Err("`nums`")),
        ("tag=a&tag=b", Err("`tag`")),
    ] {
        for caller in callers(|builder| builder).await {
            let result = caller.session().read_resource(format!("item://x?{query}")).await;
            match (&expected, result) {
                (Ok(expected), Ok(result)) => {
                    let ResourceBody::Text(text) = &result.contents[0].body else { panic!("text") };
                    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), expected, "{query}");
                }
                (Err(pointer), Err(error)) => {
                    let error = error.remote().unwrap_or_else(|| panic!("{query}: {error}")).clone();
                    assert_eq!(error.code.0, -32602, "{query}");
                    assert!(error.message.contains(pointer), "{query}: {error}");
                }
                (expected, got) => panic!("{query}: {expected:?}, {got:?}"),
            }
        }
    }
}

#[tokio::test]
async fn arguments_are_sent_in_declaration_order_without_absent_ones() {
    let caller =
        sessions::caller(Arc::new(SampleService::default()), |builder| builder, RevisionPolicy::ModernOnly)
            .await;
    let denied = sessions::caller(
        Arc::new(SampleService::default()),
        |builder| builder.deny_resources(["item://**"]),
        RevisionPolicy::ModernOnly,
    )
    .await;
    // A denied resource is reported with the requested URI.
    let args =
        CallArguments::new().with("limit", &1).with("tag", "b&c").with("nums", &[1, 2]).with("id", "a/b");
    let Err(Error::InvalidParams(refused)) = denied.resource::<Value, Error>(0, args, None).await else {
        panic!("it is denied")
    };
    assert_eq!(refused.message, "Resource not allowed: item://a%2Fb?nums=1&nums=2&tag=b%26c&limit=1");
    let missing = caller.resource::<Value, Error>(0, CallArguments::new().with("limit", &1), None).await;
    let Err(Error::InvalidParams(missing)) = missing else { panic!("the id is missing") };
    assert_eq!(missing.message, "Invalid arguments: `id` is required by the URI");
}

#[tokio::test]
async fn a_timed_out_call_is_dropped_and_not_retried() {
    for offer in ERAS {
        let bench = Arc::new(SampleService::default());
        let caller = sessions::caller(Arc::clone(&bench) as _, |builder| builder, offer).await;
        let cx = Cx::call().timeout(Duration::from_millis(20)).build();
        let args = CallArguments::new().with("ms", &60_000);
        let late = caller.tool::<(), Error>(sample::SLOW, args, Some(&cx), None).await;
        assert!(matches!(late, Err(Error::Timeout)), "{late:?}");
        while bench.dropped.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        // Not retried, although it is read-only.
        assert_eq!(bench.calls.load(Ordering::SeqCst), 1);

        let args = CallArguments::new().with("ms", &60_000);
        let call = caller.tool::<(), Error>(sample::SLOW, args, None, None);
        assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
        while bench.dropped.load(Ordering::SeqCst) == 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(bench.calls.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn a_broken_connection_fails_the_call_without_a_retry() {
    for offer in ERAS {
        let bench = Arc::new(SampleService::default());
        let server = ServiceBuilder::new(Arc::clone(&bench) as _).build().unwrap();
        let (near, far) = switchboard_session::link::pair();
        let serving = tokio::spawn(async move { server.serve(far).await });
        let dial =
            switchboard_session::link::SingleLink::new(MuxLink::start(near, ConnectionLimits::default()));
        let session =
            switchboard_service::client::client().with_revisions(offer).connect(dial).await.unwrap();
        let caller = ServiceCaller::new(session, Arc::clone(sample::design()));
        let args = CallArguments::new().with("ms", &60_000);
        let call = caller.tool::<(), Error>(sample::SLOW, args, None, None);
        let breaks = async {
            while bench.calls.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
            serving.abort();
        };
        let (error, ()) = tokio::join!(call, breaks);
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
        assert!(!error.is_retryable() && error.repair().is_none());
        assert_eq!(bench.calls.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_closed_session_is_a_transport_error() {
    for caller in callers(|builder| builder).await {
        caller.session().close().await;
        let args = CallArguments::new().with("kind", &1);
        let tool = caller.tool::<(), Error>(sample::FAIL, args, None, None).await.unwrap_err();
        let resource = caller.resource::<Value, Error>(1, CallArguments::new(), None).await.unwrap_err();
        let prompt = caller.prompt::<Error>(0, CallArguments::new(), None).await.unwrap_err();
        for error in [tool, resource, prompt] {
            assert!(matches!(error, Error::Transport(_)), "{error:?}");
            assert!(!error.is_retryable() && error.repair().is_none());
        }
    }
}

#[tokio::test]
async fn meta_is_sent_with_every_kind_of_call() {
    for caller in callers(|builder| builder).await {
        let mut meta = Meta::new();
        meta.insert("com.example/trace", json!("t1").into());
        let cx = Cx::call().meta(meta).timeout(Duration::from_secs(120)).build();
        let numbers: Vec<u32> =
            caller.tool::<_, Error>(sample::NUMBERS, CallArguments::new(), Some(&cx), None).await.unwrap();
        assert_eq!(numbers, [1, 2]);
        let status: String = caller.resource::<_, Error>(1, CallArguments::new(), Some(&cx)).await.unwrap();
        assert_eq!(status, "\"fine\"");
        let args = CallArguments::new().with("code", "x");
        assert_eq!(caller.prompt::<Error>(0, args, Some(&cx)).await.unwrap().messages.len(), 1);
        let args = CallArguments::new().with("value", "2");
        assert_eq!(caller.complete::<Error>(0, args, Some(&cx)).await.unwrap(), ["0:2:"]);
    }
}

/// Answers every form with this content.
struct Says(bool);

impl ClientHandler for Says {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let answer = json!({"action": "accept", "content": {"ok": self.0}});
        Box::pin(async { Ok(serde_json::from_value(answer).unwrap()) })
    }
}

#[tokio::test]
async fn a_call_has_its_own_handler_and_progress_callback() {
    for (offer, own) in [
        (RevisionPolicy::ModernOnly, Some(true)),
        (RevisionPolicy::ModernOnly, None),
        (RevisionPolicy::LegacyOnly, None),
    ] {
        let server = sample::builder().build().unwrap();
        let client = switchboard_service::client::client().with_answers(Says(false));
        let caller =
            ServiceCaller::new(sessions::open(client, &server, offer).await, Arc::clone(sample::design()));
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let hears = Arc::clone(&heard);
        let mut options = Cx::call().on_progress(move |progress| {
            hears.lock().extend(progress.message);
        });
        if let Some(own) = own {
            options = options.handler(Arc::new(Says(own)));
        }
        let cx = options.build();
        let answer: bool =
            caller.tool::<_, Error>(sample::ASK, CallArguments::new(), Some(&cx), None).await.unwrap();
        assert_eq!(answer, own.unwrap_or(false), "{offer:?}");
        let heard = heard.lock().clone();
        assert_eq!(heard.last().map(String::as_str), Some("asked"), "{heard:?}");
    }
    // A client without capabilities, and a tool that reports it.
    for caller in callers(|builder| builder).await {
        let error =
            caller.tool::<bool, Error>(sample::ASK, CallArguments::new(), None, None).await.unwrap_err();
        assert!(error.to_string().contains("elicitation"), "{error:?}");
        assert!(!error.is_retryable(), "{error:?}");
    }
}
