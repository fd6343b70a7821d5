//! Binary data in arguments, results and fields: base64 on the wire, declared in the schema.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::STANDARD};
use base64::{Engine as _, alphabet};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The standard alphabet; padding is optional because many clients omit it.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Binary data, such as a file, an image or a key.
///
/// Encoded in JSON as a base64 string, with `contentEncoding: base64` in the schema; a resource that returns it is
/// read as a blob. `#[arg(base64)]` does the same for a parameter of type `Vec<u8>` or `Option<Vec<u8>>`, which
/// otherwise is an array of numbers.
///
/// ```
/// use switchboard::service::Bytes;
///
/// let bytes: Bytes = serde_json::from_str("\"aGk=\"")?;
/// assert_eq!(&*bytes, b"hi");
/// assert_eq!(serde_json::to_string(&Bytes::from("hi"))?, "\"aGk=\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// Creates a value from bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes.
    pub fn into_vec(self) -> Vec<u8> {
        self.0
    }

    /// Returns the bytes as base64.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }

    /// Decodes base64, with or without padding.
    ///
    /// # Errors
    /// When `text` is not base64.
    pub fn from_base64(text: &str) -> Result<Self, Base64Error> {
        LENIENT.decode(text).map(Self).map_err(|error| Base64Error(error.to_string()))
    }
}

/// The text is not valid base64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not base64: {0}")]
pub struct Base64Error(String);

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Self {
        bytes.0
    }
}

/// Prints only the length: the content may be secret.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_base64(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Bytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn schema_id() -> Cow<'static, str> {
        SCHEMA_ID.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "contentEncoding": "base64"})
    }
}

const SCHEMA_ID: &str = "switchboard::service::Bytes";

/// Returns whether a type is [`Bytes`].
pub(crate) fn is_bytes<T: JsonSchema>() -> bool {
    T::schema_id() == SCHEMA_ID
}

/// Returns whether a schema describes bytes as base64.
pub(crate) fn is_base64(schema: &Value) -> bool {
    schema.get("contentEncoding").is_some_and(|encoding| encoding == "base64")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d5_bytes_are_base64_with_and_without_padding() {
        for text in ["\"aGk=\"", "\"aGk\""] {
            assert_eq!(&*serde_json::from_str::<Bytes>(text).unwrap(), b"hi");
        }
        for wrong in ["\"a-_k\"", "\"a\"", "[104,105]", "7"] {
            assert!(serde_json::from_str::<Bytes>(wrong).is_err(), "{wrong}");
        }
        let every: Vec<u8> = (0..=255).collect();
        let text = serde_json::to_string(&Bytes::new(every.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap().into_vec(), every);
        assert_eq!(format!("{:?}", Bytes::from("secret")), "Bytes(6 bytes)");
    }
}
