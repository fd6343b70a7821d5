//! The messages of a rendered prompt.

use switchboard_design::{Error, OutputDef};
use switchboard_protocol::{CallToolResult, Content, FromRaw, GetPromptResult, PromptMessage, Raw, Role};

use crate::{Contents, FromOutput, IntoOutput, ResultEncoding};

/// The messages of a prompt, as a method returns them and a typed client receives them.
///
/// ```
/// use switchboard::service::PromptMessages;
///
/// let prompt = PromptMessages::user("Review this code.").assistant("Which code?");
/// assert_eq!(prompt.messages.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptMessages {
    /// Description of the prompt, if it differs from the design's.
    pub description: Option<String>,
    /// The messages in order.
    pub messages: Vec<PromptMessage>,
}

impl PromptMessages {
    /// Creates a prompt with these messages.
    pub fn new(messages: impl Into<Vec<PromptMessage>>) -> Self {
        Self { description: None, messages: messages.into() }
    }

    /// Creates a prompt with one user message.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new([PromptMessage::new(Role::User, content)])
    }

    /// Appends an assistant message.
    #[must_use]
    pub fn assistant(mut self, content: impl Into<Content>) -> Self {
        self.messages.push(PromptMessage::new(Role::Assistant, content));
        self
    }

    /// Appends a user message.
    #[must_use]
    pub fn and_user(mut self, content: impl Into<Content>) -> Self {
        self.messages.push(PromptMessage::new(Role::User, content));
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

impl From<PromptMessages> for GetPromptResult {
    fn from(prompt: PromptMessages) -> Self {
        let mut result = Self::new(prompt.messages);
        result.description = prompt.description;
        result
    }
}

impl From<GetPromptResult> for PromptMessages {
    fn from(result: GetPromptResult) -> Self {
        Self { description: result.description, messages: result.messages }
    }
}

// On the plain JSON-RPC endpoint a prompt is an ordinary method; it returns the result of `prompts/get`.
impl IntoOutput for PromptMessages {
    fn describe() -> OutputDef {
        OutputDef::Content
    }

    fn into_tool_result(self, _: ResultEncoding) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(self.into_contents()?.blocks))
    }

    fn into_contents(self) -> Result<Contents, Error> {
        Ok(Contents::new(self.messages.into_iter().map(|message| message.content).collect::<Vec<_>>()))
    }

    fn into_json(self) -> Result<Raw, Error> {
        Ok(Raw::encode(&GetPromptResult::from(self))?)
    }
}

impl FromOutput for PromptMessages {
    fn from_result(result: CallToolResult) -> Result<Self, Error> {
        Self::from_contents(Contents::new(result.content))
    }

    fn from_contents(contents: Contents) -> Result<Self, Error> {
        let messages = contents.blocks.into_iter().map(|block| PromptMessage::new(Role::User, block));
        Ok(Self::new(messages.collect::<Vec<_>>()))
    }

    fn from_json(json: &Raw) -> Result<Self, Error> {
        GetPromptResult::from_raw(json).map(Into::into).map_err(Error::Malformed)
    }
}
