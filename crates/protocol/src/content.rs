//! The blocks that results, prompts and messages are made of.
//!
//! A block of a type we do not know is kept as text. Base64 stays base64: whoever wants bytes decodes them.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::map::OrderedMap;
use crate::meta::Meta;
use crate::raw::Raw;
use crate::resource::{EmbeddedResource, Resource, ResourceContents};
use crate::setter::setters;

/// Who speaks, or whom something is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// Hints on how to treat a block or a resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is meant for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// How much it matters, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "crate::lenient::tidy_some")]
    pub priority: Option<f64>,
    /// When it last changed, as an ISO 8601 date (from 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

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
/// use switchboard_protocol::Content;
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Anything else (from 2025-06-18).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl TextContent {
    /// This text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), annotations: None, meta: None }
    }
}

setters!(TextContent: some with_annotations annotations Annotations; some with_meta meta Meta;);

/// A picture or a sound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MediaContent {
    /// The bytes, as base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Anything else (from 2025-06-18).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl MediaContent {
    /// Base64 of this media type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { data: data.into(), mime_type: mime_type.into(), annotations: None, meta: None }
    }
}

setters!(MediaContent: some with_annotations annotations Annotations; some with_meta meta Meta;);

/// The model wants to call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// What the result will refer to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: an object.
    pub input: Raw,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ToolUseContent {
    /// A call of a tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<Raw>) -> Self {
        Self { id: id.into(), name: name.into(), input: input.into(), meta: None }
    }
}

setters!(ToolUseContent: some with_meta meta Meta;);

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The call this answers.
    pub tool_use_id: String,
    /// What the tool said.
    #[serde(default, deserialize_with = "crate::lenient::null_default")]
    pub content: Vec<Content>,
    /// The same as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Raw>,
    /// Whether the tool failed.
    #[serde(
        default,
        skip_serializing_if = "crate::lenient::is_false",
        deserialize_with = "crate::lenient::null_default"
    )]
    pub is_error: bool,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

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
        #[derive(Serialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        enum Tagged<'a> {
            Text(&'a TextContent),
            Image(&'a MediaContent),
            Audio(&'a MediaContent),
            ResourceLink(&'a Resource),
            Resource(&'a EmbeddedResource),
            ToolUse(&'a ToolUseContent),
            ToolResult(&'a ToolResultContent),
        }
        let tagged = match self {
            Self::Text(block) => Tagged::Text(block),
            Self::Image(block) => Tagged::Image(block),
            Self::Audio(block) => Tagged::Audio(block),
            Self::ResourceLink(block) => Tagged::ResourceLink(block),
            Self::Resource(block) => Tagged::Resource(block),
            Self::ToolUse(block) => Tagged::ToolUse(block),
            Self::ToolResult(block) => Tagged::ToolResult(block),
            Self::Unknown(raw) => return raw.serialize(serializer),
        };
        tagged.serialize(serializer)
    }
}

/// The type of a block, read without keeping the text when it is a known one.
enum Kind {
    Often(Often),
    Seldom(Seldom),
    Unknown(String),
}

/// Blocks that are read as they come by.
enum Often {
    Text,
    Image,
    Audio,
    Resource,
}

/// Blocks that are read from their text: small or rare, and a second reader for each would be much code.
enum Seldom {
    ResourceLink,
    ToolUse,
    ToolResult,
}

impl Seldom {
    fn name(&self) -> &'static str {
        match self {
            Self::ResourceLink => "resource_link",
            Self::ToolUse => "tool_use",
            Self::ToolResult => "tool_result",
        }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Kind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the type of a content block")
            }

            fn visit_str<E>(self, text: &str) -> Result<Kind, E> {
                Ok(match text {
                    "text" => Kind::Often(Often::Text),
                    "image" => Kind::Often(Often::Image),
                    "audio" => Kind::Often(Often::Audio),
                    "resource_link" => Kind::Seldom(Seldom::ResourceLink),
                    "resource" => Kind::Often(Often::Resource),
                    "tool_use" => Kind::Seldom(Seldom::ToolUse),
                    "tool_result" => Kind::Seldom(Seldom::ToolResult),
                    other => Kind::Unknown(other.to_owned()),
                })
            }
        }
        deserializer.deserialize_str(Name)
    }
}

/// Reads one key; `None` when it is `type`.
struct FirstKey;

impl<'de> DeserializeSeed<'de> for FirstKey {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FirstKey {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok((key != "type").then(|| key.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Content {
    /// One pass when `type` comes first, as nearly everyone writes it; otherwise the fields are gathered as text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Block;
        impl<'de> Visitor<'de> for Block {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
                let Some(first) = map.next_key_seed(FirstKey)? else {
                    return Err(serde::de::Error::missing_field("type"));
                };
                match first {
                    None => match map.next_value()? {
                        Kind::Unknown(name) => {
                            let name = Raw::encode(&name).map_err(serde::de::Error::custom)?;
                            gather(map, "type".to_owned(), name).and_then(unknown)
                        }
                        Kind::Often(kind) => often(&kind, MapAccessDeserializer::new(map)),
                        Kind::Seldom(kind) => {
                            let name = Raw::encode(kind.name()).map_err(serde::de::Error::custom)?;
                            let block = text(&gather(map, "type".to_owned(), name)?)?;
                            seldom(&kind, &block)
                        }
                    },
                    Some(key) => {
                        let value = map.next_value()?;
                        late(gather(map, key, value)?)
                    }
                }
            }
        }
        deserializer.deserialize_map(Block)
    }
}

fn often<'de, D: Deserializer<'de>>(kind: &Often, fields: D) -> Result<Content, D::Error> {
    match kind {
        Often::Text => TextContent::deserialize(fields).map(Content::Text),
        Often::Image => MediaContent::deserialize(fields).map(Content::Image),
        Often::Audio => MediaContent::deserialize(fields).map(Content::Audio),
        Often::Resource => Box::deserialize(fields).map(Content::Resource),
    }
}

fn seldom<E: serde::de::Error>(kind: &Seldom, block: &Raw) -> Result<Content, E> {
    let read = match kind {
        Seldom::ResourceLink => block.decode().map(Content::ResourceLink),
        Seldom::ToolUse => block.decode().map(Content::ToolUse),
        Seldom::ToolResult => block.decode().map(Content::ToolResult),
    };
    read.map_err(E::custom)
}

fn text<E: serde::de::Error>(fields: &OrderedMap<Raw>) -> Result<Raw, E> {
    Raw::encode(fields).map_err(E::custom)
}

fn gather<'de, A: MapAccess<'de>>(mut map: A, key: String, value: Raw) -> Result<OrderedMap<Raw>, A::Error> {
    let mut fields = vec![(key, value)];
    while let Some(field) = map.next_entry()? {
        fields.push(field);
    }
    Ok(fields.into_iter().collect())
}

fn unknown<E: serde::de::Error>(fields: OrderedMap<Raw>) -> Result<Content, E> {
    text(&fields).map(Content::Unknown)
}

/// A block whose `type` was not its first key.
fn late<E: serde::de::Error>(fields: OrderedMap<Raw>) -> Result<Content, E> {
    let kind = fields.get("type").ok_or_else(|| E::missing_field("type"))?;
    let kind: Kind = kind.decode().map_err(E::custom)?;
    let block = text(&fields)?;
    match kind {
        Kind::Often(kind) => {
            often(&kind, &mut serde_json::Deserializer::from_str(block.as_str())).map_err(E::custom)
        }
        Kind::Seldom(kind) => seldom(&kind, &block),
        Kind::Unknown(_) => Ok(Content::Unknown(block)),
    }
}
