//! A service with every kind of item.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use switchboard_design::{
    CompletionDef, CompletionTarget, Design, InvalidParams, Issue, PromptBody, PromptText, WatchDef,
};
use switchboard_protocol::{CallToolResult, ErrorCode, FormSchema, Role, RpcError};
use switchboard_service::{
    Call, CallFuture, Changes, Contents, Cx, Dispatch, Error, Form, PromptMessages, Result, ServiceBuilder,
    StreamEvent, rt,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Sum {
    pub(crate) sum: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Color {
    Red,
    Green,
}

/// Whether the user agrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Consent {
    pub(crate) ok: bool,
}

impl Form for Consent {
    fn form() -> FormSchema {
        let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        serde_json::from_value(form).unwrap()
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddArgs {
    a: i64,
    #[schemars(range(min = 1, max = 9))]
    b: i64,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    #[allow(dead_code, reason = "only its schema matters")]
    unit: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CountArgs {
    up_to: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextArgs {
    text: String,
}

/// An author's own type, as with `#[args]`; it ignores unknown members.
#[derive(Deserialize, JsonSchema)]
struct OwnArgs {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IdArgs {
    id: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HistoryArgs {
    limit: Option<u32>,
    flag: Option<bool>,
    #[serde(default)]
    nums: Vec<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AdviseArgs {
    topic: String,
    color: Option<Color>,
    times: Option<u32>,
}

#[derive(Deserialize)]
struct CompleteArgs {
    value: String,
    color: Option<String>,
}

/// Counters of the service that tests inspect.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) dropped: AtomicUsize,
    pub(crate) hanging: AtomicUsize,
    pub(crate) watching: AtomicUsize,
    pub(crate) watched: AtomicUsize,
    pub(crate) steps: AtomicUsize,
    pub(crate) runs: AtomicUsize,
    pub(crate) changes: parking_lot::Mutex<Option<Changes>>,
}

/// The service implementation.
pub(crate) struct Shop {
    pub(crate) design: Arc<Design>,
    pub(crate) counts: Arc<Counts>,
}

pub(crate) fn design() -> Design {
    let prompt = |role, text: &str| PromptText::new(role, text);
    Design::new("shop", "1.0.0")
        .with_instructions("Ask nicely.")
        .with_tools([
            rt::tool::<AddArgs, Sum>("add", "Adds.", &["a", "b", "unit"])
                .with_example(json!({"a": 1, "b": 2})),
            rt::tool::<CountArgs, Vec<u32>>("count", "Counts.", &["up_to"]),
            rt::tool::<TextArgs, String>("echo", "Says it again.", &["text"]),
            rt::tool::<NoArgs, ()>("nothing", "Does nothing.", &[]),
            rt::tool::<NoArgs, Contents>("picture", "Shows a picture.", &[]),
            rt::tool::<TextArgs, ()>("fail", "Fails.", &["text"]),
            rt::tool::<NoArgs, Color>("pick", "Picks a colour.", &[]),
            rt::tool::<TextArgs, Sum>("spell", "Spells.", &["text"])
                .with_events(<String as StreamEvent>::describe()),
            rt::tool::<NoArgs, String>("secret", "For some only.", &[]).with_scopes(["admin".to_owned()]),
            rt::tool::<TextArgs, String>("agree", "Asks first.", &["text"]),
            rt::tool::<NoArgs, ()>("hang", "Never ends.", &[]),
            rt::tool::<OwnArgs, String>("own", "Takes its own type.", &[]),
            rt::tool::<NoArgs, Option<Sum>>("maybe", "Perhaps.", &[]),
        ])
        .with_resources([
            rt::resource::<IdArgs, String>("text", "text://{id}", "One text.", &["id"])
                .with_mime("text/plain")
                .with_watch(true)
                .with_ttl_ms(7_000_u64),
            rt::resource::<HistoryArgs, Value>(
                "history",
                "conversation://history",
                "What was said.",
                &["limit", "flag", "nums"],
            )
            .with_mime("application/json"),
            rt::resource::<NoArgs, Contents>("logo", "pic://logo", "A picture.", &[]),
            rt::resource::<NoArgs, String>("vault", "vault://door", "For some only.", &[])
                .with_scopes(["admin".to_owned()]),
            rt::resource::<NoArgs, String>("fixed", "text://fixed", "It has a URI of its own.", &[]),
        ])
        .with_prompts([
            rt::prompt::<NoArgs>("review", "Reviews code.", &[]).with_body(PromptBody::Static {
                messages: vec![prompt(Role::User, "Review this."), prompt(Role::Assistant, "Which?")],
            }),
            rt::prompt::<AdviseArgs>("advise", "Gives advice.", &["topic", "color", "times"]),
            rt::prompt::<NoArgs>("whisper", "For some only.", &[]).with_scopes(["admin".to_owned()]),
        ])
        .with_watches([WatchDef::new("text", "watch_text")])
        .with_completions([CompletionDef::new(
            CompletionTarget::Prompt("advise".into()),
            "topic",
            "complete_topic",
        )])
        .with_notifications([rt::notification::<Sum>("sold", "Something was sold.")])
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self { design: Arc::new(design()), counts: Arc::default() }
    }

    pub(crate) fn builder() -> ServiceBuilder {
        ServiceBuilder::new(Arc::new(Self::new()))
    }

    pub(crate) fn counted() -> (ServiceBuilder, Arc<Counts>) {
        let shop = Self::new();
        let counts = Arc::clone(&shop.counts);
        (ServiceBuilder::new(Arc::new(shop)), counts)
    }
}

fn failure(how: &str) -> Error {
    match how {
        "tool" => Error::tool("sold_out", "Sold out."),
        "invalid" => {
            Error::InvalidParams(InvalidParams::from_issues(vec![Issue::for_member("text", "is rude")]))
        }
        "internal" => Error::internal("the password is 1234"),
        "rpc" => Error::Rpc(RpcError::new(ErrorCode(-7), "own")),
        "timeout" => Error::Timeout,
        "missing" => Error::not_found("There is none."),
        "unmapped" => Error::tool("method_not_found", "Not here."),
        other => panic!("a method panicked on {other}"),
    }
}

/// Counts drops.
struct Dropped(Arc<Counts>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Dispatch for Shop {
    fn design(&self) -> &Arc<Design> {
        &self.design
    }

    fn call_tool(&self, tool: usize, call: Call) -> CallFuture<CallToolResult> {
        let counts = Arc::clone(&self.counts);
        match tool {
            0 => Box::pin(async move {
                let AddArgs { a, b, .. } = call.args()?;
                rt::tool_result(fine(Sum { sum: a + b }), &call)
            }),
            1 => Box::pin(async move {
                let CountArgs { up_to } = call.args()?;
                rt::tool_result(fine((0..up_to).collect::<Vec<u32>>()), &call)
            }),
            2 => Box::pin(async move {
                let TextArgs { text } = call.args()?;
                tokio::task::yield_now().await;
                rt::tool_result(fine(text), &call)
            }),
            3 => Box::pin(async move { rt::tool_result(fine(()), &call) }),
            4 => Box::pin(async move {
                rt::tool_result(fine(Contents::text("Look:").image("aGk=", "image/png")), &call)
            }),
            5 => Box::pin(async move {
                let TextArgs { text } = call.args()?;
                if text == "panic later" {
                    tokio::task::yield_now().await;
                }
                rt::tool_result(Result::<()>::Err(failure(&text)), &call)
            }),
            6 => Box::pin(async move { rt::tool_result(fine(Color::Green), &call) }),
            7 => Box::pin(async move {
                let TextArgs { text } = call.args()?;
                let events = call.events::<String>();
                for letter in text.chars() {
                    events.send(letter.to_string()).await?;
                }
                rt::tool_result(fine(Sum { sum: i64::try_from(text.len())? }), &call)
            }),
            8 => Box::pin(async move { rt::tool_result(fine("hush".to_owned()), &call) }),
            9 => Box::pin(async move {
                let TextArgs { text } = call.args()?;
                counts.runs.fetch_add(1, Ordering::SeqCst);
                rt::tool_result(agree(&call.cx, &counts, &text).await, &call)
            }),
            10 => Box::pin(async move {
                let _dropped = Dropped(Arc::clone(&counts));
                counts.hanging.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<()>().await;
                rt::tool_result(fine(()), &call)
            }),
            11 => Box::pin(async move {
                let OwnArgs { text } = call.args()?;
                rt::tool_result(fine(text), &call)
            }),
            12 => Box::pin(async move { rt::tool_result(fine(None::<Sum>), &call) }),
            _ => rt::unknown_index(),
        }
    }

    fn read_resource(&self, resource: usize, call: Call) -> CallFuture<Contents> {
        match resource {
            0 => Box::pin(async move {
                let IdArgs { id } = call.args()?;
                match id.as_str() {
                    "broken" => rt::contents(Result::<String>::Err(failure("internal"))),
                    "rude" => rt::contents(Result::<String>::Err(failure("tool"))),
                    "missing" | "unmapped" => rt::contents(Result::<String>::Err(failure(&id))),
                    _ => rt::contents(fine(id)),
                }
            }),
            1 => Box::pin(async move {
                let args: HistoryArgs = call.args()?;
                rt::contents(fine(serde_json::to_value(args)?))
            }),
            2 => Box::pin(async move { rt::contents(fine(Contents::default().image("aGk=", "image/png"))) }),
            3 => Box::pin(async move { rt::contents(fine("gold".to_owned())) }),
            4 => Box::pin(async move { rt::contents(fine("fixed".to_owned())) }),
            _ => rt::unknown_index(),
        }
    }

    fn get_prompt(&self, prompt: usize, call: Call) -> CallFuture<PromptMessages> {
        match prompt {
            1 => Box::pin(async move {
                let AdviseArgs { topic, color, times } = call.args()?;
                if matches!(topic.as_str(), "missing" | "unmapped") {
                    return Err(failure(&topic));
                }
                Ok(PromptMessages::user(format!("{topic} {color:?} {times:?}")))
            }),
            2 => Box::pin(async move { Ok(PromptMessages::user("psst")) }),
            _ => rt::unknown_index(),
        }
    }

    fn watch(&self, _: usize, _: Cx, changes: Changes) -> CallFuture<()> {
        let counts = Arc::clone(&self.counts);
        Box::pin(async move {
            struct Gone(Arc<Counts>);
            impl Drop for Gone {
                fn drop(&mut self) {
                    self.0.watching.fetch_sub(1, Ordering::SeqCst);
                }
            }
            counts.watching.fetch_add(1, Ordering::SeqCst);
            counts.watched.fetch_add(1, Ordering::SeqCst);
            *counts.changes.lock() = Some(changes);
            let _gone = Gone(counts);
            std::future::pending::<()>().await;
            Ok(())
        })
    }

    fn complete(&self, _: usize, call: Call) -> CallFuture<Vec<String>> {
        Box::pin(async move {
            let CompleteArgs { value, color } = call.args()?;
            let many = if value == "many" { 250 } else { 1 };
            Ok((0..many).map(|at| format!("{value}{}{at}", color.as_deref().unwrap_or(""))).collect())
        })
    }
}

/// Sends two input requests, one after the other, around a step that runs once; `both` sends them concurrently.
async fn agree(cx: &Cx, counts: &Counts, text: &str) -> Result<String> {
    let number = cx
        .step("number", || async {
            counts.steps.fetch_add(1, Ordering::SeqCst);
            fine(42)
        })
        .await?;
    if text == "both" {
        let (first, second) = tokio::join!(
            cx.elicit::<Consent>("first", "The first?"),
            cx.elicit::<Consent>("second", "The second?")
        );
        return Ok(format!("{} {}", first?.into_result()?.ok, second?.into_result()?.ok));
    }
    // A mistake of the author: a request that differs each time.
    let at = counts.runs.load(Ordering::SeqCst);
    let text = if text == "clock" { format!("at {at}") } else { text.to_owned() };
    let first = cx.elicit::<Consent>("first", format!("Really {text}?")).await?.into_result()?;
    let second = cx.elicit::<Consent>("second", "Really, really?").await?.into_result()?;
    Ok(format!("{number} {} {}", first.ok, second.ok))
}

/// Returns a result with the default error type.
fn fine<T>(value: T) -> Result<T> {
    Ok(value)
}
