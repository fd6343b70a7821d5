//! A service with every kind of result, argument and error, implemented without a trait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_design::{
    CompletionDef, CompletionTarget, Design, Error, InvalidParams, MethodDef, MethodScope, ToolError,
    WatchDef,
};
use switchboard_protocol::{CallToolResult, Raw, RpcError, ToolAnnotations};
use switchboard_service::rt::{self, Call, CallFuture, Contents, Dispatch, PromptMessages};
use switchboard_service::{Changes, Cx, Result, ServiceBuilder};

/// Indexes of its tools.
pub const FAIL: usize = 0;
pub const SLOW: usize = 1;
pub const SHOUT: usize = 2;
pub const NUMBERS: usize = 3;
pub const MAYBE: usize = 4;
pub const ECHO: usize = 5;
pub const ASK: usize = 6;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Said {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FailArgs {
    kind: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SlowArgs {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShoutArgs {
    /// Number of repetitions.
    #[schemars(range(min = 1, max = 5000))]
    times: u32,
    /// Number of events before it fails.
    fail_after: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MaybeArgs {
    text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EchoArgs {
    value: Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ItemArgs {
    id: String,
    nums: Vec<f64>,
    tag: Option<String>,
    flag: Option<bool>,
    #[serde(default = "ten")]
    limit: i64,
    any: Option<Value>,
}

#[derive(Deserialize)]
struct Consent {
    ok: bool,
}

impl switchboard_service::Form for Consent {
    fn form() -> switchboard_protocol::FormSchema {
        let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        serde_json::from_value(form).unwrap()
    }
}

fn ten() -> i64 {
    10
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReviewArgs {
    /// The text to review.
    code: String,
    depth: Option<u32>,
    options: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
struct CompleteArgs {
    value: String,
    #[serde(default)]
    code: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResetArgs {
    all: bool,
    #[serde(default)]
    depth: u32,
}

pub fn design() -> &'static Arc<Design> {
    static DESIGN: LazyLock<Arc<Design>> = LazyLock::new(|| {
        let design = Design::new("bench", "1.0.0")
            .with_rpc("/rpc")
            .with_tools([
                rt::tool::<FailArgs, ()>("fail", "Fails.", &["kind"]),
                rt::tool::<SlowArgs, ()>("slow", "Takes its time.", &["ms"])
                    .with_annotations(ToolAnnotations::new().with_read_only_hint(true)),
                rt::tool::<ShoutArgs, u32>("shout", "Shouts.", &["times", "fail_after"])
                    .with_name("shout_loud")
                    .with_events(<u32 as rt::StreamEvent>::describe())
                    .with_example(json!({"times": 3})),
                rt::tool::<NoArgs, Vec<u32>>("numbers", "Some numbers.", &[]),
                rt::tool::<MaybeArgs, Option<String>>("maybe", "A text or none.", &["text"]),
                rt::tool::<EchoArgs, Value>("echo", "The same.", &["value"]),
                rt::tool::<NoArgs, bool>("ask", "Asks first.", &[]),
            ])
            .with_resources([
                rt::resource::<ItemArgs, Value>(
                    "item",
                    "item://{id}",
                    "An item.",
                    &["id", "nums", "tag", "flag", "limit", "any"],
                )
                .with_watch(true),
                rt::resource::<NoArgs, String>("status", "status://now", "How it is.", &[]).with_watch(true),
            ])
            .with_prompts([rt::prompt::<ReviewArgs>("review", "A review.", &["code", "depth", "options"])])
            .with_watches([WatchDef::new("item", "watch_item"), WatchDef::new("status", "watch_status")])
            .with_completions([
                CompletionDef::new(CompletionTarget::Prompt("review".into()), "depth", "complete_depth"),
                CompletionDef::new(CompletionTarget::Resource("item".into()), "id", "complete_id"),
            ])
            .with_notifications([
                rt::notification::<u32>("ticked", "A tick."),
                rt::notification::<Said>("said", "Somebody said something."),
            ])
            .with_rpc_only([
                rt::method::<ResetArgs, u64>("reset", "Forgets.", &["all", "depth"]),
                MethodDef::new("secret").with_scope(MethodScope::Internal),
            ]);
        design.check().expect("a good design");
        Arc::new(design)
    });
    &DESIGN
}

/// The service, with call counters.
#[derive(Debug, Default)]
pub struct SampleService {
    pub calls: AtomicUsize,
    /// Calls dropped before completion.
    pub dropped: Arc<AtomicUsize>,
}

pub fn builder() -> ServiceBuilder {
    ServiceBuilder::new(Arc::new(SampleService::default()))
}

/// The service with a tool that requires the scope `run`.
#[cfg(feature = "rpc")]
pub fn scoped() -> ServiceBuilder {
    struct Scoped(SampleService, Arc<Design>);
    impl Dispatch for Scoped {
        fn design(&self) -> &Arc<Design> {
            &self.1
        }
        fn call_tool(&self, tool: usize, call: Call) -> CallFuture<CallToolResult> {
            self.0.call_tool(tool, call)
        }
        fn read_resource(&self, resource: usize, call: Call) -> CallFuture<Contents> {
            self.0.read_resource(resource, call)
        }
        fn get_prompt(&self, prompt: usize, call: Call) -> CallFuture<PromptMessages> {
            self.0.get_prompt(prompt, call)
        }
        fn watch(&self, watch: usize, cx: Cx, changes: Changes) -> CallFuture<()> {
            self.0.watch(watch, cx, changes)
        }
        fn complete(&self, completion: usize, call: Call) -> CallFuture<Vec<String>> {
            self.0.complete(completion, call)
        }
        fn call_method(&self, rust_name: &str, call: Call) -> Option<CallFuture<Raw>> {
            assert_eq!(call.cx.caller().map(|caller| caller.subject.as_str()), Some("ada"));
            self.0.call_method(rust_name, call)
        }
    }
    let mut design = Design::clone(design());
    design.tools[NUMBERS].scopes = vec!["run".into()];
    ServiceBuilder::new(Arc::new(Scoped(SampleService::default(), Arc::new(design))))
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

async fn fail(kind: String) -> Result<()> {
    Err(match kind.as_str() {
        "invalid" => InvalidParams::new("kind must be kind").into(),
        "own" => ToolError::new("not_found", "No such kind").with_data(json!({"kind": kind})).into(),
        "own_invalid" => Error::tool("invalid_params", "of its own"),
        "own_method" => Error::tool("method_not_found", "of its own"),
        "rpc" => Error::Rpc(RpcError::new(switchboard_protocol::ErrorCode(-7), "its own code")),
        "internal" => Error::internal("the password is 1234"),
        "panic" => panic!("on purpose"),
        _ => return Ok(()),
    })
}

async fn shout(call: &Call, args: ShoutArgs) -> Result<u32> {
    let events = call.events::<u32>();
    for number in 0..args.times {
        if args.fail_after == Some(number) {
            return Err(Error::tool("hoarse", "The voice is gone"));
        }
        events.send(number).await?;
    }
    Ok(args.times)
}

fn item(args: ItemArgs) -> Value {
    let ItemArgs { id, nums, tag, flag, limit, any } = args;
    json!({"id": id, "nums": nums, "tag": tag, "flag": flag, "limit": limit, "any": any})
}

fn review(args: ReviewArgs) -> PromptMessages {
    let ReviewArgs { code, depth, options } = args;
    PromptMessages::user(json!({"code": code, "depth": depth, "options": options}).to_string())
}

impl Dispatch for SampleService {
    fn design(&self) -> &Arc<Design> {
        design()
    }

    fn call_tool(&self, tool: usize, call: Call) -> CallFuture<CallToolResult> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let dropped = Arc::clone(&self.dropped);
        Box::pin(async move {
            match tool {
                FAIL => {
                    let FailArgs { kind } = call.args()?;
                    rt::tool_result(fail(kind).await, &call)
                }
                SLOW => {
                    let SlowArgs { ms } = call.args()?;
                    let guard = Dropped(dropped);
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    std::mem::forget(guard);
                    rt::tool_result(Ok::<_, Error>(()), &call)
                }
                SHOUT => rt::tool_result(shout(&call, call.args()?).await, &call),
                NUMBERS => {
                    let NoArgs {} = call.args()?;
                    rt::tool_result(Ok::<_, Error>(vec![1_u32, 2]), &call)
                }
                MAYBE => {
                    let MaybeArgs { text } = call.args()?;
                    rt::tool_result(Ok::<_, Error>(text), &call)
                }
                ECHO => {
                    let EchoArgs { value } = call.args()?;
                    rt::tool_result(Ok::<_, Error>(value), &call)
                }
                ASK => {
                    call.cx.report(1.0, Some(2.0), Some("asking"));
                    let answer = call.cx.elicit::<Consent>("consent", "Really?").await?;
                    call.cx.report(2.0, Some(2.0), Some("asked"));
                    rt::tool_result(answer.into_result().map(|Consent { ok }| ok), &call)
                }
                _ => rt::unknown_index().await,
            }
        })
    }

    fn read_resource(&self, resource: usize, call: Call) -> CallFuture<Contents> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match resource {
                0 => rt::contents(Ok::<_, Error>(item(call.args()?))),
                1 => rt::contents(Ok::<_, Error>("\"fine\"".to_owned())),
                _ => rt::unknown_index().await,
            }
        })
    }

    fn get_prompt(&self, _: usize, call: Call) -> CallFuture<PromptMessages> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(review(call.args()?)) })
    }

    fn watch(&self, _: usize, _: Cx, _: Changes) -> CallFuture<()> {
        Box::pin(std::future::pending())
    }

    fn complete(&self, completion: usize, call: Call) -> CallFuture<Vec<String>> {
        Box::pin(async move {
            let CompleteArgs { value, code } = call.args()?;
            Ok(vec![format!("{completion}:{value}:{}", code.unwrap_or_default())])
        })
    }

    fn call_method(&self, rust_name: &str, call: Call) -> Option<CallFuture<Raw>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let dropped = Arc::clone(&self.dropped);
        Some(match rust_name {
            "fail" => Box::pin(async move {
                let FailArgs { kind } = call.args()?;
                rt::json(fail(kind).await)
            }),
            "slow" => Box::pin(async move {
                let SlowArgs { ms } = call.args()?;
                let guard = Dropped(dropped);
                tokio::time::sleep(Duration::from_millis(ms)).await;
                std::mem::forget(guard);
                rt::json(Ok::<_, Error>(()))
            }),
            "shout" => Box::pin(async move { rt::json(shout(&call, call.args()?).await) }),
            "numbers" => Box::pin(async move { rt::json(Ok::<_, Error>(vec![1_u32, 2])) }),
            "maybe" => Box::pin(async move {
                let MaybeArgs { text } = call.args()?;
                rt::json(Ok::<_, Error>(text))
            }),
            "echo" => Box::pin(async move {
                let EchoArgs { value } = call.args()?;
                rt::json(Ok::<_, Error>(value))
            }),
            "item" => Box::pin(async move { rt::json(Ok::<_, Error>(item(call.args()?))) }),
            "status" => Box::pin(async move { rt::json(Ok::<_, Error>("\"fine\"".to_owned())) }),
            "review" => Box::pin(async move { rt::json(Ok::<_, Error>(review(call.args()?))) }),
            "reset" => Box::pin(async move {
                let ResetArgs { all, depth } = call.args()?;
                rt::json(Ok::<_, Error>(if all { u64::from(depth) } else { 0 }))
            }),
            "secret" => Box::pin(async { panic!("it is internal") }),
            _ => return None,
        })
    }
}
