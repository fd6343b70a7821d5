//! Failures as the model sees them: a result that says what went wrong and what to do next.

use switchboard_protocol::CallToolResult;

use crate::error::HostError;

/// A failure as a result of the tool.
pub(crate) fn failure(error: &HostError) -> CallToolResult {
    CallToolResult::error(format!("{error}\nNext step: {}", error.next_step()))
}
