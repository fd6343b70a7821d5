//! Sampling: a server asks the client's model.
//!
//! A message may hold one block or several; in Rust it is always a list, and a list of one is written as one block,
//! which every revision understands.

use switchboard_json::Raw;

use crate::setter::setters;
use crate::types::content::{Content, Role};
use crate::types::meta::Meta;
use crate::types::task::TaskParams;
use crate::types::tool::Tool;
use crate::wire::{string_enum, wire};

/// What to ask the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Which model would suit.
    pub model_preferences: Option<ModelPreferences>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// What context the client should add.
    pub include_context: Option<IncludeContext>,
    /// How random the answer may be.
    pub temperature: Option<f64>,
    /// The most tokens to make.
    pub max_tokens: u64,
    /// Where to stop.
    pub stop_sequences: Option<Vec<String>>,
    /// For the provider of the model.
    pub metadata: Option<Raw>,
    /// Tools the model may use (from 2025-11-25).
    pub tools: Option<Vec<Tool>>,
    /// Whether it must use them (from 2025-11-25).
    pub tool_choice: Option<ToolChoice>,
    /// Asks to run it as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// Anything else (until 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(CreateMessageParams:
    required messages "messages";
    optional model_preferences "modelPreferences";
    optional system_prompt "systemPrompt";
    optional include_context "includeContext";
    compact_number temperature "temperature";
    required max_tokens "maxTokens";
    optional stop_sequences "stopSequences";
    optional metadata "metadata";
    optional tools "tools";
    optional tool_choice "toolChoice";
    optional task "task";
    optional meta "_meta";
);

impl CreateMessageParams {
    /// Asks the model to continue this conversation.
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

setters!(CreateMessageParams:
    some with_model_preferences model_preferences ModelPreferences;
    some with_system_prompt system_prompt String;
    some with_include_context include_context IncludeContext;
    some with_temperature temperature f64;
    some with_stop_sequences stop_sequences Vec<String>;
    some with_metadata metadata Raw;
    some with_tools tools Vec<Tool>;
    some with_tool_choice tool_choice ToolChoice;
    some with_task task TaskParams;
    some with_meta meta Meta;
);

/// One message of a conversation with a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Content>,
    /// Anything else (from 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(SamplingMessage:
    required role "role";
    content_blocks content "content";
    optional meta "_meta";
);

impl SamplingMessage {
    /// Someone says something.
    pub fn new(role: Role, content: impl Into<Vec<Content>>) -> Self {
        Self { role, content: content.into(), meta: None }
    }
}

setters!(SamplingMessage: some with_meta meta Meta;);

/// Which model would suit.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names or parts of names, the best first.
    pub hints: Option<Vec<ModelHint>>,
    /// How much a low price matters, from 0 to 1.
    pub cost_priority: Option<f64>,
    /// How much speed matters, from 0 to 1.
    pub speed_priority: Option<f64>,
    /// How much intelligence matters, from 0 to 1.
    pub intelligence_priority: Option<f64>,
}

wire!(ModelPreferences:
    optional hints "hints";
    compact_number cost_priority "costPriority";
    compact_number speed_priority "speedPriority";
    compact_number intelligence_priority "intelligencePriority";
);

impl ModelPreferences {
    /// No preference.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(ModelPreferences:
    some with_hints hints Vec<ModelHint>;
    some with_cost_priority cost_priority f64;
    some with_speed_priority speed_priority f64;
    some with_intelligence_priority intelligence_priority f64;
);

/// A model that would suit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelHint {
    /// Its name, or part of it.
    pub name: Option<String>,
}

wire!(ModelHint: optional name "name";);

impl ModelHint {
    /// A model of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()) }
    }
}

/// What context the client should add; all but `None` are deprecated since 2025-11-25.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncludeContext {
    /// Nothing.
    None,
    /// What the asking server has said.
    ThisServer,
    /// What all servers have said.
    AllServers,
}

string_enum!(IncludeContext: None "none", ThisServer "thisServer", AllServers "allServers");

/// Whether the model must use the tools (from 2025-11-25).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// Absent means that the model decides.
    pub mode: Option<ToolChoiceMode>,
}

wire!(ToolChoice: optional mode "mode";);

impl ToolChoice {
    /// With this mode.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode) }
    }
}

/// Who decides whether tools are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolChoiceMode {
    /// The model.
    Auto,
    /// At least one must be used.
    Required,
    /// None may be used.
    None,
}

string_enum!(ToolChoiceMode: Auto "auto", Required "required", None "none");

/// What the model answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who says it: the assistant, as a rule.
    pub role: Role,
    /// What is said.
    pub content: Vec<Content>,
    /// The model that said it.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or the provider's own word.
    pub stop_reason: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(CreateMessageResult:
    required role "role";
    content_blocks content "content";
    required model "model";
    optional stop_reason "stopReason";
    optional meta "_meta";
);

impl CreateMessageResult {
    /// A model's answer.
    pub fn new(model: impl Into<String>, content: impl Into<Vec<Content>>) -> Self {
        let role = Role::Assistant;
        Self { role, content: content.into(), model: model.into(), stop_reason: None, meta: None }
    }
}

setters!(CreateMessageResult: some with_stop_reason stop_reason String; some with_meta meta Meta;);
