//! Prompts: texts that a server offers for the user to start from.

use switchboard_json::OrderedMap;

use crate::setter::setters;
use crate::types::cache::{CacheScope, cacheable};
use crate::types::content::{Content, Role};
use crate::types::icon::Icon;
use crate::types::input::InputResponses;
use crate::types::meta::Meta;
use crate::wire::wire;

/// A prompt, as listed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name, unique in its server.
    pub name: String,
    /// Its name for people (from 2025-06-18).
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it can be filled in with.
    pub arguments: Option<Vec<PromptArgument>>,
    /// Pictures (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
    /// Anything else (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(Prompt:
    required name "name";
    optional title "title";
    optional description "description";
    optional arguments "arguments";
    optional icons "icons";
    optional meta "_meta";
);

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, arguments: None, icons: None, meta: None }
    }
}

setters!(Prompt:
    some with_title title String;
    some with_description description String;
    some with_arguments arguments Vec<PromptArgument>;
    some with_icons icons Vec<Icon>;
    some with_meta meta Meta;
);

/// One argument of a prompt. Its value is always text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Its name for people (from 2025-06-18).
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it must be given; absent means no.
    pub required: Option<bool>,
}

wire!(PromptArgument:
    required name "name";
    optional title "title";
    optional description "description";
    optional required "required";
);

impl PromptArgument {
    /// An optional argument.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: None }
    }
}

setters!(PromptArgument:
    some with_title title String;
    some with_description description String;
    some with_required required bool;
);

/// One page of prompts.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
    /// How long this stays fresh, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ListPromptsResult:
    required prompts "prompts";
    optional next_cursor "nextCursor";
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    optional meta "_meta";
);

impl ListPromptsResult {
    /// The last page of a list, or all of it.
    pub fn new(prompts: impl Into<Vec<Prompt>>) -> Self {
        Self { prompts: prompts.into(), ..Self::default() }
    }
}

setters!(ListPromptsResult: some with_next_cursor next_cursor String; some with_meta meta Meta;);
cacheable!(ListPromptsResult);

/// Which prompt to fill in, and with what.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GetPromptParams {
    /// The prompt.
    pub name: String,
    /// Its arguments.
    pub arguments: Option<OrderedMap<String>>,
    /// Answers to what the server asked for (from 2026-07-28).
    pub input_responses: Option<InputResponses>,
    /// What the server wants back, unchanged (from 2026-07-28).
    pub request_state: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(GetPromptParams:
    required name "name";
    optional arguments "arguments";
    optional input_responses "inputResponses";
    optional request_state "requestState";
    optional meta "_meta";
);

impl GetPromptParams {
    /// Gets a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: None, input_responses: None, request_state: None, meta: None }
    }
}

setters!(GetPromptParams:
    some with_arguments arguments OrderedMap<String>;
    some with_input_responses input_responses InputResponses;
    some with_request_state request_state String;
    some with_meta meta Meta;
);

/// A prompt, filled in.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// The messages to start with.
    pub messages: Vec<PromptMessage>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(GetPromptResult:
    optional description "description";
    required messages "messages";
    optional meta "_meta";
);

impl GetPromptResult {
    /// These messages.
    pub fn new(messages: impl Into<Vec<PromptMessage>>) -> Self {
        Self { messages: messages.into(), ..Self::default() }
    }
}

setters!(GetPromptResult: some with_description description String; some with_meta meta Meta;);

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

wire!(PromptMessage: required role "role"; required content "content";);

impl PromptMessage {
    /// Someone says something.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self { role, content: content.into() }
    }
}
