//! The blocks that results, prompts and messages are made of.
//!
//! A block of a type we do not know is kept as text. Base64 stays base64: whoever wants bytes decodes them.

use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, Raw, Reader};

use crate::setter::setters;
use crate::types::meta::Meta;
use crate::types::resource::{EmbeddedResource, Resource, ResourceContents};
use crate::wire::{WireObject, impl_deserialize, string_enum, wire};

/// Who speaks, or whom something is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

string_enum!(Role: User "user", Assistant "assistant");

/// Hints on how to treat a block or a resource.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is meant for.
    pub audience: Option<Vec<Role>>,
    /// How much it matters, from 0 to 1.
    pub priority: Option<f64>,
    /// When it last changed, as an ISO 8601 date (from 2025-06-18).
    pub last_modified: Option<String>,
}

wire!(Annotations:
    optional audience "audience";
    compact_number priority "priority";
    optional last_modified "lastModified";
);

impl Annotations {
    /// Without any hint.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(Annotations:
    some with_audience audience Vec<Role>;
    some with_priority priority f64;
    some with_last_modified last_modified String;
);

/// One block of content.
///
/// ```
/// use switchboard::protocol::Content;
///
/// let block = Content::text("sunny");
/// assert_eq!(serde_json::to_string(&block)?, r#"{"type":"text","text":"sunny"}"#);
/// assert_eq!(block.as_text(), Some("sunny"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(MediaContent),
    /// A sound (from 2025-03-26).
    Audio(MediaContent),
    /// A resource that can be read (from 2025-06-18).
    ResourceLink(Box<Resource>),
    /// A resource, embedded.
    Resource(Box<EmbeddedResource>),
    /// The model wants to call a tool (sampling, from 2025-11-25).
    ToolUse(Box<ToolUseContent>),
    /// What a tool answered (sampling, from 2025-11-25).
    ToolResult(Box<ToolResultContent>),
    /// A block of a type we do not know: the whole object.
    Unknown(Raw),
}

impl Content {
    /// About how many bytes it takes to write it.
    pub(crate) fn size_hint(&self) -> usize {
        64 + match self {
            Self::Text(text) => text.text.len(),
            Self::Image(media) | Self::Audio(media) => media.data.len(),
            Self::Resource(embedded) => embedded.resource.size_hint(),
            Self::Unknown(raw) => raw.len(),
            Self::ResourceLink(_) | Self::ToolUse(_) | Self::ToolResult(_) => 256,
        }
    }

    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture, as base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(MediaContent::new(data, mime_type))
    }

    /// A sound, as base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(MediaContent::new(data, mime_type))
    }

    /// A link to a resource.
    pub fn link(resource: Resource) -> Self {
        Self::ResourceLink(Box::new(resource))
    }

    /// An embedded resource.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(contents)))
    }

    /// The text, when this is a block of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// A block of text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints.
    pub annotations: Option<Annotations>,
    /// Anything else (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(TextContent:
    required text "text";
    optional annotations "annotations";
    optional meta "_meta";
);

impl TextContent {
    /// This text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), annotations: None, meta: None }
    }
}

setters!(TextContent: some with_annotations annotations Annotations; some with_meta meta Meta;);

/// A picture or a sound.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MediaContent {
    /// The bytes, as base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// Hints.
    pub annotations: Option<Annotations>,
    /// Anything else (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(MediaContent:
    required data "data";
    required mime_type "mimeType";
    optional annotations "annotations";
    optional meta "_meta";
);

impl MediaContent {
    /// Base64 of this media type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { data: data.into(), mime_type: mime_type.into(), annotations: None, meta: None }
    }
}

setters!(MediaContent: some with_annotations annotations Annotations; some with_meta meta Meta;);

/// The model wants to call a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// What the result will refer to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: an object.
    pub input: Raw,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ToolUseContent:
    required id "id";
    required name "name";
    required input "input";
    optional meta "_meta";
);

impl ToolUseContent {
    /// A call of a tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<Raw>) -> Self {
        Self { id: id.into(), name: name.into(), input: input.into(), meta: None }
    }
}

setters!(ToolUseContent: some with_meta meta Meta;);

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The call this answers.
    pub tool_use_id: String,
    /// What the tool said.
    pub content: Vec<Content>,
    /// The same as data.
    pub structured_content: Option<Raw>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ToolResultContent:
    required tool_use_id "toolUseId";
    or_default content "content";
    optional structured_content "structuredContent";
    or_false is_error "isError";
    optional meta "_meta";
);

impl ToolResultContent {
    /// The answer to a call.
    pub fn new(tool_use_id: impl Into<String>, content: impl Into<Vec<Content>>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content: content.into(),
            structured_content: None,
            is_error: false,
            meta: None,
        }
    }
}

setters!(ToolResultContent:
    some with_structured_content structured_content Raw;
    set with_is_error is_error bool;
    some with_meta meta Meta;
);

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => tagged("text", block, serializer),
            Self::Image(block) => tagged("image", block, serializer),
            Self::Audio(block) => tagged("audio", block, serializer),
            Self::ResourceLink(block) => tagged("resource_link", &**block, serializer),
            Self::Resource(block) => tagged("resource", &**block, serializer),
            Self::ToolUse(block) => tagged("tool_use", &**block, serializer),
            Self::ToolResult(block) => tagged("tool_result", &**block, serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

fn tagged<S: Serializer, T: WireObject>(kind: &str, block: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_struct("Content", 1 + T::MEMBERS)?;
    object.serialize_field("type", kind)?;
    block.write_members(&mut object)?;
    object.end()
}

impl FromRaw for Content {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        let whole = reader.clone();
        let kind = reader.read_tag("type")?.ok_or_else(|| Mismatch::missing(whole.offset(), "type"))?;
        match &*kind {
            "text" => TextContent::read(reader).map(Self::Text),
            "image" => MediaContent::read(reader).map(Self::Image),
            "audio" => MediaContent::read(reader).map(Self::Audio),
            "resource_link" => FromRaw::read(reader).map(Self::ResourceLink),
            "resource" => FromRaw::read(reader).map(Self::Resource),
            "tool_use" => FromRaw::read(reader).map(Self::ToolUse),
            "tool_result" => FromRaw::read(reader).map(Self::ToolResult),
            _ => {
                *reader = whole;
                Ok(Self::Unknown(reader.read_raw()))
            }
        }
    }
}

impl_deserialize!(Content);
