//! The `_meta` object and its reserved keys.
//!
//! Values stay JSON text, so that foreign keys survive a relay byte for byte. The object itself is parsed on first
//! access. Which peer must send which key is not decided here.

use std::fmt;
use std::sync::OnceLock;

use serde_core::de::DeserializeOwned;
use serde_core::{Serialize, Serializer};
use switchboard_json::{DecodeError, EncodeError, FromRaw, Mismatch, OrderedMap, Raw, RawReader};

use crate::jsonrpc::RequestId;
use crate::wire::impl_deserialize;

/// The `_meta` object of a request, a result, a notification, or a value inside one.
///
/// ```
/// use switchboard::protocol::{Meta, RequestId};
///
/// let meta = Meta::new().with(Meta::PROGRESS_TOKEN, &"p7")?;
/// assert_eq!(meta.progress_token(), Some(RequestId::from("p7")));
/// # Ok::<(), switchboard::protocol::EncodeError>(())
/// ```
#[derive(Clone, Default)]
pub struct Meta {
    /// The received text; `None` if the object was created locally or has been modified.
    wire: Option<Raw>,
    /// The parsed entries. Boxed to keep the size small: most are never parsed.
    entries: OnceLock<Box<OrderedMap<Raw>>>,
}

impl Meta {
    /// The token under which progress of this request is reported.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The revision of this request (from 2026-07-28).
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The client that sends this request (from 2026-07-28).
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The capabilities of the client that sends this request (from 2026-07-28).
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The minimum level of log messages for this request (from 2026-07-28).
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The server that answers (results, from 2026-07-28).
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The listen request that a notification belongs to (from 2026-07-28).
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The task that a message belongs to (2025-11-25 only).
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// A message for the model while a task runs (2025-11-25 only).
    pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
    /// W3C trace context: the parent span.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C trace context: vendor state.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C baggage.
    pub const BAGGAGE: &str = "baggage";

    /// The keys that describe one hop of a request, to be replaced by whoever relays it.
    pub const PER_REQUEST: [&str; 4] =
        [Self::PROTOCOL_VERSION, Self::CLIENT_INFO, Self::CLIENT_CAPABILITIES, Self::LOG_LEVEL];

    /// Wraps a received object.
    pub(crate) fn received(object: Raw) -> Self {
        debug_assert!(object.is_object(), "checked by the caller");
        Self { wire: Some(object), entries: OnceLock::new() }
    }

    /// Creates an empty object.
    pub const fn new() -> Self {
        Self { wire: None, entries: OnceLock::new() }
    }

    fn entries(&self) -> &OrderedMap<Raw> {
        self.entries.get_or_init(|| {
            let fields = self.wire.iter().flat_map(Raw::fields);
            Box::new(fields.map(|(name, value)| (name.as_str().to_owned(), value)).collect())
        })
    }

    fn entries_mut(&mut self) -> &mut OrderedMap<Raw> {
        self.entries();
        self.wire = None;
        self.entries.get_mut().expect("initialized by `entries` above")
    }

    /// Returns the value of `key` as JSON text.
    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.entries().get(key)
    }

    /// Sets `key` and returns the previous value.
    pub fn insert(&mut self, key: impl Into<String>, value: Raw) -> Option<Raw> {
        self.entries_mut().insert(key, value)
    }

    /// Sets `key` to a value, encoded as JSON.
    ///
    /// # Errors
    /// When the value cannot be encoded as JSON.
    pub fn with<T: Serialize + ?Sized>(
        mut self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<Self, EncodeError> {
        self.entries_mut().insert(key, Raw::encode(value)?);
        Ok(self)
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Raw> {
        self.entries_mut().remove(key)
    }

    /// Decodes the value of `key`; `None` if it is missing.
    ///
    /// # Errors
    /// When the value does not fit the type; the path starts with `_meta`.
    pub fn decode<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, DecodeError> {
        self.entries().get(key).map(Raw::decode).transpose().map_err(|error: DecodeError| {
            DecodeError::mismatch(format!("_meta[{key:?}]"), error.kind().to_string())
        })
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        match (self.entries.get(), &self.wire) {
            (Some(entries), _) => entries.is_empty(),
            (None, Some(wire)) => wire.field_spans().next().is_none(),
            (None, None) => true,
        }
    }

    /// Returns the object with only the entries whose keys `keeps` accepts. A received object is parsed only if some of its
    /// entries stay and others do not.
    #[must_use]
    pub fn filtered(self, keeps: impl Fn(&str) -> bool) -> Self {
        if self.entries.get().is_none()
            && let Some(wire) = &self.wire
        {
            let kept = wire.field_spans().filter(|(name, _)| keeps(name.as_str())).count();
            if kept == 0 {
                return Self::new();
            }
            if kept == wire.field_spans().count() {
                return self;
            }
        }
        self.iter()
            .filter(|(key, _)| keeps(key))
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect()
    }

    /// Iterates over the entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Raw)> {
        self.entries().iter()
    }

    /// Returns the progress token, if it is valid.
    pub fn progress_token(&self) -> Option<RequestId> {
        RequestId::from_json(self.get(Self::PROGRESS_TOKEN)?.as_str())
    }

    /// Returns the id of the listen request that this notification belongs to.
    pub fn subscription_id(&self) -> Option<RequestId> {
        RequestId::from_json(self.get(Self::SUBSCRIPTION_ID)?.as_str())
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Meta").field(self.entries()).finish()
    }
}

impl PartialEq for Meta {
    fn eq(&self, other: &Self) -> bool {
        self.entries() == other.entries()
    }
}

impl Eq for Meta {}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.wire {
            Some(wire) => wire.serialize(serializer),
            None => self.entries().serialize(serializer),
        }
    }
}

impl FromRaw for Meta {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        match reader.first_byte() {
            b'{' => Ok(Self::received(reader.read_raw())),
            _ => Err(Mismatch::new(reader.offset(), "expected an object")),
        }
    }

    fn from_raw(raw: &Raw) -> Result<Self, DecodeError> {
        match raw.is_object() {
            true => Ok(Self::received(raw.clone())),
            false => Err(DecodeError::mismatch(".", "expected an object")),
        }
    }
}

impl_deserialize!(Meta);

impl FromIterator<(String, Raw)> for Meta {
    fn from_iter<I: IntoIterator<Item = (String, Raw)>>(entries: I) -> Self {
        Self {
            wire: None,
            entries: OnceLock::from(Box::new(entries.into_iter().collect::<OrderedMap<Raw>>())),
        }
    }
}

/// Returns whether `key` follows the grammar for `_meta` keys: an optional prefix of dotted labels and a slash, then a
/// name.
pub fn is_meta_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => prefix.split('.').all(is_label) && is_name(name),
        None => is_name(key),
    }
}

/// Returns whether the prefix of `key` is reserved: its second label is `modelcontextprotocol` or `mcp`.
pub fn is_reserved_meta_key(key: &str) -> bool {
    let Some((prefix, _)) = key.split_once('/') else { return false };
    matches!(prefix.split('.').nth(1), Some("modelcontextprotocol" | "mcp"))
}

/// Returns whether a label starts with a letter, ends with a letter or digit, and has hyphens only inside.
fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
}

/// Letters or digits at both ends, `-_.` inside; may be empty.
fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_none_or(u8::is_ascii_alphanumeric)
        && bytes.last().is_none_or(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_keys_survive_byte_for_byte() {
        let text = r#"{"com.example/x":{"n": 1.0 },"progressToken":7}"#;
        let meta: Meta = serde_json::from_str(text).unwrap();
        assert_eq!(meta.progress_token(), Some(RequestId::Number(7)));
        assert_eq!(serde_json::to_string(&meta).unwrap(), text);
    }

    #[test]
    fn a_mismatch_is_an_error_that_names_the_key() {
        let meta = Meta::new().with(Meta::LOG_LEVEL, &5).unwrap();
        let error = meta.decode::<String>(Meta::LOG_LEVEL).unwrap_err();
        assert_eq!(error.path(), "_meta[\"io.modelcontextprotocol/logLevel\"]");
        assert_eq!(meta.decode::<String>(Meta::CLIENT_INFO).unwrap(), None);
    }

    #[test]
    fn keys_follow_the_grammar() {
        for key in
            ["", "a", "a.b_c-d", "com.example/", "com.example/x", Meta::RELATED_TASK, Meta::TRACEPARENT]
        {
            assert!(is_meta_key(key), "{key:?}");
        }
        for key in ["-a", "a-", "/x", "1com/x", "com-/x", "com..x/y", "com/x/y", "ä", "a b"] {
            assert!(!is_meta_key(key), "{key:?}");
        }
        assert!(is_reserved_meta_key("io.mcp/x") && is_reserved_meta_key("tools.modelcontextprotocol.com/x"));
        assert!(!is_reserved_meta_key("com.example.mcp/x") && !is_reserved_meta_key("mcp"));
    }
}
