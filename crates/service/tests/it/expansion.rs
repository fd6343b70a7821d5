//! A handwritten expansion of the service macro: the contract between the macro and this crate.
//!
//! It is the expansion of the trait in the comment; `switchboard-macros` generates the same with other names.

// /// Texts and what is in them.
// #[switchboard::service(name = "texts", version = "1.0.0", rpc = "/rpc")]
// pub trait Texts {
//     /// Counts words.
//     #[tool(read_only, example = { "text": "two words" })]
//     async fn count(&self, text: String, #[schemars(range(min = 1))] most: Option<u32>) -> Result<Counted>;
//     /// Spells a text, letter by letter.
//     #[tool(name = "spell_out")]
//     async fn spell(&self, cx: &Cx, events: Events<String>, text: String) -> Result<()>;
//     /// One text.
//     #[resource(uri = "text://{id}", mime = "text/plain", watch)]
//     async fn text(&self, id: String, nums: Vec<f64>) -> Result<String>;
//     /// Says when a text changes.
//     #[subscription(resource = "text")]
//     async fn watch_text(&self, cx: &Cx, changed: Changes) -> Result<()>;
//     /// Asks for a review.
//     #[prompt]
//     async fn review(&self, text: String) -> Result<PromptMessages> { Ok(PromptMessages::user(text)) }
//     /// Languages to review in.
//     #[completion(prompt = "review", argument = "text")]
//     async fn complete_text(&self, value: String) -> Result<Vec<String>>;
//     /// A text was added.
//     #[notification]
//     fn text_added(added: Counted);
//     /// Forgets everything.
//     async fn reset(&self, all: bool) -> Result<u64>;
// }

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use switchboard_service::{Changes, Cx, Events, PromptMessages, Result, rt};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "a test")]
pub struct Counted {
    pub words: u32,
}

/// Texts and what is in them.
pub trait Texts: Send + Sync + 'static {
    /// Counts words.
    fn count(&self, text: String, most: Option<u32>) -> impl Future<Output = Result<Counted>> + Send;
    /// Spells a text, letter by letter.
    fn spell(&self, cx: &Cx, events: Events<String>, text: String)
    -> impl Future<Output = Result<()>> + Send;
    /// One text.
    fn text(&self, id: String, nums: Vec<f64>) -> impl Future<Output = Result<String>> + Send;
    /// Says when a text changes.
    fn watch_text(&self, cx: &Cx, changed: Changes) -> impl Future<Output = Result<()>> + Send;
    /// Asks for a review.
    fn review(&self, text: String) -> impl Future<Output = Result<PromptMessages>> + Send {
        async move { Ok(PromptMessages::user(text)) }
    }
    /// Languages to review in.
    fn complete_text(&self, value: String) -> impl Future<Output = Result<Vec<String>>> + Send;
    /// Forgets everything.
    fn reset(&self, all: bool) -> impl Future<Output = Result<u64>> + Send;
}

impl<T: Texts> Texts for Arc<T> {
    fn count(&self, text: String, most: Option<u32>) -> impl Future<Output = Result<Counted>> + Send {
        T::count(self, text, most)
    }
    fn spell(
        &self,
        cx: &Cx,
        events: Events<String>,
        text: String,
    ) -> impl Future<Output = Result<()>> + Send {
        T::spell(self, cx, events, text)
    }
    fn text(&self, id: String, nums: Vec<f64>) -> impl Future<Output = Result<String>> + Send {
        T::text(self, id, nums)
    }
    fn watch_text(&self, cx: &Cx, changed: Changes) -> impl Future<Output = Result<()>> + Send {
        T::watch_text(self, cx, changed)
    }
    fn review(&self, text: String) -> impl Future<Output = Result<PromptMessages>> + Send {
        T::review(self, text)
    }
    fn complete_text(&self, value: String) -> impl Future<Output = Result<Vec<String>>> + Send {
        T::complete_text(self, value)
    }
    fn reset(&self, all: bool) -> impl Future<Output = Result<u64>> + Send {
        T::reset(self, all)
    }
}

/// Serves [`Texts`].
#[derive(Debug)]
pub struct TextsServer<S>(Arc<S>);

impl TextsServer<()> {
    /// What the service is: no implementation is needed to know.
    pub fn design() -> &'static Arc<rt::design::Design> {
        design()
    }
}

impl<S: Texts> TextsServer<S> {
    /// Serves this.
    pub fn builder(service: S) -> rt::ServiceBuilder {
        rt::ServiceBuilder::new(Arc::new(Self(Arc::new(service))))
    }
}

// Everything below is inside a `const _: () = { … };`, so that its names are private.

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CountArgs {
    text: String,
    #[schemars(range(min = 1))]
    most: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpellArgs {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextArgs {
    id: String,
    nums: Vec<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReviewArgs {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct CompleteTextArgs {
    value: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResetArgs {
    all: bool,
}

fn design() -> &'static Arc<rt::design::Design> {
    static DESIGN: std::sync::LazyLock<Arc<rt::design::Design>> = std::sync::LazyLock::new(|| {
        Arc::new(
            rt::design::Design::new("texts", "1.0.0")
                .with_title("Texts and what is in them.")
                .with_rpc("/rpc")
                .with_tools([
                    rt::tool::<CountArgs, Counted>("count", "Counts words.", &["text", "most"])
                        .with_annotations(rt::protocol::ToolAnnotations::new().with_read_only_hint(true))
                        .with_example(rt::serde_json::json!({ "text": "two words" })),
                    rt::tool::<SpellArgs, ()>("spell", "Spells a text, letter by letter.", &["text"])
                        .with_name("spell_out")
                        .with_events(<String as rt::StreamEvent>::describe()),
                ])
                .with_resources([rt::resource::<TextArgs, String>(
                    "text",
                    "text://{id}",
                    "One text.",
                    &["id", "nums"],
                )
                .with_mime("text/plain")
                .with_watch(true)])
                .with_prompts([rt::prompt::<ReviewArgs>("review", "Asks for a review.", &["text"])])
                .with_watches([rt::design::WatchDef::new("text", "watch_text")
                    .with_description("Says when a text changes.")])
                .with_completions([rt::design::CompletionDef::new(
                    rt::design::CompletionTarget::Prompt("review".into()),
                    "text",
                    "complete_text",
                )])
                .with_notifications([rt::notification::<Counted>("text_added", "A text was added.")])
                .with_rpc_only([rt::method::<ResetArgs, u64>("reset", "Forgets everything.", &["all"])]),
        )
    });
    &DESIGN
}

impl<S: Texts> rt::Dispatch for TextsServer<S> {
    fn design(&self) -> &Arc<rt::design::Design> {
        design()
    }

    fn call_tool(&self, tool: usize, call: rt::Call) -> rt::CallFuture<rt::protocol::CallToolResult> {
        let service = Arc::clone(&self.0);
        match tool {
            0 => Box::pin(async move {
                let CountArgs { text, most } = call.args()?;
                rt::tool_result(service.count(text, most).await, &call)
            }),
            1 => Box::pin(async move {
                let SpellArgs { text } = call.args()?;
                rt::tool_result(service.spell(&call.cx, call.events(), text).await, &call)
            }),
            _ => rt::unknown_index(),
        }
    }

    fn read_resource(&self, resource: usize, call: rt::Call) -> rt::CallFuture<rt::Contents> {
        let service = Arc::clone(&self.0);
        match resource {
            0 => Box::pin(async move {
                let TextArgs { id, nums } = call.args()?;
                rt::contents(service.text(id, nums).await)
            }),
            _ => rt::unknown_index(),
        }
    }

    fn get_prompt(&self, prompt: usize, call: rt::Call) -> rt::CallFuture<rt::PromptMessages> {
        let service = Arc::clone(&self.0);
        match prompt {
            0 => Box::pin(async move {
                let ReviewArgs { text } = call.args()?;
                rt::plain(service.review(text).await)
            }),
            _ => rt::unknown_index(),
        }
    }

    fn watch(&self, watch: usize, cx: Cx, changes: Changes) -> rt::CallFuture<()> {
        let service = Arc::clone(&self.0);
        match watch {
            0 => Box::pin(async move { rt::plain(service.watch_text(&cx, changes).await) }),
            _ => rt::unknown_index(),
        }
    }

    fn complete(&self, completion: usize, call: rt::Call) -> rt::CallFuture<Vec<String>> {
        let service = Arc::clone(&self.0);
        match completion {
            0 => Box::pin(async move {
                let CompleteTextArgs { value } = call.args()?;
                rt::plain(service.complete_text(value).await)
            }),
            _ => rt::unknown_index(),
        }
    }

    // Written only when the design has `rpc`; without it the trait's own body says that there is no such method.
    fn call_method(&self, rust_name: &str, call: rt::Call) -> Option<rt::CallFuture<rt::protocol::Raw>> {
        let service = Arc::clone(&self.0);
        Some(match rust_name {
            "count" => Box::pin(async move {
                let CountArgs { text, most } = call.args()?;
                rt::json(service.count(text, most).await)
            }),
            "spell" => Box::pin(async move {
                let SpellArgs { text } = call.args()?;
                rt::json(service.spell(&call.cx, call.events(), text).await)
            }),
            "text" => Box::pin(async move {
                let TextArgs { id, nums } = call.args()?;
                rt::json(service.text(id, nums).await)
            }),
            "review" => Box::pin(async move {
                let ReviewArgs { text } = call.args()?;
                rt::json(service.review(text).await)
            }),
            "reset" => Box::pin(async move {
                let ResetArgs { all } = call.args()?;
                rt::json(service.reset(all).await)
            }),
            // Every method that is neither a subscription, a completion nor internal.
            _ => return None,
        })
    }
}

/// Publishes the events of [`TextsServer`].
#[derive(Debug, Clone)]
pub struct TextsEvents(rt::EventPublisher);

impl TextsEvents {
    /// A pair: one end to publish with, the other for the server's builder. Each listener may be behind by `capacity`.
    pub fn channel(capacity: usize) -> (Self, rt::EventFeed) {
        let (handle, feed) = rt::EventPublisher::channel(capacity);
        (Self(handle), feed)
    }

    /// A text was added.
    pub fn text_added(&self, added: &Counted) {
        self.0.publish("text_added", added);
    }
}

impl std::ops::Deref for TextsEvents {
    type Target = rt::EventPublisher;

    // `resource_changed(uri)`, `tools_changed()` and the like.
    fn deref(&self) -> &rt::EventPublisher {
        &self.0
    }
}

// From here on within `rt::if_client! { … }`.

/// Calls [`Texts`] over MCP.
#[derive(Debug, Clone)]
pub struct TextsClient<F = ()> {
    caller: rt::ServiceCaller,
    fallback: F,
}

impl TextsClient {
    /// Calls over this session.
    pub fn new(session: impl Into<rt::ClientSession>) -> Self {
        Self { caller: rt::ServiceCaller::new(session.into(), Arc::clone(design())), fallback: () }
    }
}

impl<F> TextsClient<F> {
    /// Calls methods without a role in MCP through this.
    pub fn with_fallback<G>(self, fallback: G) -> TextsClient<G> {
        TextsClient { caller: self.caller, fallback }
    }

    /// What calls.
    pub fn caller(&self) -> &rt::ServiceCaller {
        &self.caller
    }

    /// Spells a text, letter by letter. The events and the result as one stream.
    pub fn spell_stream(&self, cx: &Cx, text: String) -> rt::CallStream<String, ()> {
        let args = rt::CallArguments::new().with("text", &text);
        self.caller.stream(1, args, Some(cx))
    }
}

/// What [`TextsClient`] needs for methods without a role in MCP.
#[diagnostic::on_unimplemented(
    message = "`Texts` has methods that are not mapped to MCP",
    note = "not exposed over MCP: reset",
    note = "pass a client for the original transport with `.with_fallback(..)`"
)]
pub trait TextsUnmapped: Send + Sync + 'static {
    #[doc(hidden)]
    fn __unmapped_reset(&self, all: bool) -> impl Future<Output = Result<u64>> + Send;
}

impl<T: Texts> TextsUnmapped for Arc<T> {
    fn __unmapped_reset(&self, all: bool) -> impl Future<Output = Result<u64>> + Send {
        T::reset(self, all)
    }
}

impl<F: TextsUnmapped> Texts for TextsClient<F> {
    fn count(&self, text: String, most: Option<u32>) -> impl Future<Output = Result<Counted>> + Send {
        let args = rt::CallArguments::new().with("text", &text).with("most", &most);
        self.caller.tool(0, args, None, None)
    }
    fn spell(
        &self,
        cx: &Cx,
        events: Events<String>,
        text: String,
    ) -> impl Future<Output = Result<()>> + Send {
        let args = rt::CallArguments::new().with("text", &text);
        self.caller.tool(1, args, Some(cx), Some(events.into_sink()))
    }
    fn text(&self, id: String, nums: Vec<f64>) -> impl Future<Output = Result<String>> + Send {
        let args = rt::CallArguments::new().with("id", &id).with("nums", &nums);
        self.caller.resource(0, args, None)
    }
    fn watch_text(&self, cx: &Cx, changed: Changes) -> impl Future<Output = Result<()>> + Send {
        self.caller.watch(0, Some(cx), changed)
    }
    fn review(&self, text: String) -> impl Future<Output = Result<PromptMessages>> + Send {
        let args = rt::CallArguments::new().with("text", &text);
        self.caller.prompt(0, args, None)
    }
    fn complete_text(&self, value: String) -> impl Future<Output = Result<Vec<String>>> + Send {
        let args = rt::CallArguments::new().with("value", &value);
        self.caller.complete(0, args, None)
    }
    fn reset(&self, all: bool) -> impl Future<Output = Result<u64>> + Send {
        self.fallback.__unmapped_reset(all)
    }
}

// Written when the design has `rpc`.
rt::if_rpc! {
    /// Calls [`Texts`] over its plain endpoint.
    #[derive(Debug, Clone)]
    pub struct TextsRpcClient(rt::RpcCaller);

    impl TextsRpcClient {
        /// Calls the service at this address, such as `https://example.com/rpc`.
        pub fn new(url: &str) -> Result<Self, rt::design::Error> {
            Ok(Self(rt::RpcCaller::new(url, Arc::clone(design()))?))
        }

        /// Calls through this, which was set up for the same design.
        pub fn with_caller(caller: rt::RpcCaller) -> Self {
            Self(caller)
        }

        /// What calls.
        pub fn caller(&self) -> &rt::RpcCaller {
            &self.0
        }
    }

    impl TextsUnmapped for TextsRpcClient {
        fn __unmapped_reset(&self, all: bool) -> impl Future<Output = Result<u64>> + Send {
            Texts::reset(self, all)
        }
    }

    impl Texts for TextsRpcClient {
        fn count(&self, text: String, most: Option<u32>) -> impl Future<Output = Result<Counted>> + Send {
            let args = rt::CallArguments::new().with("text", &text).with("most", &most);
            self.0.method("count", args, None)
        }
        fn spell(
            &self,
            cx: &Cx,
            events: Events<String>,
            text: String,
        ) -> impl Future<Output = Result<()>> + Send {
            let args = rt::CallArguments::new().with("text", &text);
            self.0.streaming("spell", args, Some(cx), events.into_sink())
        }
        fn text(&self, id: String, nums: Vec<f64>) -> impl Future<Output = Result<String>> + Send {
            let args = rt::CallArguments::new().with("id", &id).with("nums", &nums);
            self.0.method("text", args, None)
        }
        // Subscriptions, completions and internal methods are not available over the plain endpoint.
        fn watch_text(&self, _: &Cx, _: Changes) -> impl Future<Output = Result<()>> + Send {
            self.0.unmapped("watch_text")
        }
        fn review(&self, text: String) -> impl Future<Output = Result<PromptMessages>> + Send {
            let args = rt::CallArguments::new().with("text", &text);
            self.0.method("review", args, None)
        }
        fn complete_text(&self, _: String) -> impl Future<Output = Result<Vec<String>>> + Send {
            self.0.unmapped("complete_text")
        }
        fn reset(&self, all: bool) -> impl Future<Output = Result<u64>> + Send {
            let args = rt::CallArguments::new().with("all", &all);
            self.0.method("reset", args, None)
        }
    }
}

// Within `rt::if_cli! { … }`: `pub struct TextsCli; impl TextsCli { pub fn command() -> rt::clap::Command
// { rt::command(design()) } pub async fn run() -> std::process::ExitCode { rt::run_cli(design()).await } }`

/// The service implementation.
#[derive(Debug)]
pub struct Svc;

impl Texts for Svc {
    async fn count(&self, text: String, most: Option<u32>) -> Result<Counted> {
        let words = u32::try_from(text.split_whitespace().count())?;
        Ok(Counted { words: most.map_or(words, |most| words.min(most)) })
    }
    async fn spell(&self, _: &Cx, events: Events<String>, text: String) -> Result<()> {
        for letter in text.chars() {
            events.send(letter.to_string()).await?;
        }
        Ok(())
    }
    async fn text(&self, id: String, _: Vec<f64>) -> Result<String> {
        Ok(id)
    }
    async fn watch_text(&self, _: &Cx, _: Changes) -> Result<()> {
        Ok(())
    }
    async fn complete_text(&self, value: String) -> Result<Vec<String>> {
        Ok(vec![value])
    }
    async fn reset(&self, _: bool) -> Result<u64> {
        Ok(7)
    }
}

#[tokio::test]
async fn a_typed_client_calls_a_service() {
    let server = TextsServer::builder(Svc).build().unwrap();
    let session = switchboard_session::Client::new()
        .connect(switchboard_session::server::InProcess::new(&server))
        .await;
    let api = TextsClient::new(session.unwrap()).with_fallback(Arc::new(Svc));
    assert_eq!(api.count("two words".into(), None).await.unwrap(), Counted { words: 2 });
    assert_eq!(api.reset(true).await.unwrap(), 7);
}
