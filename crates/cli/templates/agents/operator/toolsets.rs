//! The toolsets of the operator, one for each service, and what they have in common.
//!
//! Written once by `switchboard new --agent`; it is yours.

pub mod __module__;

use std::error::Error;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard::CallToolResult;

/// A call to be made.
#[derive(Debug)]
pub struct Step {
    /// The server that has the tool.
    pub server: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// What a tool said.
///
/// # Errors
/// When it failed: what it said about that.
pub fn text(result: &CallToolResult) -> Result<String, Box<dyn Error>> {
    match result.is_error {
        true => Err(result.text().into()),
        false => Ok(result.text()),
    }
}

/// The data that a tool returned.
///
/// # Errors
/// When it failed, or its data has another shape.
pub fn data<T: DeserializeOwned>(result: &CallToolResult) -> Result<T, Box<dyn Error>> {
    /// Data that is no object stands in one.
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
