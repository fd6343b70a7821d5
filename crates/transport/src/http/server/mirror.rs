//! Checks that the headers of a request say what the request says. What counts is the message.

use http::HeaderMap;
use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{ErrorCode, Raw, RpcError};

use crate::http::header::{self, METHOD, Mismatch, NAME, PROTOCOL_VERSION, check, check_parameters, marked};

/// Checks the headers of a request that stands alone.
///
/// # Errors
/// -32020, naming the header that is missing or differs.
pub(crate) fn check_mirror(
    headers: &HeaderMap,
    version: &str,
    request: &Request,
    schema: impl FnOnce(&str) -> Option<Raw>,
) -> Result<(), RpcError> {
    let method = &*request.method;
    check(headers, &PROTOCOL_VERSION, version).map_err(refused)?;
    check(headers, &METHOD, method).map_err(refused)?;
    let Some(subject) = header::subject(method) else { return Ok(()) };
    // Of two with one name the last counts, as everywhere.
    let (mut named, mut arguments) = (None, None);
    for (name, value) in request.fields() {
        if name == subject {
            named = Some(value);
        } else if name == "arguments" {
            arguments = Some(value);
        }
    }
    // What is no name at all is refused by whoever reads the parameters.
    let Some(named) = named else { return Ok(()) };
    let decoded: String;
    let name = match plain(&named) {
        Some(name) => name,
        None => match named.decode() {
            Ok(name) => {
                decoded = name;
                &decoded
            }
            Err(_) => return Ok(()),
        },
    };
    check(headers, &NAME, name).map_err(refused)?;
    if method != "tools/call" {
        return Ok(());
    }
    let Some(schema) = schema(name) else { return Ok(()) };
    let marks = marked(schema.as_str()).unwrap_or_default();
    let arguments = arguments.filter(|arguments| !arguments.is_null()).unwrap_or_else(Raw::empty_object);
    check_parameters(&marks, headers, arguments.as_str()).map_err(refused)
}

/// The text of a string that has no escapes.
fn plain(string: &Raw) -> Option<&str> {
    let inner = string.as_str().strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then_some(inner)
}

fn refused(mismatch: Mismatch) -> RpcError {
    RpcError::new(ErrorCode::HEADER_MISMATCH, format!("Header mismatch: {mismatch}"))
}
