//! Prompts: message templates that a server offers to the user.

use switchboard_json::OrderedMap;

use crate::types::cache::{CacheScope, cacheable};
use crate::types::content::{Content, Role};
use crate::types::icon::Icon;
use crate::types::input::InputResponses;
use crate::types::meta::Meta;
use crate::wire::wire;

/// A prompt in a list.
///
/// ```
/// use switchboard::protocol::{Prompt, PromptArgument};
///
/// let prompt = Prompt::new("review")
///     .with_description("Reviews a change.")
///     .with_arguments([PromptArgument::new("diff").with_required(true)]);
/// assert_eq!(prompt.arguments.unwrap()[0].required, Some(true));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The name, unique within its server.
    pub name: String,
    /// The display name (from 2025-06-18).
    pub title: Option<String>,
    /// A description of its purpose.
    pub description: Option<String>,
    /// The arguments.
    pub arguments: Option<Vec<PromptArgument>>,
    /// Icons (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(Prompt:
    required name "name";
    optional title "title", with_title(String);
    optional description "description", with_description(String);
    optional arguments "arguments", with_arguments(Vec<PromptArgument>);
    optional icons "icons", with_icons(Vec<Icon>);
    optional meta "_meta", with_meta(Meta);
);

impl Prompt {
    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, arguments: None, icons: None, meta: None }
    }
}

/// An argument of a prompt. Its value is always a string.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// The display name (from 2025-06-18).
    pub title: Option<String>,
    /// A description of its purpose.
    pub description: Option<String>,
    /// Whether it is required; `None` means no.
    pub required: Option<bool>,
}

wire!(PromptArgument:
    required name "name";
    optional title "title", with_title(String);
    optional description "description", with_description(String);
    optional required "required", with_required(bool);
);

impl PromptArgument {
    /// Creates an optional argument.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: None }
    }
}

/// One page of prompts.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// The cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// How long the result may be cached, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share the cached result.
    pub cache_scope: Option<CacheScope>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ListPromptsResult:
    required prompts "prompts";
    optional next_cursor "nextCursor", with_next_cursor(String);
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    optional meta "_meta", with_meta(Meta);
);

impl ListPromptsResult {
    /// Creates the last or only page.
    pub fn new(prompts: impl Into<Vec<Prompt>>) -> Self {
        Self { prompts: prompts.into(), ..Self::default() }
    }
}

cacheable!(ListPromptsResult);

/// The parameters of `prompts/get`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GetPromptParams {
    /// The name of the prompt.
    pub name: String,
    /// The arguments.
    pub arguments: Option<OrderedMap<String>>,
    /// The responses to the input requests of the server (from 2026-07-28).
    pub input_responses: Option<InputResponses>,
    /// The opaque state of the server, sent back unchanged (from 2026-07-28).
    pub request_state: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(GetPromptParams:
    required name "name";
    optional arguments "arguments", with_arguments(OrderedMap<String>);
    optional input_responses "inputResponses", with_input_responses(InputResponses);
    optional request_state "requestState", with_request_state(String);
    optional meta "_meta", with_meta(Meta);
);

impl GetPromptParams {
    /// Creates the parameters without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: None, input_responses: None, request_state: None, meta: None }
    }
}

/// The result of `prompts/get`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// A description of its purpose.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(GetPromptResult:
    optional description "description", with_description(String);
    required messages "messages";
    optional meta "_meta", with_meta(Meta);
);

impl GetPromptResult {
    /// Creates a result.
    pub fn new(messages: impl Into<Vec<PromptMessage>>) -> Self {
        Self { messages: messages.into(), ..Self::default() }
    }
}

/// One message of a prompt.
///
/// ```
/// use switchboard::protocol::{Content, GetPromptResult, PromptMessage, Role};
///
/// let result = GetPromptResult::new([PromptMessage::new(Role::User, Content::text("Review this change."))]);
/// assert_eq!(result.messages[0].content.as_text(), Some("Review this change."));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The speaker.
    pub role: Role,
    /// The content.
    pub content: Content,
}

wire!(PromptMessage: required role "role"; required content "content";);

impl PromptMessage {
    /// Creates a message.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self { role, content: content.into() }
    }
}
