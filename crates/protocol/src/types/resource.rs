//! Resources that a server offers for reading.
//!
//! URIs and templates are opaque strings here.

use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, RawReader};

use crate::setter::setters;
use crate::types::cache::{CacheScope, cacheable};
use crate::types::content::Annotations;
use crate::types::icon::Icon;
use crate::types::input::InputResponses;
use crate::types::meta::Meta;
use crate::wire::{MemberBinding, OptionalSlot, RequiredSlot, impl_deserialize, read_members, wire};

/// A resource in a list or a link.
///
/// ```
/// use switchboard::protocol::{ListResourcesResult, Resource};
///
/// let note = Resource::new("note://today", "today").with_mime_type("text/markdown");
/// let page = ListResourcesResult::new([note]).with_next_cursor("2");
/// assert_eq!(page.resources[0].uri, "note://today");
/// assert!(page.next_cursor.is_some()); // there is another page
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// The URI.
    pub uri: String,
    /// The name.
    pub name: String,
    /// The display name (from 2025-06-18).
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The media type.
    pub mime_type: Option<String>,
    /// Hints for the client, such as audience and priority.
    pub annotations: Option<Annotations>,
    /// The size in bytes.
    pub size: Option<u64>,
    /// Icons (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(Resource:
    required uri "uri";
    required name "name";
    optional title "title", with_title(String);
    optional description "description", with_description(String);
    optional mime_type "mimeType", with_mime_type(String);
    optional annotations "annotations", with_annotations(Annotations);
    whole_number size "size", with_size(u64);
    optional icons "icons", with_icons(Vec<Icon>);
    optional meta "_meta", with_meta(Meta);
);

impl Resource {
    /// Creates a resource with a URI and a name.
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

/// A URI template (RFC 6570) of resources.
///
/// ```
/// use switchboard::protocol::ResourceTemplate;
///
/// let template = ResourceTemplate::new("note://{day}", "notes").with_description("The notes of a day.");
/// assert_eq!(template.uri_template, "note://{day}");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// The name.
    pub name: String,
    /// The display name (from 2025-06-18).
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The media type of all matching resources.
    pub mime_type: Option<String>,
    /// Hints for the client, such as audience and priority.
    pub annotations: Option<Annotations>,
    /// Icons (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(ResourceTemplate:
    required uri_template "uriTemplate";
    required name "name";
    optional title "title", with_title(String);
    optional description "description", with_description(String);
    optional mime_type "mimeType", with_mime_type(String);
    optional annotations "annotations", with_annotations(Annotations);
    optional icons "icons", with_icons(Vec<Icon>);
    optional meta "_meta", with_meta(Meta);
);

impl ResourceTemplate {
    /// Creates a template with a name.
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

/// The contents of a resource.
///
/// ```
/// use switchboard::protocol::{ReadResourceResult, ResourceBody, ResourceContents};
///
/// let text = ResourceContents::text("note://today", "Buy milk.").with_mime_type("text/plain");
/// let image = ResourceContents::blob("note://today/photo", "iVBORw0KGgo=").with_mime_type("image/png");
/// let result = ReadResourceResult::new([text, image]);
/// assert!(matches!(&result.contents[0].body, ResourceBody::Text(text) if text == "Buy milk."));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceContents {
    /// The URI; may be a sub-resource of the requested one.
    pub uri: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// The text or the bytes.
    pub body: ResourceBody,
    /// The `_meta` object (from 2025-06-18).
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
    /// Estimates the encoded size in bytes.
    pub(crate) fn size_hint(&self) -> usize {
        let (ResourceBody::Text(body) | ResourceBody::Blob(body)) = &self.body;
        64 + self.uri.len() + body.len()
    }

    /// Creates text contents.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Text(text.into()), meta: None }
    }

    /// Creates binary contents from base64.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Blob(base64.into()), meta: None }
    }
}

setters!(ResourceContents: some with_mime_type mime_type String; some with_meta meta Meta;);

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ResourceContents", 4)?;
        object.serialize_field("uri", &self.uri)?;
        if let Some(mime_type) = &self.mime_type {
            object.serialize_field("mimeType", mime_type)?;
        }
        match &self.body {
            ResourceBody::Text(text) => object.serialize_field("text", text)?,
            ResourceBody::Blob(blob) => object.serialize_field("blob", blob)?,
        }
        if let Some(meta) = &self.meta {
            object.serialize_field("_meta", meta)?;
        }
        object.end()
    }
}

impl FromRaw for ResourceContents {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        AnnotatedContents::read(reader).map(|read| read.contents)
    }
}

/// Resource contents with annotations, which some peers put there although the schema does not.
struct AnnotatedContents {
    contents: ResourceContents,
    annotations: Option<Annotations>,
}

impl FromRaw for AnnotatedContents {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let start = reader.offset();
        let (mut uri, mut mime_type) = (RequiredSlot(None), OptionalSlot(None));
        let (mut text, mut blob) = (OptionalSlot(None), OptionalSlot(None));
        let (mut annotations, mut meta) = (OptionalSlot(None), OptionalSlot(None));
        read_members(
            reader,
            &mut [
                MemberBinding::new("uri", &mut uri),
                MemberBinding::new("mimeType", &mut mime_type),
                MemberBinding::new("text", &mut text),
                MemberBinding::new("blob", &mut blob),
                MemberBinding::new("annotations", &mut annotations),
                MemberBinding::new("_meta", &mut meta),
            ],
        )?;
        let body = match (text.0, blob.0) {
            (Some(text), _) => ResourceBody::Text(text),
            (None, Some(blob)) => ResourceBody::Blob(blob),
            (None, None) => return Err(Mismatch::new(start, "a resource needs `text` or `blob`")),
        };
        let uri = uri.0.ok_or_else(|| Mismatch::missing(start, "uri"))?;
        let contents = ResourceContents { uri, mime_type: mime_type.0, body, meta: meta.0 };
        Ok(Self { contents, annotations: annotations.0 })
    }
}

impl_deserialize!(ResourceContents);

/// A resource embedded in a result or a prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents of the resource.
    pub resource: ResourceContents,
    /// Hints for the client, such as audience and priority.
    pub annotations: Option<Annotations>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

impl EmbeddedResource {
    /// Embeds a resource.
    pub fn new(resource: ResourceContents) -> Self {
        Self { resource, annotations: None, meta: None }
    }
}

wire!(write EmbeddedResource:
    required resource "resource";
    optional annotations "annotations", with_annotations(Annotations);
    optional meta "_meta", with_meta(Meta);
);

/// An embedded resource as peers write it.
struct EmbeddedResourceWire {
    resource: AnnotatedContents,
    annotations: Option<Annotations>,
    meta: Option<Meta>,
}

wire!(read EmbeddedResourceWire:
    required resource "resource";
    optional annotations "annotations";
    optional meta "_meta";
);

impl FromRaw for EmbeddedResource {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let EmbeddedResourceWire { resource, annotations, meta } = EmbeddedResourceWire::read(reader)?;
        // The schema puts annotations on the block; the specification's own examples put them inside.
        let annotations = annotations.or(resource.annotations);
        Ok(Self { resource: resource.contents, annotations, meta })
    }
}

impl_deserialize!(EmbeddedResource);

/// One page of resources.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources.
    pub resources: Vec<Resource>,
    /// The cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// How long the result may be cached, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share the cached result.
    pub cache_scope: Option<CacheScope>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ListResourcesResult:
    required resources "resources";
    optional next_cursor "nextCursor", with_next_cursor(String);
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    optional meta "_meta", with_meta(Meta);
);

impl ListResourcesResult {
    /// Creates the last or only page.
    pub fn new(resources: impl Into<Vec<Resource>>) -> Self {
        Self { resources: resources.into(), ..Self::default() }
    }
}

/// One page of resource templates.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates.
    pub resource_templates: Vec<ResourceTemplate>,
    /// The cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// How long the result may be cached, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share the cached result.
    pub cache_scope: Option<CacheScope>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ListResourceTemplatesResult:
    required resource_templates "resourceTemplates";
    optional next_cursor "nextCursor", with_next_cursor(String);
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    optional meta "_meta", with_meta(Meta);
);

impl ListResourceTemplatesResult {
    /// Creates the last or only page.
    pub fn new(templates: impl Into<Vec<ResourceTemplate>>) -> Self {
        Self { resource_templates: templates.into(), ..Self::default() }
    }
}

/// The parameters of `resources/read`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// The URI.
    pub uri: String,
    /// The responses to the input requests of the server (from 2026-07-28).
    pub input_responses: Option<InputResponses>,
    /// The opaque state of the server, sent back unchanged (from 2026-07-28).
    pub request_state: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ReadResourceParams:
    required uri "uri";
    optional input_responses "inputResponses", with_input_responses(InputResponses);
    optional request_state "requestState", with_request_state(String);
    optional meta "_meta", with_meta(Meta);
);

impl ReadResourceParams {
    /// Creates the parameters for a URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), input_responses: None, request_state: None, meta: None }
    }
}

/// The result of `resources/read`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents of the resource and its sub-resources.
    pub contents: Vec<ResourceContents>,
    /// How long the result may be cached, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share the cached result.
    pub cache_scope: Option<CacheScope>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ReadResourceResult:
    required contents "contents";
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    optional meta "_meta", with_meta(Meta);
);

impl ReadResourceResult {
    /// Creates a result.
    pub fn new(contents: impl Into<Vec<ResourceContents>>) -> Self {
        Self { contents: contents.into(), ..Self::default() }
    }
}

cacheable!(ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult);
