//! A prompt, filled in.

use switchboard_design::{Error, OutputDef};
use switchboard_protocol::{CallToolResult, Content, FromRaw, GetPromptResult, PromptMessage, Raw, Role};

use crate::{Contents, FromOutput, IntoOutput, Shape};

/// The messages of a prompt, as a method gives them and a typed client gets them.
///
/// ```
/// use switchboard::service::Prompt;
///
/// let prompt = Prompt::user("Review this code.").assistant("Which code?");
/// assert_eq!(prompt.messages.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// What it is for, when that differs from what the design says.
    pub description: Option<String>,
    /// What is said.
    pub messages: Vec<PromptMessage>,
}

impl Prompt {
    /// These messages.
    pub fn new(messages: impl Into<Vec<PromptMessage>>) -> Self {
        Self { description: None, messages: messages.into() }
    }

    /// One message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new([PromptMessage::new(Role::User, content)])
    }

    /// The same, and the model says something.
    #[must_use]
    pub fn assistant(mut self, content: impl Into<Content>) -> Self {
        self.messages.push(PromptMessage::new(Role::Assistant, content));
        self
    }

    /// The same, and the user says something more.
    #[must_use]
    pub fn and_user(mut self, content: impl Into<Content>) -> Self {
        self.messages.push(PromptMessage::new(Role::User, content));
        self
    }

    /// The same with a description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

impl From<Prompt> for GetPromptResult {
    fn from(prompt: Prompt) -> Self {
        let mut result = Self::new(prompt.messages);
        result.description = prompt.description;
        result
    }
}

impl From<GetPromptResult> for Prompt {
    fn from(result: GetPromptResult) -> Self {
        Self { description: result.description, messages: result.messages }
    }
}

// For the plain endpoint, where a prompt is a method like any other: it answers with what `prompts/get` would.
impl IntoOutput for Prompt {
    fn describe() -> OutputDef {
        OutputDef::Content
    }

    fn into_shaped(self, _: Shape) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(self.into_contents()?.blocks))
    }

    fn into_contents(self) -> Result<Contents, Error> {
        Ok(Contents::new(self.messages.into_iter().map(|message| message.content).collect::<Vec<_>>()))
    }

    fn into_json(self) -> Result<Raw, Error> {
        Ok(Raw::encode(&GetPromptResult::from(self))?)
    }
}

impl FromOutput for Prompt {
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
