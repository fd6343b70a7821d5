//! Conversion of method return values to protocol results, and back.
//!
//! The type alone decides, so an alias changes nothing: [`Contents`] becomes content blocks, any other type with a
//! schema becomes structured data.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard_design::{Error, OutputDef};
use switchboard_protocol::{CallToolResult, Content, Raw, ResourceContents};

use crate::Contents;
use crate::bytes::{is_base64, is_bytes};
use crate::stream_json::{StreamJson, item_text};

/// The text content of a tool that returns nothing.
pub const SUCCESS: &str = r#"{"status":"success"}"#;

/// How a tool's result is encoded. Derived from the tool's design and the server options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResultEncoding {
    pub(crate) data: DataEncoding,
    /// JSON encoding of stream items, for a streaming tool.
    pub(crate) items: Option<StreamJson>,
}

/// How the returned value is encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DataEncoding {
    /// By its JSON type: a string as text, `null` as [`SUCCESS`], anything else as structured content.
    #[default]
    Inferred,
    /// As structured content.
    Structured,
    /// As JSON text only.
    TextOnly,
    /// As structured content, wrapped in an object with the member `result`.
    Wrapped,
}

impl ResultEncoding {
    /// Encodes JSON as a tool result: as structured content, and as a text item for clients that do not read that.
    fn encode(self, json: Raw) -> Result<CallToolResult, Error> {
        let json = match self.data {
            DataEncoding::Inferred if json.is_null() => {
                return Ok(CallToolResult::new([Content::text(SUCCESS)]));
            }
            DataEncoding::Inferred if json.as_str().starts_with('"') => {
                return Ok(CallToolResult::new([Content::text(json.decode::<String>()?)]));
            }
            DataEncoding::Inferred | DataEncoding::Structured => json,
            DataEncoding::TextOnly => {
                return Ok(CallToolResult::new([self.items.unwrap_or_default().item(&json)?]));
            }
            DataEncoding::Wrapped => {
                Raw::parse(format!(r#"{{"result":{}}}"#, json.as_str())).map_err(Error::Malformed)?
            }
        };
        let mut result = CallToolResult::new([self.items.unwrap_or_default().item(&json)?]);
        result.structured_content = Some(json);
        Ok(result)
    }
}

/// A type that a method can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a method",
    label = "not something that can be written as a result",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for it, or return `Contents`",
    note = "if it derives them already, check that `serde` and `schemars` are of the versions Switchboard uses"
)]
pub trait IntoOutput: Sized + Send {
    /// Describes the type for the design.
    fn describe() -> OutputDef;

    /// Converts the value to a tool result with the tool's encoding.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_tool_result(self, encoding: ResultEncoding) -> Result<CallToolResult, Error>;

    /// Converts the value to a tool result with the default encoding.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_result(self) -> Result<CallToolResult, Error> {
        self.into_tool_result(ResultEncoding::default())
    }

    /// Converts the value to the contents of a resource.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_contents(self) -> Result<Contents, Error>;

    /// Converts the value to JSON, for the plain JSON-RPC endpoint.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_json(self) -> Result<Raw, Error>;
}

impl<T: Serialize + JsonSchema + Send> IntoOutput for T {
    fn describe() -> OutputDef {
        let output = OutputDef::from_type::<T>();
        match output.schema().and_then(|schema| schema.get("type")).and_then(Value::as_str) {
            Some("null") => OutputDef::Nothing,
            Some("string") if output.schema().is_some_and(is_plain_text) => OutputDef::Text,
            _ => output,
        }
    }

    fn into_tool_result(self, encoding: ResultEncoding) -> Result<CallToolResult, Error> {
        encoding.encode(Raw::encode(&self)?)
    }

    fn into_contents(self) -> Result<Contents, Error> {
        let json = Raw::encode(&self)?;
        Ok(match json.as_str().as_bytes().first() {
            Some(b'"') if is_bytes::<T>() => {
                let blob = ResourceContents::blob("", json.decode::<String>()?);
                Contents::new([Content::resource(blob)])
            }
            Some(b'"') => Contents::text(json.decode::<String>()?),
            _ => Contents::text(json.as_str()),
        })
    }

    fn into_json(self) -> Result<Raw, Error> {
        Ok(Raw::encode(&self)?)
    }
}

/// Returns whether a string schema describes free text, neither an enum nor base64.
fn is_plain_text(schema: &Value) -> bool {
    schema.get("enum").is_none() && !is_base64(schema)
}

impl IntoOutput for Contents {
    fn describe() -> OutputDef {
        OutputDef::Content
    }

    fn into_tool_result(self, _: ResultEncoding) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(self.blocks))
    }

    fn into_contents(self) -> Result<Contents, Error> {
        Ok(self)
    }

    fn into_json(self) -> Result<Raw, Error> {
        Ok(Raw::encode(&self.blocks)?)
    }
}

/// A type that a typed client can decode from a response.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a result",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it, or return `Contents`"
)]
pub trait FromOutput: Sized + Send {
    /// Decodes a successful tool result.
    ///
    /// # Errors
    /// When the result does not match the type.
    fn from_result(result: CallToolResult) -> Result<Self, Error>;

    /// Decodes the contents of a resource.
    ///
    /// # Errors
    /// When the contents do not match the type.
    fn from_contents(contents: Contents) -> Result<Self, Error>;

    /// Decodes JSON.
    ///
    /// # Errors
    /// When the JSON does not match the type.
    fn from_json(json: &Raw) -> Result<Self, Error>;
}

impl<T: DeserializeOwned + JsonSchema + Send> FromOutput for T {
    fn from_result(result: CallToolResult) -> Result<Self, Error> {
        match &result.structured_content {
            Some(json) => json.decode().or_else(|error| decode_wrapped(json).ok_or(Error::Malformed(error))),
            None => from_text(&result.text()),
        }
    }

    fn from_contents(contents: Contents) -> Result<Self, Error> {
        from_text(contents.blocks.iter().find_map(item_text).unwrap_or("null"))
    }

    fn from_json(json: &Raw) -> Result<Self, Error> {
        json.decode().map_err(Error::Malformed)
    }
}

/// Decodes the `result` member of a wrapped result ([`DataEncoding::Wrapped`]).
fn decode_wrapped<T: DeserializeOwned>(json: &Raw) -> Option<T> {
    let mut members = json.fields();
    let (name, value) = members.next()?;
    if name != "result" || members.next().is_some() {
        return None;
    }
    value.decode().ok()
}

/// Decodes data from text: as JSON, else as a plain string, else as `null`.
pub(crate) fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let as_json = Raw::parse(text.to_owned()).and_then(|json| json.decode());
    as_json.or_else(|error| {
        serde_json::from_value(Value::String(text.to_owned()))
            .or_else(|_| serde_json::from_value(Value::Null))
            .map_err(|_| Error::Malformed(error))
    })
}

impl FromOutput for Contents {
    fn from_result(result: CallToolResult) -> Result<Self, Error> {
        Ok(Self::new(result.content))
    }

    fn from_contents(contents: Contents) -> Result<Self, Error> {
        Ok(contents)
    }

    fn from_json(json: &Raw) -> Result<Self, Error> {
        Ok(Self::new(json.decode::<Vec<Content>>().map_err(Error::Malformed)?))
    }
}
