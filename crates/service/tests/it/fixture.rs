//! A service with every kind of item, and sessions with it in every revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use switchboard_design::{
    CompletionDef, CompletionTarget, Design, InvalidParams, Issue, PromptBody, PromptText, WatchDef,
};
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{CallToolResult, ErrorCode, FormSchema, Raw, Revision, Role, RpcError};
use switchboard_service::{
    Call, CallFuture, Changes, Contents, Cx, Dispatch, Error, Form, PromptMessages, Result, ServiceBuilder,
    StreamEvent, rt,
};
use switchboard_session::link::{Exchange, LinkError, SingleLink, pair};
use switchboard_session::server::{Answered, Caller, Extensions, InProcess, ReplyChannel, Server};
use switchboard_session::{CallError, Client, ClientSession, ConnectionLimits, MuxLink, RevisionPolicy};
use switchboard_transport::http::client::Http;
use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService};

/// A protocol revision and a transport. Equal if the revisions are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) revision: Revision,
    transport: Transport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    /// In process.
    Process,
    /// Over a pipe, as with stdio.
    Pipe,
    Http,
}

impl PartialEq for Setup {
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision
    }
}

impl std::fmt::Display for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} over {:?}", self.revision, self.transport)
    }
}

impl Setup {
    pub(crate) const fn new(revision: Revision) -> Self {
        Self { revision, transport: Transport::Process }
    }

    /// Whether the end of the session cancels its requests, even while a caller still waits for them.
    pub(crate) fn ends_with_its_session(self) -> bool {
        self.transport != Transport::Http || self != MODERN
    }

    const fn over(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }
}

pub(crate) const MODERN: Setup = Setup::new(Revision::V2026_07_28);
pub(crate) const NEWEST_LEGACY: Setup = Setup::new(Revision::V2025_11_25);
pub(crate) const OLDER: Setup = Setup::new(Revision::V2025_06_18);
/// Both eras over every transport.
pub(crate) const ERAS: [Setup; 6] = [
    MODERN,
    MODERN.over(Transport::Pipe),
    MODERN.over(Transport::Http),
    NEWEST_LEGACY,
    NEWEST_LEGACY.over(Transport::Pipe),
    NEWEST_LEGACY.over(Transport::Http),
];
/// As [`ERAS`], and the newest revision that reports invalid arguments differently.
pub(crate) const REVISIONS: [Setup; 8] =
    [ERAS[0], ERAS[1], ERAS[2], ERAS[3], ERAS[4], ERAS[5], OLDER, OLDER.over(Transport::Http)];

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

/// Opens a session in one revision.
pub(crate) async fn session(server: &Arc<Server>, at: Setup) -> ClientSession {
    connect(&Client::new(), server, at).await
}

pub(crate) async fn connect(client: &Client, server: &Arc<Server>, at: Setup) -> ClientSession {
    let client = client.clone().with_revisions(RevisionPolicy::Only(at.revision));
    match at.transport {
        Transport::Process => client.connect(InProcess::new(server)).await.unwrap(),
        Transport::Pipe => {
            let (near, far) = pair();
            let server = Arc::clone(server);
            tokio::spawn(async move { server.serve(far).await });
            client.connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await.unwrap()
        }
        Transport::Http => {
            let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
            let address = listener.address().unwrap();
            tokio::spawn(listener.serve(HttpService::new(server, HttpServerOptions::default())));
            client.connect(Http::new(format!("http://{address}/mcp"))).await.unwrap()
        }
    }
}

/// Waits until a condition holds.
pub(crate) async fn wait_until(setup: Setup, condition: impl Fn() -> bool) {
    let polling = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(120), polling).await;
    waited.unwrap_or_else(|_| panic!("{setup}: timed out"));
}

pub(crate) fn raw(value: Value) -> Raw {
    Raw::from(value)
}

/// Returns the outcome of a tool call in one word: the error code, `failed`, or `fine`.
pub(crate) async fn outcome(session: &ClientSession, tool: &str, args: Value) -> (String, String) {
    match session.call_tool_raw(tool.to_owned(), raw(args)).await {
        Ok(result) if result.is_error => ("failed".to_owned(), result.text()),
        Ok(result) => ("fine".to_owned(), result.text()),
        Err(CallError::Remote(error)) => (error.code.to_string(), error.message),
        // Over HTTP it is a challenge.
        Err(CallError::Link(LinkError::Challenged(challenge))) => {
            (challenge.error.clone().unwrap_or_default(), challenge.scope.clone().unwrap_or_default())
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// Sends any request; returns its result, or the code and message of its error.
pub(crate) async fn ask(
    session: &ClientSession,
    method: &str,
    params: Value,
) -> std::result::Result<Value, (i32, String)> {
    match session.request_raw(method, raw(params)).await {
        Ok(result) => Ok(result.decode().unwrap()),
        Err(CallError::Remote(error)) => Err((error.code.0, error.message)),
        Err(other) => panic!("{method}: {other:?}"),
    }
}

/// Reply channel of a handwritten request: records notifications.
#[derive(Default)]
pub(crate) struct RecordingChannel {
    extensions: Extensions,
    pub(crate) behind: AtomicBool,
    pub(crate) notes: parking_lot::Mutex<Vec<(String, Value)>>,
}

impl ReplyChannel for RecordingChannel {
    fn is_behind(&self) -> bool {
        self.behind.load(Ordering::SeqCst)
    }

    fn note(&self, method: &str, params: Option<&Raw>) {
        let params = params.map_or(Value::Null, |params| params.decode().unwrap());
        self.notes.lock().push((method.to_owned(), params));
    }

    fn ask(&self, _: &str, _: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        self.extensions.get()
    }

    fn extension(&self, of: std::any::TypeId) -> Option<&(dyn std::any::Any + Send + Sync)> {
        self.extensions.find(of)
    }
}

/// Sends a handwritten modern request of a client with all capabilities; returns the response and the notifications.
pub(crate) async fn send_request(
    server: &Arc<Server>,
    caller: Option<&str>,
    params: Value,
) -> (Vec<(String, Value)>, std::result::Result<Value, (i32, String)>) {
    let mut back = RecordingChannel::default();
    if let Some(caller) = caller {
        back.extensions = Extensions::new().with(Caller::new(caller));
    }
    let back = Arc::new(back);
    let outcome = match begin(server, &back, "tools/call", params) {
        Answered::Later(answering) => answering.await,
        Answered::Now(outcome) => outcome,
        Answered::Refused(error) => Err(error),
    };
    let notes = std::mem::take(&mut *back.notes.lock());
    (notes, outcome.map(|result| result.decode().unwrap()).map_err(|error| (error.code.0, error.message)))
}

/// Starts a modern request.
pub(crate) fn begin(
    server: &Arc<Server>,
    back: &Arc<RecordingChannel>,
    method: &str,
    mut params: Value,
) -> Answered {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN.revision.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "progressToken": "p",
    });
    begin_text(server, back, method, &params.to_string())
}

/// As [`begin`], with the parameters as text, which includes `_meta`.
pub(crate) fn begin_text(
    server: &Arc<Server>,
    back: &Arc<RecordingChannel>,
    method: &str,
    params: &str,
) -> Answered {
    let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.clone().into()) else {
        panic!("{frame} is no request")
    };
    let says = server.classify(&request);
    server.answer(&Arc::default(), request, says, Arc::clone(back) as Arc<dyn ReplyChannel>)
}
