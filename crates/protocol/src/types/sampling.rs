//! Sampling: a server requests a completion from the model of the client.
//!
//! A message contains one block or several. In Rust it is always a list; a list of one is encoded as a single block,
//! which every revision supports.

use switchboard_json::Raw;

use crate::types::content::{Content, Role};
use crate::types::meta::Meta;
use crate::types::task::TaskParams;
use crate::types::tool::Tool;
use crate::wire::{string_enum, wire};

/// The parameters of `sampling/createMessage`.
///
/// ```
/// use switchboard::protocol::{Content, CreateMessageParams, Role, SamplingMessage};
///
/// let question = SamplingMessage::new(Role::User, [Content::text("Summarize this page.")]);
/// let request = CreateMessageParams::new([question], 500).with_system_prompt("Answer in one sentence.");
/// assert_eq!(request.max_tokens, 500);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The preferred models.
    pub model_preferences: Option<ModelPreferences>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// The context that the client should add.
    pub include_context: Option<IncludeContext>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The maximum number of tokens to generate.
    pub max_tokens: u64,
    /// The stop sequences.
    pub stop_sequences: Option<Vec<String>>,
    /// Metadata for the model provider.
    pub metadata: Option<Raw>,
    /// Tools the model may use (from 2025-11-25).
    pub tools: Option<Vec<Tool>>,
    /// Whether the model must use tools (from 2025-11-25).
    pub tool_choice: Option<ToolChoice>,
    /// Requests execution as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// The `_meta` object (until 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(CreateMessageParams:
    required messages "messages";
    optional model_preferences "modelPreferences", with_model_preferences(ModelPreferences);
    optional system_prompt "systemPrompt", with_system_prompt(String);
    optional include_context "includeContext", with_include_context(IncludeContext);
    compact_number temperature "temperature", with_temperature(f64);
    required max_tokens "maxTokens";
    optional stop_sequences "stopSequences", with_stop_sequences(Vec<String>);
    optional metadata "metadata", with_metadata(Raw);
    optional tools "tools", with_tools(Vec<Tool>);
    optional tool_choice "toolChoice", with_tool_choice(ToolChoice);
    optional task "task", with_task(TaskParams);
    optional meta "_meta", with_meta(Meta);
);

impl CreateMessageParams {
    /// Creates the parameters.
    pub fn new(messages: impl Into<Vec<SamplingMessage>>, max_tokens: u64) -> Self {
        Self {
            messages: messages.into(),
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            max_tokens,
            stop_sequences: None,
            metadata: None,
            tools: None,
            tool_choice: None,
            task: None,
            meta: None,
        }
    }
}

/// One message of a conversation with a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// The speaker.
    pub role: Role,
    /// The content.
    pub content: Vec<Content>,
    /// The `_meta` object (from 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(SamplingMessage:
    required role "role";
    content_blocks content "content";
    optional meta "_meta", with_meta(Meta);
);

impl SamplingMessage {
    /// Creates a message.
    pub fn new(role: Role, content: impl Into<Vec<Content>>) -> Self {
        Self { role, content: content.into(), meta: None }
    }
}

/// The preferred models.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names or parts of names, best first.
    pub hints: Option<Vec<ModelHint>>,
    /// The importance of a low price, from 0 to 1.
    pub cost_priority: Option<f64>,
    /// The importance of speed, from 0 to 1.
    pub speed_priority: Option<f64>,
    /// The importance of intelligence, from 0 to 1.
    pub intelligence_priority: Option<f64>,
}

wire!(ModelPreferences:
    optional hints "hints", with_hints(Vec<ModelHint>);
    compact_number cost_priority "costPriority", with_cost_priority(f64);
    compact_number speed_priority "speedPriority", with_speed_priority(f64);
    compact_number intelligence_priority "intelligencePriority", with_intelligence_priority(f64);
);

impl ModelPreferences {
    /// Creates preferences without any value.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A preferred model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelHint {
    /// The name or a part of it.
    pub name: Option<String>,
}

wire!(ModelHint: optional name "name";);

impl ModelHint {
    /// Creates a hint.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()) }
    }
}

/// The context that the client should add; all but `None` are deprecated since 2025-11-25.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncludeContext {
    /// No context.
    None,
    /// The context of the requesting server.
    ThisServer,
    /// The context of all servers.
    AllServers,
}

string_enum!(IncludeContext: None "none", ThisServer "thisServer", AllServers "allServers");

/// Whether the model must use the tools (from 2025-11-25).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// The mode; `None` means that the model decides.
    pub mode: Option<ToolChoiceMode>,
}

wire!(ToolChoice: optional mode "mode";);

impl ToolChoice {
    /// Creates a tool choice.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode) }
    }
}

/// The mode of a tool choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolChoiceMode {
    /// The model decides.
    Auto,
    /// The model must use at least one tool.
    Required,
    /// The model must not use tools.
    None,
}

string_enum!(ToolChoiceMode: Auto "auto", Required "required", None "none");

/// The result of `sampling/createMessage`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// The speaker, usually the assistant.
    pub role: Role,
    /// The content.
    pub content: Vec<Content>,
    /// The name of the model.
    pub model: String,
    /// The stop reason: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a value of the provider.
    pub stop_reason: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(CreateMessageResult:
    required role "role";
    content_blocks content "content";
    required model "model";
    optional stop_reason "stopReason", with_stop_reason(String);
    optional meta "_meta", with_meta(Meta);
);

impl CreateMessageResult {
    /// Creates a result with the role of the assistant.
    pub fn new(model: impl Into<String>, content: impl Into<Vec<Content>>) -> Self {
        let role = Role::Assistant;
        Self { role, content: content.into(), model: model.into(), stop_reason: None, meta: None }
    }
}
