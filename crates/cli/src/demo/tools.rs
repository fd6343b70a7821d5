//! Tools of the demo server: fast and slow, with structured content, with images, failing, asking, and one that is
//! hidden.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard::json;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, Level, ListToolsResult, Raw, Resource, RpcError, Tool,
    ToolAnnotations,
};
use switchboard::server::{HandlerOutcome, Reply, RequestContext};

use crate::demo::questions;
use crate::demo::server::DemoState;

/// PNG image of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Name, description and input schema. Schemas are text to keep the order of members.
const TOOLS: [(&str, &str, &str); 10] = [
    (
        "echo",
        "Says the same again.",
        r#"{"type":"object","properties":{"text":{"type":"string","description":"What to say"},"loud":{"type":"boolean","description":"In capitals","default":false}},"required":["text"]}"#,
    ),
    (
        "add",
        "Adds two numbers, and gives the sum as data.",
        r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#,
    ),
    (
        "weather",
        "Makes up the weather of a city. The same city always has the same weather.",
        r#"{"type":"object","properties":{"city":{"enum":["oslo","rome","tokyo"],"description":"Where"},"days":{"type":"integer","minimum":1,"maximum":5,"description":"How many days ahead; one unless said"}},"required":["city"]}"#,
    ),
    (
        "countdown",
        "Counts down and reports progress at every step. Slow on purpose: cancel it if you like.",
        r#"{"type":"object","properties":{"from":{"type":"integer","minimum":1,"maximum":1000},"interval_ms":{"type":"integer","minimum":0,"maximum":60000,"description":"Between two steps; 500 unless said"}},"required":["from"]}"#,
    ),
    (
        "tag",
        "Joins words into hash tags.",
        r#"{"type":"object","properties":{"words":{"type":"array","items":{"type":"string"},"description":"One or more"}},"required":["words"]}"#,
    ),
    (
        "order_pizza",
        "Orders a pizza, after asking the user what should be on it. Nothing is delivered.",
        r#"{"type":"object","properties":{}}"#,
    ),
    (
        "link_account",
        "Asks the user to visit a page, as a server does that needs a login elsewhere.",
        r#"{"type":"object","properties":{}}"#,
    ),
    ("postcard", "Gives a picture, and a link to a resource.", r#"{"type":"object","properties":{}}"#),
    (
        "fail",
        "Fails, and says so in its result.",
        r#"{"type":"object","properties":{"reason":{"type":"string"}}}"#,
    ),
    (
        "toggle_surprise",
        "Shows or hides one more tool, and notifies clients that the list has changed.",
        r#"{"type":"object","properties":{}}"#,
    ),
];

/// The tool that is listed only after `toggle_surprise`.
const SURPRISE: (&str, &str, &str) = ("surprise", "You found it.", r#"{"type":"object","properties":{}}"#);
const SUM: &str = r#"{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}"#;

pub(crate) fn list(state: &DemoState) -> ListToolsResult {
    let hidden = state.has_surprise().then_some(SURPRISE);
    ListToolsResult::new(TOOLS.into_iter().chain(hidden).map(tool).collect::<Vec<_>>())
}

fn tool((name, description, schema): (&str, &str, &'static str)) -> Tool {
    let read = |text: &'static str| Raw::parse(text).unwrap_or_else(|_| Raw::empty_object());
    let tool = Tool::new(name, read(schema)).with_description(description);
    match name {
        "add" => tool.with_output_schema(read(SUM)).with_annotations(reads_only()),
        "echo" | "weather" | "tag" | "postcard" => tool.with_annotations(reads_only()),
        _ => tool,
    }
}

fn reads_only() -> ToolAnnotations {
    ToolAnnotations::new().with_read_only_hint(true).with_open_world_hint(false)
}

pub(crate) fn call(state: Arc<DemoState>, params: CallToolParams, cx: RequestContext) -> HandlerOutcome {
    let CallToolParams { name, arguments, .. } = params;
    let arguments = arguments.unwrap_or_else(Raw::empty_object);
    cx.log(Level::Info, Some("demo"), format!("{name} was called"));
    match name.as_str() {
        "echo" => answer(&name, &arguments, echo),
        "add" => answer(&name, &arguments, add),
        "weather" => answer(&name, &arguments, weather),
        "tag" => answer(&name, &arguments, tag),
        "fail" => answer(&name, &arguments, fail),
        "postcard" => HandlerOutcome::now(postcard()),
        "countdown" => match decode_arguments::<Countdown>(&name, &arguments) {
            Ok(arguments) => HandlerOutcome::later(countdown(arguments, cx)),
            Err(message) => HandlerOutcome::now(CallToolResult::error(message)),
        },
        "order_pizza" => HandlerOutcome::later(questions::order_pizza(cx)),
        "link_account" => HandlerOutcome::later(questions::link_account(cx)),
        "toggle_surprise" => {
            let text =
                if state.toggle_surprise() { "The surprise is there." } else { "The surprise is gone." };
            HandlerOutcome::now(CallToolResult::new([Content::text(text)]))
        }
        "surprise" if state.has_surprise() => HandlerOutcome::now(CallToolResult::new([Content::text("🎉")])),
        _ => HandlerOutcome::error(RpcError::invalid_params(format!("Unknown tool: {name}"))),
    }
}

fn answer<A: DeserializeOwned>(name: &str, arguments: &Raw, tool: fn(A) -> CallToolResult) -> HandlerOutcome {
    HandlerOutcome::now(match decode_arguments(name, arguments) {
        Ok(arguments) => tool(arguments),
        Err(message) => CallToolResult::error(message),
    })
}

/// Decodes the arguments; errors become tool errors, so that a model can correct its call.
fn decode_arguments<A: DeserializeOwned>(name: &str, arguments: &Raw) -> Result<A, String> {
    arguments.decode().map_err(|error| {
        let schema =
            TOOLS.iter().find(|(known, ..)| *known == name).map(|(.., schema)| *schema).unwrap_or_default();
        format!("The arguments of {name} do not fit: {error}. They are: {schema}")
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Echo {
    text: String,
    #[serde(default)]
    loud: bool,
}

fn echo(Echo { text, loud }: Echo) -> CallToolResult {
    CallToolResult::new([Content::text(if loud { text.to_uppercase() } else { text })])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: serde_json::Number,
    b: serde_json::Number,
}

fn add(Add { a, b }: Add) -> CallToolResult {
    let whole =
        a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b)).map(|sum| json!({ "sum": sum }));
    let parts = || a.as_f64().zip(b.as_f64()).map(|(a, b)| json!({ "sum": a + b }));
    match whole.or_else(parts).filter(|sum| !sum["sum"].is_null()) {
        Some(sum) => CallToolResult::new([Content::text(sum.to_string())]).with_structured_content(sum),
        None => CallToolResult::error("The sum is too large to be a number."),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Weather {
    city: City,
    #[serde(default)]
    days: Option<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum City {
    Oslo,
    Rome,
    Tokyo,
}

fn weather(Weather { city, days }: Weather) -> CallToolResult {
    const SKIES: [&str; 4] = ["sunny", "windy", "cloudy", "raining"];
    let days = days.unwrap_or(1);
    if !(1..=5).contains(&days) {
        return CallToolResult::error("`days` must be from 1 to 5.");
    }
    let (first, warmth) = match city {
        City::Oslo => (2, 7),
        City::Rome => (0, 24),
        City::Tokyo => (1, 18),
    };
    let day =
        |day: u8| format!("day {}: {}, {}°C", day + 1, SKIES[(first + usize::from(day)) % 4], warmth + day);
    CallToolResult::new([Content::text((0..days).map(day).collect::<Vec<_>>().join("\n"))])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tags {
    words: Vec<String>,
}

fn tag(Tags { words }: Tags) -> CallToolResult {
    if words.is_empty() {
        return CallToolResult::error("`words` must have at least one word.");
    }
    let tags: Vec<String> = words.iter().map(|word| format!("#{word}")).collect();
    CallToolResult::new([Content::text(tags.join(" "))])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fail {
    #[serde(default)]
    reason: Option<String>,
}

fn fail(Fail { reason }: Fail) -> CallToolResult {
    CallToolResult::error(reason.unwrap_or_else(|| "This tool always fails.".to_owned()))
}

fn postcard() -> CallToolResult {
    let link = Resource::new("demo://city/rome", "Rome").with_mime_type("text/plain");
    CallToolResult::new([
        Content::text("Greetings!"),
        Content::image(PIXEL, "image/png"),
        Content::link(link),
    ])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Countdown {
    from: u32,
    #[serde(default)]
    interval_ms: Option<u64>,
}

/// Counts down; cancellation drops the future.
async fn countdown(Countdown { from, interval_ms }: Countdown, cx: RequestContext) -> Reply {
    let step = Duration::from_millis(interval_ms.unwrap_or(500));
    if !(1..=1000).contains(&from) || step > Duration::from_secs(60) {
        let message = "`from` must be from 1 to 1000, `interval_ms` from 0 to 60000.";
        return Ok(CallToolResult::error(message).into());
    }
    for done in 0..from {
        cx.progress(f64::from(done), Some(f64::from(from)), Some(&format!("{} to go", from - done)));
        tokio::time::sleep(step).await;
    }
    cx.progress(f64::from(from), Some(f64::from(from)), Some("lift-off"));
    Ok(CallToolResult::new([Content::text("Lift-off!")]).into())
}
