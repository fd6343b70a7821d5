//! A trait with every role, as the macro makes it a server and a client: what a method is asked and answers is the same
//! whether it is called directly, through a pointer or over a session.
#![cfg(feature = "service-client")]
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::sync::Arc;

use switchboard::service::prelude::*;
use switchboard::{Client, InProcess};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Counted {
    words: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Query {
    /// What to look for.
    text: String,
    limit: Option<u32>,
}

/// Texts and what is in them.
///
/// Count before you spell.
#[service(
    name = "texts",
    version = "1.0.0",
    rpc = "/rpc",
    protocols("2025-11-25", "2026-07-28"),
    dyn_compatible
)]
trait Texts {
    /// Counts words.
    ///
    /// As blanks part them.
    #[tool(read_only, destructive = false, example = { "text": "two words" }, tags("a", "b"), since = "0.9")]
    async fn count(
        &self,
        /// What to count in.
        #[schemars(length(min = 1))]
        text: String,
        #[schemars(range(min = 1))] most: Option<u32>,
    ) -> Result<Counted>;
    /// Spells a text, letter by letter.
    #[tool(name = "spell_out", scopes("texts:spell"), deprecated = "Spell yourself.")]
    async fn spell(&self, cx: &Cx, events: Events<String>, text: String) -> Result<()>;
    /// Looks for a text.
    #[tool(title = "Search", icon = "https://example.com/a.png", icon = "https://example.com/b.png")]
    async fn search(&self, #[args] query: Query) -> Result<Vec<String>>;
    /// Repeats a text.
    #[tool]
    async fn repeat(
        &self,
        #[serde(rename = "type")] kind: String,
        #[arg(default = 2)] times: u32,
        #[serde(default)] loud: bool,
        #[header("Region")] region: Option<String>,
    ) -> Result<String> {
        let region = region.unwrap_or_default();
        Ok(format!("{}{loud}{region}", kind.repeat(times as usize)))
    }
    /// Burns time.
    #[tool(blocking)]
    async fn burn(&self) -> Result<bool>;
    /// One text.
    #[resource(uri = "text://{id}", mime = "text/plain", watch, ttl = "30s", cache = "private")]
    async fn text(&self, id: String, nums: Vec<f64>) -> Result<String>;
    /// The state of it all.
    #[resource("state://all", watch)]
    async fn state(&self) -> Result<Counted>;
    /// Says when a text changes.
    #[subscription(resource = "text")]
    async fn watch_text(&self, cx: &Cx, changed: Changes) -> Result<()>;
    /// Asks for a review.
    #[prompt(example = { "text": "my text" })]
    async fn review(&self, text: String) -> Result<PromptMessages> {
        Ok(PromptMessages::user(text))
    }
    /// Says hello.
    #[prompt(name = "hello", text = "Say hello.")]
    async fn say_hello(&self) -> Result<PromptMessages>;
    /// Texts to review.
    #[completion(prompt = "review", argument = "text")]
    async fn complete_text(&self, value: String) -> Result<Vec<String>>;
    /// A text was added.
    #[notification(name = "added")]
    fn text_added(added: Counted);
    /// Forgets everything.
    async fn reset(&self, all: bool) -> Result<u64>;
    #[internal]
    async fn inside(&self) -> Result<()>;
}

struct Svc;

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
    async fn search(&self, query: Query) -> Result<Vec<String>> {
        Ok(vec![query.text])
    }
    async fn burn(&self) -> Result<bool> {
        Ok(std::thread::current().name().is_some_and(|name| name.starts_with("tokio")))
    }
    async fn text(&self, id: String, nums: Vec<f64>) -> Result<String> {
        Ok(format!("{id}{nums:?}"))
    }
    async fn state(&self) -> Result<Counted> {
        Ok(Counted { words: 3 })
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
    async fn inside(&self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn the_design_says_what_the_trait_says() {
    let design = TextsServer::design();
    assert_eq!(TextsServer::DEFAULT_PROTOCOL_VERSION, "2025-11-25");
    design.check().unwrap();
    let json = serde_json::to_value(&**design).unwrap();
    let says = |pointer: &str| json.pointer(pointer).cloned().unwrap_or_default();
    for (pointer, expected) in [
        ("/name", json!("texts")),
        ("/version", json!("1.0.0")),
        ("/description", json!("Texts and what is in them.")),
        ("/instructions", json!("Count before you spell.")),
        ("/rpc", json!("/rpc")),
        ("/protocols", json!(["2025-11-25", "2026-07-28"])),
        ("/tools/0/description", json!("Counts words.\n\nAs blanks part them.")),
        ("/tools/0/annotations", json!({"readOnlyHint": true, "destructiveHint": false})),
        ("/tools/0/example", json!({"text": "two words"})),
        ("/tools/0/tags", json!(["a", "b"])),
        ("/tools/0/since", json!("0.9")),
        ("/tools/0/args/order", json!(["text", "most"])),
        ("/tools/0/args/schema/required", json!(["text"])),
        ("/tools/0/args/schema/properties/text/description", json!("What to count in.")),
        ("/tools/0/args/schema/properties/text/minLength", json!(1)),
        ("/tools/0/args/schema/properties/most/minimum", json!(1)),
        ("/tools/1/name", json!("spell_out")),
        ("/tools/1/rustName", json!("spell")),
        ("/tools/1/scopes", json!(["texts:spell"])),
        ("/tools/1/deprecated", json!("Spell yourself.")),
        ("/tools/1/events/type", json!("string")),
        ("/tools/2/title", json!("Search")),
        ("/tools/2/icons/1/src", json!("https://example.com/b.png")),
        ("/tools/2/args/schema/properties/text/description", json!("What to look for.")),
        ("/tools/3/args/schema/required", json!(["type"])),
        ("/tools/3/args/schema/properties/times/default", json!(2)),
        ("/tools/3/args/schema/properties/loud/default", json!(false)),
        ("/tools/3/args/schema/properties/region/x-mcp-header", json!("Region")),
        ("/resources/0/uri", json!("text://{id}")),
        ("/resources/0/mime", json!("text/plain")),
        ("/resources/0/watch", json!(true)),
        ("/resources/0/ttlMs", json!(30_000)),
        ("/resources/0/cacheScope", json!("private")),
        ("/resources/0/params/1/repeated", json!(true)),
        ("/resources/1/name", json!("state")),
        (
            "/watches/0",
            json!({"resource": "text", "rustName": "watch_text", "description": "Says when a text changes."}),
        ),
        ("/prompts/0/example", json!({"text": "my text"})),
        ("/prompts/1/name", json!("hello")),
        ("/prompts/1/body/messages/0/text", json!("Say hello.")),
        ("/completions/0/argument", json!("text")),
        ("/notifications/0/name", json!("added")),
        ("/notifications/0/rustName", json!("text_added")),
        ("/rpcOnly/0/name", json!("reset")),
        ("/rpcOnly/1/scope", json!("internal")),
    ] {
        assert_eq!(says(pointer), expected, "{pointer}");
    }
}

/// The same calls against anything that is the trait.
async fn use_texts(texts: &impl Texts) {
    assert_eq!(texts.count("two words".into(), None).await.unwrap(), Counted { words: 2 });
    assert_eq!(texts.count("two words".into(), Some(1)).await.unwrap(), Counted { words: 1 });
    let query = Query { text: "a".into(), limit: None };
    assert_eq!(texts.search(query).await.unwrap(), ["a"]);
    assert_eq!(texts.repeat("ab".into(), 3, true, Some("eu".into())).await.unwrap(), "abababtrueeu");
    assert_eq!(texts.reset(true).await.unwrap(), 7);
}

#[tokio::test]
async fn a_service_is_the_same_directly_shared_and_behind_a_pointer() {
    use_texts(&Svc).await;
    use_texts(&Arc::new(Svc)).await;
    let boxed: Box<dyn DynTexts> = Box::new(Svc);
    use_texts(&boxed).await;
    assert_eq!(boxed.say_hello().await.unwrap(), PromptMessages::user("Say hello."));
}

#[tokio::test]
async fn a_typed_client_calls_the_service_over_a_session() {
    let server = TextsServer::builder(Svc).build().unwrap();
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    let texts = TextsClient::new(session).with_fallback(Arc::new(Svc));
    use_texts(&texts).await;
    assert!(texts.burn().await.unwrap(), "a blocking tool has a thread of its own");
}

#[tokio::test]
async fn defaults_are_taken_and_what_is_unknown_is_refused() {
    let server = TextsServer::builder(Svc).build().unwrap();
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    let result = session.call_tool("repeat", json!({"type": "x"})).await.unwrap();
    assert_eq!(result.text(), "xxfalse");
    let result = session.call_tool("count", json!({"text": "x", "mots": 3})).await.unwrap();
    assert!(result.is_error);
}

/// An application that uses `anyhow`, as many do.
fn greets(name: &str) -> anyhow::Result<String> {
    let greeting: switchboard::service::Result<String> = match name {
        "" => Err(switchboard::service::Error::tool("nobody", "nobody to greet")),
        name => Ok(format!("hello {name}")),
    };
    Ok(greeting?)
}

#[test]
fn a4_an_error_becomes_an_anyhow_error_and_a_standard_error() {
    assert_eq!(greets("Ada").unwrap(), "hello Ada");
    let error = greets("").unwrap_err();
    assert_eq!(error.to_string(), "nobody to greet");
    let standard = switchboard::service::Error::tool("nobody", "nobody to greet").into_std();
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(standard);
    assert_eq!(boxed.to_string(), "nobody to greet");
    // The blanket conversion stays: any standard error becomes one of ours.
    let ours: switchboard::service::Error = std::io::Error::other("disk").into();
    assert!(ours.downcast_ref::<std::io::Error>().is_some());
}
