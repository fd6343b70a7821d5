//! Resources: what a server lets others read.
//!
//! Knows the shapes only; URIs and templates are opaque text here.

use serde::{Deserialize, Serialize};

use crate::cache::{CacheScope, cacheable};
use crate::content::Annotations;
use crate::icon::Icon;
use crate::input::InputResponses;
use crate::meta::Meta;
use crate::setter::setters;

/// A resource, as listed or linked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people (from 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// How many bytes it has.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::lenient::whole")]
    pub size: Option<u64>,
    /// Pictures (from 2025-11-25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Anything else (from 2025-06-18).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Resource {
    /// A resource at a URI.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            size: None,
            icons: None,
            meta: None,
        }
    }
}

setters!(Resource:
    some with_title title String;
    some with_description description String;
    some with_mime_type mime_type String;
    some with_annotations annotations Annotations;
    some with_size size u64;
    some with_icons icons Vec<Icon>;
    some with_meta meta Meta;
);

/// A family of resources: a URI template (RFC 6570).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Its name for people (from 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of all its resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Pictures (from 2025-11-25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Anything else (from 2025-06-18).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ResourceTemplate {
    /// A family of resources.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            icons: None,
            meta: None,
        }
    }
}

setters!(ResourceTemplate:
    some with_title title String;
    some with_description description String;
    some with_mime_type mime_type String;
    some with_annotations annotations Annotations;
    some with_icons icons Vec<Icon>;
    some with_meta meta Meta;
);

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ContentsWire", try_from = "ContentsWire")]
#[non_exhaustive]
pub struct ResourceContents {
    /// Which resource; it may be one below the resource that was asked for.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// The text or the bytes.
    pub body: ResourceBody,
    /// Anything else (from 2025-06-18).
    pub meta: Option<Meta>,
}

/// The text or the bytes of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, as base64.
    Blob(String),
}

impl ResourceContents {
    /// About how many bytes it takes to write it.
    pub(crate) fn size_hint(&self) -> usize {
        let (ResourceBody::Text(body) | ResourceBody::Blob(body)) = &self.body;
        64 + self.uri.len() + body.len()
    }

    /// A resource that is text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Text(text.into()), meta: None }
    }

    /// A resource that is bytes, given as base64.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Blob(base64.into()), meta: None }
    }
}

setters!(ResourceContents: some with_mime_type mime_type String; some with_meta meta Meta;);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContentsWire {
    uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
    #[serde(default, skip_serializing)]
    annotations: Option<Annotations>,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

impl TryFrom<ContentsWire> for ResourceContents {
    type Error = &'static str;

    fn try_from(wire: ContentsWire) -> Result<Self, Self::Error> {
        let body = match (wire.text, wire.blob) {
            (Some(text), _) => ResourceBody::Text(text),
            (None, Some(blob)) => ResourceBody::Blob(blob),
            (None, None) => return Err("a resource needs `text` or `blob`"),
        };
        Ok(Self { uri: wire.uri, mime_type: wire.mime_type, body, meta: wire.meta })
    }
}

impl From<ResourceContents> for ContentsWire {
    fn from(contents: ResourceContents) -> Self {
        let (text, blob) = match contents.body {
            ResourceBody::Text(text) => (Some(text), None),
            ResourceBody::Blob(blob) => (None, Some(blob)),
        };
        let ResourceContents { uri, mime_type, meta, .. } = contents;
        Self { uri, mime_type, text, blob, annotations: None, meta }
    }
}

/// A resource inside a result or a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "EmbeddedWire")]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The resource.
    pub resource: ResourceContents,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Anything else (from 2025-06-18).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl EmbeddedResource {
    /// Embeds a resource.
    pub fn new(resource: ResourceContents) -> Self {
        Self { resource, annotations: None, meta: None }
    }
}

setters!(EmbeddedResource: some with_annotations annotations Annotations; some with_meta meta Meta;);

#[derive(Deserialize)]
struct EmbeddedWire {
    resource: ContentsWire,
    #[serde(default)]
    annotations: Option<Annotations>,
    #[serde(rename = "_meta", default)]
    meta: Option<Meta>,
}

impl TryFrom<EmbeddedWire> for EmbeddedResource {
    type Error = &'static str;

    fn try_from(mut wire: EmbeddedWire) -> Result<Self, Self::Error> {
        // The schema puts annotations on the block; the specification's own examples put them inside.
        let inner = wire.resource.annotations.take();
        let annotations = wire.annotations.or(inner);
        Ok(Self { resource: wire.resource.try_into()?, annotations, meta: wire.meta })
    }
}

/// One page of resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources.
    pub resources: Vec<Resource>,
    /// Where the next page starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long this stays fresh, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::lenient::whole")]
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::fit_or_none"
    )]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ListResourcesResult {
    /// The last page of a list, or all of it.
    pub fn new(resources: impl Into<Vec<Resource>>) -> Self {
        Self { resources: resources.into(), ..Self::default() }
    }
}

setters!(ListResourcesResult: some with_next_cursor next_cursor String; some with_meta meta Meta;);

/// One page of resource templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Where the next page starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long this stays fresh, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::lenient::whole")]
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::fit_or_none"
    )]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ListResourceTemplatesResult {
    /// The last page of a list, or all of it.
    pub fn new(templates: impl Into<Vec<ResourceTemplate>>) -> Self {
        Self { resource_templates: templates.into(), ..Self::default() }
    }
}

setters!(ListResourceTemplatesResult: some with_next_cursor next_cursor String; some with_meta meta Meta;);

/// Which resource to read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// Its URI.
    pub uri: String,
    /// Answers to what the server asked for (from 2026-07-28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses>,
    /// What the server wants back, unchanged (from 2026-07-28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ReadResourceParams {
    /// Reads this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), input_responses: None, request_state: None, meta: None }
    }
}

setters!(ReadResourceParams:
    some with_input_responses input_responses InputResponses;
    some with_request_state request_state String;
    some with_meta meta Meta;
);

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The resource, or the several it consists of.
    pub contents: Vec<ResourceContents>,
    /// How long this stays fresh, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::lenient::whole")]
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::fit_or_none"
    )]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ReadResourceResult {
    /// These contents.
    pub fn new(contents: impl Into<Vec<ResourceContents>>) -> Self {
        Self { contents: contents.into(), ..Self::default() }
    }
}

setters!(ReadResourceResult: some with_meta meta Meta;);
cacheable!(ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult);
