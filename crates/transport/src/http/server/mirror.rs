//! Checks that the headers of a request say what the request says. What counts is the message.

use http::HeaderMap;
use serde::Deserialize;
use switchboard_protocol::{ErrorCode, Raw, RpcError};

use crate::http::header::{self, METHOD, Mismatch, NAME, PROTOCOL_VERSION, check, check_parameters, marked};

/// The members of the parameters that are mirrored.
#[derive(Default, Deserialize)]
struct Subject {
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "taskId")]
    task_id: Option<String>,
    arguments: Option<Raw>,
}

/// Checks the headers of a request that stands alone.
///
/// # Errors
/// -32020, naming the header that is missing or differs.
pub(crate) fn check_mirror(
    headers: &HeaderMap,
    version: &str,
    method: &str,
    params: Option<&Raw>,
    schema: impl FnOnce(&str) -> Option<Raw>,
) -> Result<(), RpcError> {
    check(headers, &PROTOCOL_VERSION, version).map_err(refused)?;
    check(headers, &METHOD, method).map_err(refused)?;
    let subject: Subject = params.and_then(|params| params.decode().ok()).unwrap_or_default();
    let name = match header::subject(method) {
        Some("name") => subject.name,
        Some("uri") => subject.uri,
        Some("taskId") => subject.task_id,
        _ => None,
    };
    let Some(name) = name else { return Ok(()) };
    check(headers, &NAME, &name).map_err(refused)?;
    if method != "tools/call" {
        return Ok(());
    }
    let Some(schema) = schema(&name) else { return Ok(()) };
    let marks = marked(schema.as_str()).unwrap_or_default();
    let arguments = subject.arguments.unwrap_or_else(Raw::empty_object);
    check_parameters(&marks, headers, arguments.as_str()).map_err(refused)
}

fn refused(mismatch: Mismatch) -> RpcError {
    RpcError::new(ErrorCode::HEADER_MISMATCH, format!("Header mismatch: {mismatch}"))
}
