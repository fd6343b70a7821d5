//! JSON encodings of stream items.

use switchboard_design::Error;
use switchboard_protocol::{Content, Raw, ResourceBody, ResourceContents};

/// How the content items of a streaming tool encode JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum StreamJson {
    /// Text items with JSON.
    #[default]
    Text,
    /// Embedded resources of type `application/json`.
    Resource,
    /// Text items with the member `"mimeType": "application/json"`.
    TypedText,
}

impl StreamJson {
    /// Encodes JSON as a content item.
    ///
    /// # Errors
    /// When the item cannot be encoded, which does not happen for valid JSON.
    pub fn item(self, json: &Raw) -> Result<Content, Error> {
        Ok(match self {
            Self::Text => Content::text(json.as_str()),
            Self::Resource => Content::resource(
                ResourceContents::text("data:application/json,", json.as_str())
                    .with_mime_type("application/json"),
            ),
            Self::TypedText => {
                let item = serde_json::json!({"type": "text", "mimeType": "application/json", "text": json.as_str()});
                Content::Unknown(Raw::encode(&item)?)
            }
        })
    }
}

/// Returns the text of an item that can contain JSON.
pub(crate) fn item_text(item: &Content) -> Option<&str> {
    match item {
        Content::Text(text) => Some(&text.text),
        Content::Resource(embedded) => match &embedded.resource.body {
            ResourceBody::Text(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
