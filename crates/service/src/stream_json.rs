//! How content items of streaming tools hold JSON.

use switchboard_design::Error;
use switchboard_protocol::{Content, Raw, ResourceBody, ResourceContents};

/// How content items of streaming tools hold JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum StreamJson {
    /// Items of text that hold JSON.
    #[default]
    Text,
    /// Items of type `resource` with `application/json`.
    Resource,
    /// Items of text with `"mimeType": "application/json"`.
    TypedText,
}

impl StreamJson {
    /// An item that holds this JSON.
    ///
    /// # Errors
    /// When the item cannot be written, which JSON always can.
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

/// The text that an item holds, if it is one that can hold JSON.
pub(crate) fn held_text(item: &Content) -> Option<&str> {
    match item {
        Content::Text(text) => Some(&text.text),
        Content::Resource(embedded) => match &embedded.resource.body {
            ResourceBody::Text(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
