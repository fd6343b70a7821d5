//! A small service for these tests, implemented without the macro.

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_design::{MethodDef, ParamDef, ParamKind};
use switchboard_protocol::{BooleanField, CallToolResult, Content, FormField, FormSchema, Raw};
use switchboard_service::rt;
use switchboard_service::{
    Call, CallFuture, Changes, Contents, Cx, Design, Dispatch, ElicitOutcome, Error, Form, PromptMessages,
};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct FindArgs {
    /// What to look for
    query: String,
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    language: Option<Language>,
    #[serde(default)]
    tags: Vec<String>,
    filter: Option<Filter>,
    #[serde(default)]
    json: bool,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    Python,
    Javascript,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Filter {
    since: u32,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TextArgs {
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Found {
    query: String,
}

pub(crate) fn design() -> &'static Arc<Design> {
    static DESIGN: LazyLock<Arc<Design>> = LazyLock::new(|| {
        let find = ["query", "limit", "language", "tags", "filter", "json"];
        let history = [
            ParamDef::new("limit", ParamKind::Integer).with_default(json!(5)),
            ParamDef::new("nums", ParamKind::Number).with_repeated(true),
        ];
        Arc::new(
            Design::new("finder", "1.2.0")
                .with_title("Finds things.")
                .with_rpc("/rpc")
                .with_tools([
                    rt::tool::<FindArgs, Found>("find_things", "Finds things.\n\nAnd more.", &find),
                    rt::tool::<TextArgs, ()>("fail", "Fails.", &["text"]),
                    rt::tool::<TextArgs, String>("run_it", "Runs a text, and asks first.", &["text"]),
                    rt::tool::<TextArgs, String>("list", "A tool with the name of a command.", &["text"]),
                ])
                .with_resources([rt::design::ResourceDef::new(
                    "chat_history",
                    "chat://history",
                    "What was said.",
                )
                .with_params(history)])
                .with_prompts([rt::prompt::<TextArgs>("code_review", "Asks for a review.", &["text"])])
                .with_notifications([rt::notification::<Found>("found_it", "Something was found.")])
                .with_rpc_only([MethodDef::new("reindex").with_description("Rebuilds the index")]),
        )
    });
    &DESIGN
}

#[derive(Debug)]
pub(crate) struct Finder;

#[derive(Deserialize)]
struct Consent {
    agreed: bool,
}

impl Form for Consent {
    fn form() -> FormSchema {
        FormSchema::new().with_required("agreed", FormField::Boolean(BooleanField::new()))
    }
}

impl Dispatch for Finder {
    fn design(&self) -> &Arc<Design> {
        design()
    }

    fn call_tool(&self, tool: usize, call: Call) -> CallFuture<CallToolResult> {
        Box::pin(async move {
            if tool == 0 {
                let FindArgs { query, limit, language, tags, filter, json } = call.args()?;
                let all = json!({"query": query, "limit": limit, "language": language, "tags": tags,
                    "filter": filter, "json": json});
                return Ok(CallToolResult::new([Content::text(all.to_string())]).with_structured_content(all));
            }
            let TextArgs { text } = call.args()?;
            match tool {
                1 => Err(Error::tool("not_found", format!("no \u{1b}[31m{text}"))),
                2 => match call.cx.elicit::<Consent>("consent", "Run it?").await? {
                    ElicitOutcome::Accepted(Consent { agreed: true }) => {
                        Ok(CallToolResult::new([Content::text(text)]))
                    }
                    _ => Err(Error::tool("declined", "not agreed to")),
                },
                _ => Ok(CallToolResult::new([Content::text(text)])),
            }
        })
    }

    fn read_resource(&self, _: usize, call: Call) -> CallFuture<Contents> {
        Box::pin(async move { Ok(Contents::text(call.args.as_str())) })
    }

    fn get_prompt(&self, _: usize, call: Call) -> CallFuture<PromptMessages> {
        Box::pin(async move {
            let TextArgs { text } = call.args()?;
            Ok(PromptMessages::user(format!("Review {text}")))
        })
    }

    fn call_method(&self, rust_name: &str, _: Call) -> Option<CallFuture<Raw>> {
        (rust_name == "reindex")
            .then(|| -> CallFuture<Raw> { Box::pin(async { Ok(Raw::from(json!({"done": 7}))) }) })
    }

    fn watch(&self, _: usize, _: Cx, _: Changes) -> CallFuture<()> {
        rt::unknown_index()
    }

    fn complete(&self, _: usize, _: Call) -> CallFuture<Vec<String>> {
        rt::unknown_index()
    }
}
