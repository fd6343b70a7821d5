//! Clients written with the SDKs of others use the assistant, a service that is a trait: all of it, in both eras, over
//! HTTP and over pipes. They must see the same, but for what an SDK cannot do or tells in its own way.

use std::process::Stdio;

use serde_json::{Value, json};
use switchboard_testkit::Failed;
use tokio::process::Command;

use crate::interop::listening::{self, Listening};
use crate::interop::peer::{Mark, place};
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("typescript_uses_the_assistant_over_http_in_the_modern_era", || uses(Typescript, "modern", Over::Http)),
    ("typescript_uses_the_assistant_over_http_in_the_legacy_era", || uses(Typescript, "legacy", Over::Http)),
    ("typescript_uses_the_assistant_over_pipes_in_the_modern_era", || {
        uses(Typescript, "modern", Over::Pipes)
    }),
    ("typescript_uses_the_assistant_over_pipes_in_the_legacy_era", || {
        uses(Typescript, "legacy", Over::Pipes)
    }),
    ("typescript_uses_the_assistant_over_pipes_and_finds_our_era", || uses(Typescript, "auto", Over::Pipes)),
    ("python_uses_the_assistant_over_http_in_the_modern_era", || uses(Python, "modern", Over::Http)),
    ("python_uses_the_assistant_over_http_in_the_legacy_era", || uses(Python, "legacy", Over::Http)),
    ("python_uses_the_assistant_over_pipes_in_the_modern_era", || uses(Python, "modern", Over::Pipes)),
    ("python_uses_the_assistant_over_pipes_in_the_legacy_era", || uses(Python, "legacy", Over::Pipes)),
    ("python_uses_the_assistant_over_pipes_and_finds_our_era", || uses(Python, "auto", Over::Pipes)),
    ("rmcp_uses_the_assistant_over_http_in_the_modern_era", || uses(Rmcp, "modern", Over::Http)),
    ("rmcp_uses_the_assistant_over_http_in_the_legacy_era", || uses(Rmcp, "legacy", Over::Http)),
    ("rmcp_uses_the_assistant_over_pipes_in_the_modern_era", || uses(Rmcp, "modern", Over::Pipes)),
    ("rmcp_uses_the_assistant_over_pipes_in_the_legacy_era", || uses(Rmcp, "legacy", Over::Pipes)),
    ("rmcp_uses_the_assistant_over_pipes_and_finds_our_era", || uses(Rmcp, "auto", Over::Pipes)),
];

/// Whose library the client is written with.
#[derive(Clone, Copy, PartialEq)]
enum Sdk {
    Typescript,
    Python,
    Rmcp,
}

use Sdk::{Python, Rmcp, Typescript};

#[derive(Clone, Copy, PartialEq)]
enum Over {
    Http,
    Pipes,
}

impl Sdk {
    fn client(self) -> Command {
        match self {
            Typescript => {
                let mut command = Command::new("node");
                command.arg(place("SWITCHBOARD_INTEROP_NODE").join("assistant-client.mjs"));
                command
            }
            Python => listening::python("assistant_client.py"),
            Rmcp => Command::new(place("SWITCHBOARD_INTEROP_RMCP_ASSISTANT_CLIENT")),
        }
    }
}

fn uses(sdk: Sdk, era: &'static str, over: Over) -> Result<(), Failed> {
    block_on(async move {
        let mut client = sdk.client();
        client.args(["--era", era]);
        let mut seen = match over {
            Over::Http => {
                let server = Listening::assistant().await;
                let seen = saw(client.args(["--url", server.url()])).await;
                server.stop().await;
                seen
            }
            Over::Pipes => {
                let server = place("SWITCHBOARD_INTEROP_ASSISTANT");
                saw(client.arg("--").arg(server).args(["serve", "--stdio"])).await
            }
        };
        v8_progress_is_a_count(&mut seen);
        let expected = expected(sdk, era);
        for (key, value) in &expected {
            assert_eq!(seen.get(key), Some(value), "{key}");
        }
        let unexpected: Vec<_> = seen.keys().filter(|key| !expected.contains_key(*key)).collect();
        assert!(unexpected.is_empty(), "{unexpected:?}");
    })
}

type Object = serde_json::Map<String, Value>;

/// Runs the client to its end, after which nothing of what it started is left.
async fn saw(client: &mut Command) -> Object {
    let mark = Mark::new();
    let output = client
        .env(Mark::VARIABLE, mark.text())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("the client starts");
    mark.gone().await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    // What the server says on stderr comes here too, over pipes.
    assert_eq!(errors, "", "somebody complained");
    serde_json::from_slice(&output.stdout).expect("one line of JSON, an object")
}

/// Progress of a stream is a count of its items, as often as the server tells; the items themselves are in the result.
fn v8_progress_is_a_count(seen: &mut Object) {
    let progress = seen.remove("progress").unwrap_or_default();
    // Over pipes the TypeScript SDK loses progress that comes in one piece with the answer.
    seen.remove("dropped");
    let mut last = 0.0;
    for told in progress.as_array().expect("a list") {
        let count = told[0].as_f64().expect("a number");
        assert!(count > last && count <= 3.0 && count.fract() == 0.0, "{progress}");
        assert_eq!(told[1], format!("{count} items so far"), "{progress}");
        last = count;
    }
}

/// All that a client sees, but for progress.
fn expected(sdk: Sdk, era: &str) -> Object {
    let modern = era != "legacy";
    // Told the revision, Python's client asks nobody, and does not learn a name.
    let introduced = (sdk, era) != (Python, "modern");
    let name = introduced.then_some("assistant-mcp");
    let instructions = introduced.then_some(
        "Search the knowledge base before answering from memory. Ask before code is run; the service does so itself.",
    );
    // The TypeScript SDK tells the code of the older revisions for a resource that is not there as the newer one.
    let no_resource = if modern || sdk == Typescript { -32602 } else { -32002 };
    let fields = json!({
        "ok": {"type": "boolean", "description": "Really run it?"},
        "reason": {"type": "string", "description": "Why, or why not"},
    });
    let text = |uri: &str, mime: &str, text: &str| json!([{"uri": uri, "mimeType": mime, "text": text}]);
    let data = |uri: &str, data: &str| text(uri, "application/json", data);
    let expected = json!({
        "protocolVersion": if modern { "2026-07-28" } else { "2025-11-25" },
        "server": name,
        "instructions": instructions,
        "tools": [
            "analyze_sentiment", "extract_keywords", "summarize_text", "search_knowledge", "execute_code",
            "process_batch", "rebuild_index",
        ],
        "outputs": [
            "analyze_sentiment", "extract_keywords", "search_knowledge", "execute_code", "process_batch",
            "rebuild_index",
        ],
        "accepted": 7,
        "sentiment": {"sentiment": "positive", "score": 0.9},
        "summary": ["One. Two."],
        // Four documents hold the word; three are given unless more are asked for.
        "search": {"hits": [
            {"uri": "doc://rust", "title": "Rust"},
            {"uri": "doc://tokio", "title": "Tokio"},
            {"uri": "doc://mcp", "title": "Model Context Protocol"},
        ]},
        "wrong": {
            "isError": true,
            "text": ["Invalid arguments: `limit` must be at most 100; got 1000"],
        },
        "unknown": -32602,
        "asked": [
            {"message": "Run this Python code?", "fields": fields},
            {"message": "Run this JavaScript code?", "fields": fields},
        ],
        "executed": {"output": "8 characters of Python were run", "sandbox": 1},
        "refused": {"isError": true, "text": ["The user declined."]},
        // D2: every item of the stream, then the result.
        "batch": {"data": {"count": 3}, "text": [
            r#"{"item":"a","number":0}"#, r#"{"item":"b","number":1}"#, r#"{"item":"c","number":2}"#,
            r#"{"count":3}"#,
        ]},
        "broken": {"isError": true, "text": ["a is done", "Item 1 cannot be processed."]},
        "cancelled": true,
        "late": 0,
        "rebuilt": {"steps": 2},
        "resources": ["doc://list", "status://system", "conversation://history"],
        "templates": ["doc://{id}", "conversation://history{?limit,flag,nums*}"],
        "documents": data(
            "doc://list",
            concat!(
                r#"{"documents":[{"uri":"doc://rust","title":"Rust"},{"uri":"doc://tokio","title":"Tokio"},"#,
                r#"{"uri":"doc://mcp","title":"Model Context Protocol"},{"uri":"doc://serde","title":"Serde"}]}"#,
            ),
        ),
        "rust": text(
            "doc://rust",
            "text/markdown",
            "# Rust\n\nA language for reliable and fast software.",
        ),
        "history": data(
            "conversation://history?limit=2&nums=1",
            r#"{"limit":2,"flag":false,"nums":[1.0],"messages":["Message 0","Message 1"]}"#,
        ),
        "missing": no_resource,
        "nowhere": no_resource,
        "prompts": [["code_review", "code"], ["contextual_prompts", "context", "task"]],
        "review": [["user", "Review this code and suggest improvements.\n\nfn main() {}"]],
        "contextual": [
            ["user", "Explain, step by step, something about Rust."],
            ["assistant", "Where should I begin?"],
        ],
        "incomplete": -32602,
        "completed": ["Rust"],
        "status": data("status://system", r#"{"status":"ok","changes":0}"#),
        "subscribed": ["status://system"],
        "errors": [],
    });
    let Value::Object(mut expected) = expected else { unreachable!("it is written as one") };
    // Of the three only rmcp knows tasks, and only in the newest revision.
    if sdk == Rmcp && modern {
        expected.insert(
            "tasks".into(),
            json!({"done": ["completed", {"steps": 2}], "gone": ["cancelled", null]}),
        );
    }
    expected
}
