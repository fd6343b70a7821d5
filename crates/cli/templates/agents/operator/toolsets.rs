//! The toolsets of the operator, one per service, and their shared code.
//!
//! Written once by `switchboard new --agent`; it is yours.

pub mod __module__;

use std::error::Error;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard::protocol::CallToolResult;

/// A call of a tool.
#[derive(Debug)]
pub struct Step {
    /// The server that has the tool.
    pub server: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// Returns the text of a result.
///
/// # Errors
/// Returns the tool's message if it failed.
pub fn text(result: &CallToolResult) -> Result<String, Box<dyn Error>> {
    match result.is_error {
        true => Err(result.text().into()),
        false => Ok(result.text()),
    }
}

/// Decodes the data of a result.
///
/// # Errors
/// Returns an error if the tool failed, or its data has another shape.
pub fn data<T: DeserializeOwned>(result: &CallToolResult) -> Result<T, Box<dyn Error>> {
    /// Wrapper of data that is not an object.
    #[derive(Deserialize)]
    struct Wrapped<T> {
        result: T,
    }
    text(result)?;
    if let Ok(Some(data)) = result.structured() {
        return Ok(data);
    }
    let wrapped: Option<Wrapped<T>> = result.structured()?;
    Ok(wrapped.ok_or("the tool returned no data")?.result)
}
