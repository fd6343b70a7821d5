//! The toolset `notes` of the scribe: from the types of the service to calls of its tools, and back.
//!
//! Written once by `switchboard new --agent`; it is yours. Everything that knows the names of tools is here, so that a
//! planner does not.

use std::error::Error;

use __crate__::Note;
use switchboard::service::FromOutput;
use switchboard::{CallToolResult, Raw, json};

/// The name the service is registered under in `bootstrap.rs`.
const SERVER: &str = "notes";

/// A call to be made.
#[derive(Debug)]
pub struct Step {
    /// The server that has the tool.
    pub server: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Raw,
}

/// To keep a note.
pub fn add(text: &str, tags: &[&str]) -> Step {
    step("add_note", json!({ "text": text, "tags": tags }))
}

/// The note that was kept.
///
/// # Errors
/// When it was not.
pub fn added(result: &CallToolResult) -> Result<Note, Box<dyn Error>> {
    data(result)
}

/// To find notes.
pub fn find(query: &str) -> Step {
    step("find_notes", json!({ "query": query }))
}

/// The notes that were found.
///
/// # Errors
/// When none could be looked for.
pub fn found(result: &CallToolResult) -> Result<Vec<Note>, Box<dyn Error>> {
    data(result)
}

fn step(tool: &'static str, arguments: impl Into<Raw>) -> Step {
    Step { server: SERVER, tool, arguments: arguments.into() }
}

/// What a tool returned, as the type its method in the trait returns.
fn data<T: FromOutput>(result: &CallToolResult) -> Result<T, Box<dyn Error>> {
    if result.is_error {
        return Err(result.text().into());
    }
    Ok(T::from_result(result.clone())?)
}
