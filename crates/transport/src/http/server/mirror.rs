//! Checks that the MCP headers of a stateless request match its body. The body is authoritative.

use http::HeaderMap;
use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{ErrorCode, Raw, RpcError};

use crate::http::header::{
    self, HeaderMismatch, METHOD, NAME, PROTOCOL_VERSION, check, check_parameters, mirrored_parameters,
};

/// Checks the headers of a stateless request.
///
/// # Errors
/// Error -32020, naming the header that is missing or differs.
pub(crate) fn check_mirror(
    headers: &HeaderMap,
    version: &str,
    request: &Request,
    schema: impl FnOnce(&str) -> Option<Raw>,
) -> Result<(), RpcError> {
    let method = &*request.method;
    check(headers, &PROTOCOL_VERSION, version).map_err(header_mismatch)?;
    check(headers, &METHOD, method).map_err(header_mismatch)?;
    let Some(subject) = header::name_parameter(method) else { return Ok(()) };
    // Of duplicate members the last one counts, as everywhere.
    let (mut named, mut arguments) = (None, None);
    for (name, value) in request.fields() {
        if name == subject {
            named = Some(value);
        } else if name == "arguments" {
            arguments = Some(value);
        }
    }
    // A missing or invalid name is rejected when the parameters are decoded.
    let Some(named) = named else { return Ok(()) };
    let decoded: String;
    let name = match unescaped(&named) {
        Some(name) => name,
        None => match named.decode() {
            Ok(name) => {
                decoded = name;
                &decoded
            }
            Err(_) => return Ok(()),
        },
    };
    check(headers, &NAME, name).map_err(header_mismatch)?;
    if method != "tools/call" {
        return Ok(());
    }
    let Some(schema) = schema(name) else { return Ok(()) };
    let marks = mirrored_parameters(schema.as_str()).unwrap_or_default();
    let arguments = arguments.filter(|arguments| !arguments.is_null()).unwrap_or_else(Raw::empty_object);
    check_parameters(&marks, headers, arguments.as_str()).map_err(header_mismatch)
}

/// Returns the content of a JSON string without escapes.
fn unescaped(string: &Raw) -> Option<&str> {
    let inner = string.as_str().strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then_some(inner)
}

fn header_mismatch(mismatch: HeaderMismatch) -> RpcError {
    RpcError::new(ErrorCode::HEADER_MISMATCH, format!("Header mismatch: {mismatch}"))
}
