//! Errors of the host as errors of the API.

use http::StatusCode;
use switchboard_host::{Host, HostError};

use crate::contract::ApiError;

/// Converts an error of the host.
pub(crate) fn api_error(error: &HostError) -> ApiError {
    let (status, code) = match error {
        HostError::NotConnected { .. } => (StatusCode::NOT_FOUND, "unknown_server"),
        HostError::UnknownTool { .. } => (StatusCode::NOT_FOUND, "unknown_tool"),
        HostError::Withheld { .. } | HostError::Refused { .. } => (StatusCode::FORBIDDEN, "denied"),
        HostError::Arguments { .. } => (StatusCode::BAD_REQUEST, "invalid_arguments"),
        _ => (StatusCode::BAD_GATEWAY, "server_error"),
    };
    ApiError::new(status, code, error.to_string()).with_next_step(error.next_step())
}

/// Checks that there is a server of this name.
///
/// # Errors
/// `404 unknown_server`.
pub(crate) fn check_server(host: &Host, name: &str) -> Result<(), ApiError> {
    host.state(name).map(drop).map_err(|error| api_error(&error))
}
