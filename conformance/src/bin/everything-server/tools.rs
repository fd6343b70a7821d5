//! The tools of the fixture: one table, in the order they are listed.

mod asking;
mod content;
mod input;
mod notifications;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard::protocol;
use switchboard::protocol::{CallToolResult, Content, Raw, RpcError};
use switchboard::server::{HandlerOutcome, Publisher, Reply, RequestContext};

/// One tool.
pub(crate) struct Tool {
    name: &'static str,
    description: &'static str,
    /// The JSON Schema of its arguments, as text: clients see exactly this text.
    schema: &'static str,
    pub(crate) run: fn(Call) -> HandlerOutcome,
}

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) arguments: Raw,
    pub(crate) cx: RequestContext,
    pub(crate) publisher: Publisher,
}

impl Tool {
    const fn new(name: &'static str, description: &'static str, run: fn(Call) -> HandlerOutcome) -> Self {
        Self { name, description, schema: r#"{"type":"object","properties":{}}"#, run }
    }

    const fn with_schema(mut self, schema: &'static str) -> Self {
        self.schema = schema;
        self
    }

    pub(crate) fn schema(&self) -> Raw {
        Raw::parse(self.schema).expect("the schemas of the table are JSON")
    }

    pub(crate) fn listed(&self) -> protocol::Tool {
        protocol::Tool::new(self.name, self.schema()).with_description(self.description)
    }
}

/// A tool by its name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

const PROMPT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}"#;
const MESSAGE: &str =
    r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#;
const MIRRORED: &str = r#"{"type":"object","properties":{"value":{"type":"string","x-mcp-header":"Value"}},"required":["value"]}"#;

/// All tools. The first needs no arguments.
pub(crate) const TOOLS: &[Tool] = &[
    Tool::new("test_simple_text", "Answers with a text.", content::text),
    Tool::new("test_image_content", "Answers with a picture.", content::picture),
    Tool::new("test_audio_content", "Answers with a sound.", content::sound),
    Tool::new("test_embedded_resource", "Answers with a resource.", content::resource),
    Tool::new("test_multiple_content_types", "Answers with blocks of three kinds.", content::mixed),
    Tool::new("test_error_handling", "Always fails.", content::failure),
    Tool::new("test_tool_with_progress", "Reports how far it is.", notifications::progress),
    Tool::new("test_tool_with_logging", "Logs what it does.", notifications::logging),
    Tool::new(
        "test_logging_tool",
        "Logs what it does, if the caller wants to hear it.",
        notifications::logging,
    ),
    Tool::new(
        "test_reconnection",
        "Hangs up and lets the caller come back for the answer.",
        notifications::reconnection,
    ),
    Tool::new(
        "test_trigger_tool_change",
        "Says that the list of tools has changed.",
        notifications::tools_changed,
    ),
    Tool::new(
        "test_trigger_prompt_change",
        "Says that the list of prompts has changed.",
        notifications::prompts_changed,
    ),
    Tool::new("test_sampling", "Asks the caller's model.", asking::sampling).with_schema(PROMPT),
    Tool::new("test_elicitation", "Asks the user.", asking::elicitation).with_schema(MESSAGE),
    Tool::new("test_elicitation_sep1034_defaults", "Asks the user with defaults.", asking::defaults),
    Tool::new("test_elicitation_sep1330_enums", "Asks the user to choose.", asking::choices),
    Tool::new("test_missing_capability", "Needs a model to ask.", asking::missing),
    Tool::new("test_streaming_elicitation", "Asks the user before it answers.", asking::streaming),
    Tool::new("test_input_required_result_elicitation", "Asks for a name.", input::elicitation),
    Tool::new("test_input_required_result_sampling", "Asks a model.", input::sampling),
    Tool::new("test_input_required_result_list_roots", "Asks for the roots.", input::roots),
    Tool::new("test_input_required_result_request_state", "Remembers that it asked.", input::confirmed),
    Tool::new("test_input_required_result_multiple_inputs", "Asks three things at once.", input::several),
    Tool::new("test_input_required_result_multi_round", "Asks twice.", input::rounds),
    Tool::new("test_input_required_result_tampered_state", "Notices a changed state.", input::confirmed),
    Tool::new("test_input_required_result_capabilities", "Asks what it may.", input::allowed),
    Tool::new("json_schema_2020_12_tool", "Has a schema with everything in it.", content::schema)
        .with_schema(include_str!("tools/schema_2020_12.json")),
    Tool::new("test_custom_header", "Gives back a value that is mirrored in a header.", content::mirrored)
        .with_schema(MIRRORED),
];

/// Returns a result with one text block.
fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::new([Content::text(text)])
}

/// The same, where a tool takes its time.
fn says(text: impl Into<String>) -> Reply {
    Ok(said(text).into())
}

impl Call {
    /// Reads the arguments.
    fn read<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        self.arguments.decode().map_err(|error| RpcError::invalid_params(error.to_string()))
    }
}

/// An argument that is a text, under any of the names the tools use.
#[derive(Deserialize)]
struct Text {
    #[serde(alias = "prompt", alias = "message", alias = "value")]
    text: String,
}
