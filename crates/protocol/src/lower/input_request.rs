//! Lowering of requests from server to client, and of their results.
//!
//! Unlike a result, a request may have no counterpart in an older revision: it is then [`Unavailable`].

use std::fmt;

use crate::revision::{Era, Revision};
use crate::types::content::Content;
use crate::types::elicitation::{ElicitParams, ElicitResult, FormParams};
use crate::types::form::{ChoiceStyle, FormField, FormSchema};
use crate::types::input::InputRequest;
use crate::types::roots::ListRootsResult;
use crate::types::sampling::{CreateMessageParams, CreateMessageResult, SamplingMessage};

use Revision::{V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4};

/// The error of a request that the revision of the peer does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unavailable {
    /// The unsupported feature.
    pub what: &'static str,
    /// The revision of the peer.
    pub revision: Revision,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not exist in {}", self.what, self.revision)
    }
}

impl std::error::Error for Unavailable {}

impl InputRequest {
    /// Lowers the request to a revision.
    ///
    /// # Errors
    /// When the revision does not support it; the request may then be partly lowered.
    pub fn lower(&mut self, to: Revision) -> Result<(), Unavailable> {
        match self {
            Self::Elicit(params) => params.lower(to),
            Self::Sample(params) => params.lower(to),
            Self::Roots(_) | Self::Unknown { .. } => Ok(()),
        }
    }
}

impl ElicitParams {
    /// Lowers the request to a revision. A URL for 2025-11-25 needs an elicitation id, which the caller must set.
    ///
    /// # Errors
    /// Before 2025-06-18 there is no elicitation; 2025-06-18 supports neither URLs nor required multiple choice.
    pub fn lower(&mut self, to: Revision) -> Result<(), Unavailable> {
        let unavailable = |what| Err(Unavailable { what, revision: to });
        if to < R3 {
            return unavailable("elicitation");
        }
        match self {
            Self::Form(form) => {
                if to < R4 {
                    lower_form(form, to)?;
                }
                if to != R4 {
                    form.task = None;
                }
                if to.era() == Era::Modern {
                    form.meta = None;
                }
            }
            Self::Url(_) if to < R4 => return unavailable("elicitation by URL"),
            Self::Url(url) => {
                if to.era() == Era::Modern {
                    url.elicitation_id = None;
                    url.task = None;
                    url.meta = None;
                }
            }
        }
        Ok(())
    }
}

fn lower_form(form: &mut FormParams, to: Revision) -> Result<(), Unavailable> {
    form.says_mode = false;
    let FormSchema { dialect, properties, required, .. } = &mut form.requested_schema;
    *dialect = None;
    let needed = |name: &str| required.iter().any(|required| required == name);
    let multiple = |field: &FormField| matches!(field, FormField::MultiChoice(_));
    if properties.iter().any(|(name, field)| multiple(field) && needed(name)) {
        return Err(Unavailable { what: "multiple choice", revision: to });
    }
    properties.retain(|_, field| !multiple(field));
    for (_, field) in properties.iter_mut() {
        match field {
            FormField::Text(field) => field.default = None,
            FormField::Number(field) | FormField::Integer(field) => field.default = None,
            FormField::Choice(field) => {
                field.default = None;
                if field.style == ChoiceStyle::OneOf {
                    field.style = ChoiceStyle::EnumNames;
                }
            }
            // Boolean fields have had defaults since 2025-06-18.
            FormField::Boolean(_) | FormField::MultiChoice(_) | FormField::Unknown(_) => {}
        }
    }
    Ok(())
}

impl CreateMessageParams {
    /// Lowers the request to a revision.
    ///
    /// # Errors
    /// Before 2025-11-25 sampling does not support tools.
    pub fn lower(&mut self, to: Revision) -> Result<(), Unavailable> {
        if to < R4 {
            let tool_block = |block: &Content| matches!(block, Content::ToolUse(_) | Content::ToolResult(_));
            let offered = self.tools.as_ref().is_some_and(|tools| !tools.is_empty());
            if offered || self.messages.iter().any(|message| message.content.iter().any(tool_block)) {
                return Err(Unavailable { what: "sampling with tools", revision: to });
            }
            self.tools = None;
            self.tool_choice = None;
            self.messages = std::mem::take(&mut self.messages).into_iter().flat_map(split_blocks).collect();
        }
        for message in &mut self.messages {
            message.content.iter_mut().for_each(|block| lower_sampling_content(block, to));
        }
        self.tools.iter_mut().flatten().for_each(|tool| tool.lower(to));
        if to != R4 {
            self.task = None;
        }
        if to.era() == Era::Modern {
            self.meta = None;
        }
        Ok(())
    }
}

/// Splits a message into messages of one block each: before 2025-11-25 content is a single block.
fn split_blocks(message: SamplingMessage) -> impl Iterator<Item = SamplingMessage> {
    let role = message.role;
    message.content.into_iter().map(move |block| SamplingMessage::new(role, [block]))
}

/// Lowers a block like [`Content::lower`], but converts audio to text: a sampling message cannot contain an embedded
/// resource.
fn lower_sampling_content(block: &mut Content, to: Revision) {
    if let Content::Audio(audio) = block
        && to < R2
    {
        *block = Content::text(format!("[audio, {}]", audio.mime_type));
    }
    block.lower(to);
}

impl CreateMessageResult {
    /// Lowers the result to a revision. Before 2025-11-25 it is a single block: the joined texts, or the first block.
    pub fn lower(&mut self, to: Revision) {
        if to < R4 && self.content.len() > 1 {
            let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
            let joined = (!texts.is_empty()).then(|| Content::text(texts.join("\n")));
            match joined {
                Some(text) => self.content = vec![text],
                None => self.content.truncate(1),
            }
        }
        self.content.iter_mut().for_each(|block| lower_sampling_content(block, to));
    }
}

impl ElicitResult {
    /// Lowers the result to a revision.
    pub fn lower(&mut self, to: Revision) {
        if to.era() == Era::Modern {
            self.meta = None;
        }
    }
}

impl ListRootsResult {
    /// Lowers the result to a revision.
    pub fn lower(&mut self, to: Revision) {
        if to.era() == Era::Modern {
            self.meta = None;
        }
        if to < R3 {
            self.roots.iter_mut().for_each(|root| root.meta = None);
        }
    }
}
