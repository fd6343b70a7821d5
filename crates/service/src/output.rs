//! What methods return, as results of the protocol, and back.
//!
//! Data of any type that has a schema is structured; [`Contents`] is content. Decided by the type alone: an alias
//! changes nothing.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard_design::{Error, OutputDef};
use switchboard_protocol::{CallToolResult, Content, Raw, ResourceContents};

use crate::Contents;
use crate::bytes::{is_base64, is_bytes};
use crate::stream_json::{StreamJson, held_text};

/// What a tool without a result says.
pub const SUCCESS: &str = r#"{"status":"success"}"#;

/// How the result of one tool is written. Made from its design by whoever serves it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    pub(crate) data: Data,
    /// How its items hold JSON, when it is a streaming tool.
    pub(crate) items: Option<StreamJson>,
}

/// How data is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Data {
    /// Text is text, nothing is success, and the rest is data.
    #[default]
    ByLooks,
    /// As data, whatever it is.
    AsIs,
    /// As text that holds JSON.
    TextOnly,
    /// As an object with the member `result`.
    Wrapped,
}

impl Shape {
    /// Writes JSON as a result: once as data, and once as an item for whoever reads no data.
    fn write(self, json: Raw) -> Result<CallToolResult, Error> {
        let json = match self.data {
            Data::ByLooks if json.is_null() => return Ok(CallToolResult::new([Content::text(SUCCESS)])),
            Data::ByLooks if json.as_str().starts_with('"') => {
                return Ok(CallToolResult::new([Content::text(json.decode::<String>()?)]));
            }
            Data::ByLooks | Data::AsIs => json,
            Data::TextOnly => {
                return Ok(CallToolResult::new([self.items.unwrap_or_default().item(&json)?]));
            }
            Data::Wrapped => {
                Raw::parse(format!(r#"{{"result":{}}}"#, json.as_str())).map_err(Error::Malformed)?
            }
        };
        let mut result = CallToolResult::new([self.items.unwrap_or_default().item(&json)?]);
        result.structured_content = Some(json);
        Ok(result)
    }
}

/// What a method may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a method",
    label = "not something that can be written as a result",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for it, or return `Contents`",
    note = "if it derives them already, check that `serde` and `schemars` are of the versions Switchboard uses"
)]
pub trait IntoOutput: Sized + Send {
    /// What it is, for the design.
    fn describe() -> OutputDef;

    /// As the result of a tool, written as the tool's design says.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_shaped(self, shape: Shape) -> Result<CallToolResult, Error>;

    /// As the result of a tool of which nothing is known.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_result(self) -> Result<CallToolResult, Error> {
        self.into_shaped(Shape::default())
    }

    /// As the contents of a resource.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_contents(self) -> Result<Contents, Error>;

    /// As JSON, for the plain endpoint.
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

    fn into_shaped(self, shape: Shape) -> Result<CallToolResult, Error> {
        shape.write(Raw::encode(&self)?)
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

/// Whether a schema of strings describes text that stands for itself.
fn is_plain_text(schema: &Value) -> bool {
    schema.get("enum").is_none() && !is_base64(schema)
}

impl IntoOutput for Contents {
    fn describe() -> OutputDef {
        OutputDef::Content
    }

    fn into_shaped(self, _: Shape) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(self.blocks))
    }

    fn into_contents(self) -> Result<Contents, Error> {
        Ok(self)
    }

    fn into_json(self) -> Result<Raw, Error> {
        Ok(Raw::encode(&self.blocks)?)
    }
}

/// What a typed client gets back from a method.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a result",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it, or return `Contents`"
)]
pub trait FromOutput: Sized + Send {
    /// From the result of a tool that did not fail.
    ///
    /// # Errors
    /// When it is something else.
    fn from_result(result: CallToolResult) -> Result<Self, Error>;

    /// From the contents of a resource.
    ///
    /// # Errors
    /// When they are something else.
    fn from_contents(contents: Contents) -> Result<Self, Error>;

    /// From JSON.
    ///
    /// # Errors
    /// When it is something else.
    fn from_json(json: &Raw) -> Result<Self, Error>;
}

impl<T: DeserializeOwned + JsonSchema + Send> FromOutput for T {
    fn from_result(result: CallToolResult) -> Result<Self, Error> {
        match &result.structured_content {
            Some(json) => json.decode().or_else(|error| unwrapped(json).ok_or(Error::Malformed(error))),
            None => from_text(&result.text()),
        }
    }

    fn from_contents(contents: Contents) -> Result<Self, Error> {
        from_text(contents.blocks.iter().find_map(held_text).unwrap_or("null"))
    }

    fn from_json(json: &Raw) -> Result<Self, Error> {
        json.decode().map_err(Error::Malformed)
    }
}

/// What a server that wraps what is no object put into it.
fn unwrapped<T: DeserializeOwned>(json: &Raw) -> Option<T> {
    let mut members = json.fields();
    let (name, value) = members.next()?;
    if name != "result" || members.next().is_some() {
        return None;
    }
    value.decode().ok()
}

/// Data in a text: JSON; else a string as it is; nothing from what says nothing.
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
