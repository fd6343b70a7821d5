//! Messages as text, for both sides: parameters and results are text already, and stay as they are.

use switchboard_protocol::{Raw, RequestId, RpcError};

/// The text of a request.
pub(crate) fn request_text(id: &RequestId, method: &str, params: &str) -> String {
    let (id, method) = (id_text(id), serde_json::Value::from(method));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

/// The text of a notification.
pub(crate) fn note_text(method: &str, params: Option<&str>) -> String {
    let method = serde_json::Value::from(method);
    match params {
        Some(params) => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#),
    }
}

/// The text of a response; without an id where that of the request could not be read.
pub(crate) fn response_text(id: Option<&RequestId>, outcome: Result<&Raw, &RpcError>) -> String {
    let id = id.map(|id| format!(r#","id":{}"#, id_text(id))).unwrap_or_default();
    match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0"{id},"result":{}}}"#, result.as_str()),
        Err(error) => {
            let error = Raw::encode(error).unwrap_or_else(|_| Raw::empty_object());
            format!(r#"{{"jsonrpc":"2.0"{id},"error":{}}}"#, error.as_str())
        }
    }
}

fn id_text(id: &RequestId) -> String {
    let mut text = Vec::new();
    id.write_json(&mut text);
    String::from_utf8(text).unwrap_or_default()
}
