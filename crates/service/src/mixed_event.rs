//! An event type for streams that mix data, text and other content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard_design::{Error, OutputDef};
use switchboard_protocol::{Content, Raw, ResourceContents};

use crate::stream_json::item_text;
use crate::{StreamEvent, StreamJson};

/// An event of a stream that mixes data, text and other content. A stream of data alone uses its data type directly.
///
/// ```
/// use switchboard::service::{StreamEvent, MixedEvent, StreamJson};
///
/// let event: MixedEvent<u32> = MixedEvent::Data(7);
/// let items = event.to_items(StreamJson::Text)?;
/// assert_eq!(MixedEvent::from_items(items)?, event);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MixedEvent<T> {
    /// Data, encoded as JSON according to the server's [`StreamJson`].
    Data(T),
    /// Plain text.
    Text(String),
    /// Any other content: an image, bytes, a link.
    Content(Content),
}

impl<T> MixedEvent<T> {
    /// Creates content with the bytes of the resource at `uri`.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>, mime: impl Into<String>) -> Self {
        let contents = ResourceContents::blob(uri, STANDARD.encode(bytes));
        Self::Content(Content::resource(contents.with_mime_type(mime.into())))
    }
}

impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> StreamEvent for MixedEvent<T> {
    fn describe() -> Value {
        OutputDef::from_type::<T>().schema().cloned().unwrap_or(Value::Bool(true))
    }

    fn to_items(&self, json: StreamJson) -> Result<Vec<Content>, Error> {
        Ok(vec![match self {
            Self::Data(data) => json.item(&Raw::encode(data)?)?,
            Self::Text(text) => Content::text(text.as_str()),
            Self::Content(content) => content.clone(),
        }])
    }

    fn from_items(items: Vec<Content>) -> Result<Self, Error> {
        let item = items.into_iter().next().unwrap_or_else(|| Content::text(""));
        let data = item_text(&item).and_then(|text| serde_json::from_str(text).ok());
        Ok(match (data, item) {
            (Some(data), _) => Self::Data(data),
            (None, Content::Text(text)) => Self::Text(text.text),
            (None, other) => Self::Content(other),
        })
    }
}
