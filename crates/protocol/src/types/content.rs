//! Content blocks of results, prompts and messages.
//!
//! A block of an unknown type is preserved as JSON text. Base64 data is not decoded.

use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, Raw, RawReader};

use crate::types::meta::Meta;
use crate::types::resource::{EmbeddedResource, Resource, ResourceContents};
use crate::wire::{WireObject, impl_deserialize, string_enum, wire};

/// The speaker of a message, or the audience of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

string_enum!(Role: User "user", Assistant "assistant");

/// Hints for the use of a block or a resource.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// The intended audience.
    pub audience: Option<Vec<Role>>,
    /// The importance, from 0 to 1.
    pub priority: Option<f64>,
    /// The time of the last change in ISO 8601 (from 2025-06-18).
    pub last_modified: Option<String>,
}

wire!(Annotations:
    optional audience "audience", with_audience(Vec<Role>);
    compact_number priority "priority", with_priority(f64);
    optional last_modified "lastModified", with_last_modified(String);
);

impl Annotations {
    /// Creates annotations without hints.
    pub fn new() -> Self {
        Self::default()
    }
}

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
    /// An image.
    Image(MediaContent),
    /// Audio (from 2025-03-26).
    Audio(MediaContent),
    /// A link to a resource (from 2025-06-18).
    ResourceLink(Box<Resource>),
    /// An embedded resource.
    Resource(Box<EmbeddedResource>),
    /// A tool call of the model (sampling, from 2025-11-25).
    ToolUse(Box<ToolUseContent>),
    /// The result of a tool call (sampling, from 2025-11-25).
    ToolResult(Box<ToolResultContent>),
    /// A block of an unknown type: the whole object.
    Unknown(Raw),
}

impl Content {
    /// Estimates the encoded size in bytes.
    pub(crate) fn size_hint(&self) -> usize {
        64 + match self {
            Self::Text(text) => text.text.len(),
            Self::Image(media) | Self::Audio(media) => media.data.len(),
            Self::Resource(embedded) => embedded.resource.size_hint(),
            Self::Unknown(raw) => raw.len(),
            Self::ResourceLink(_) | Self::ToolUse(_) | Self::ToolResult(_) => 256,
        }
    }

    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// Creates an image from base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(MediaContent::new(data, mime_type))
    }

    /// Creates audio from base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(MediaContent::new(data, mime_type))
    }

    /// Creates a link to a resource.
    pub fn link(resource: Resource) -> Self {
        Self::ResourceLink(Box::new(resource))
    }

    /// Creates an embedded resource.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(contents)))
    }

    /// Returns the text of a text block.
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

/// A text block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints for the client, such as audience and priority.
    pub annotations: Option<Annotations>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(TextContent:
    required text "text";
    optional annotations "annotations", with_annotations(Annotations);
    optional meta "_meta", with_meta(Meta);
);

impl TextContent {
    /// Creates a text block.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), annotations: None, meta: None }
    }
}

/// An image or audio block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MediaContent {
    /// The bytes, as base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// Hints for the client, such as audience and priority.
    pub annotations: Option<Annotations>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(MediaContent:
    required data "data";
    required mime_type "mimeType";
    optional annotations "annotations", with_annotations(Annotations);
    optional meta "_meta", with_meta(Meta);
);

impl MediaContent {
    /// Creates a block from base64 data and its media type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { data: data.into(), mime_type: mime_type.into(), annotations: None, meta: None }
    }
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// The id that the result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: an object.
    pub input: Raw,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ToolUseContent:
    required id "id";
    required name "name";
    required input "input";
    optional meta "_meta", with_meta(Meta);
);

impl ToolUseContent {
    /// Creates a tool call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<Raw>) -> Self {
        Self { id: id.into(), name: name.into(), input: input.into(), meta: None }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The id of the tool call.
    pub tool_use_id: String,
    /// The content for the model.
    pub content: Vec<Content>,
    /// The structured result.
    pub structured_content: Option<Raw>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ToolResultContent:
    required tool_use_id "toolUseId";
    or_default content "content";
    optional structured_content "structuredContent", with_structured_content(Raw);
    or_false is_error "isError", with_is_error(bool);
    optional meta "_meta", with_meta(Meta);
);

impl ToolResultContent {
    /// Creates the result of a tool call.
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
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
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
