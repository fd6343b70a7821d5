//! Error results for models: the error and the next step.

use switchboard_protocol::CallToolResult;

use crate::error::HostError;

/// Returns an error result.
pub(crate) fn error_result(error: &HostError) -> CallToolResult {
    CallToolResult::error(format!("{error}\nNext step: {}", error.next_step()))
}
