//! Encoding of JSON-RPC messages.

use serde::Serialize;
use switchboard_protocol::{Raw, RequestId, RpcError};

/// Encodes a response. The id is `null` if that of the request could not be read.
pub(crate) fn encode_response(id: Option<&RequestId>, outcome: &Result<Raw, RpcError>) -> String {
    let mut text = String::from(r#"{"jsonrpc":"2.0","id":"#);
    put(&mut text, &id);
    match outcome {
        Ok(result) => {
            text.push_str(r#","result":"#);
            text.push_str(result.as_str());
        }
        Err(error) => {
            text.push_str(r#","error":"#);
            put(&mut text, error);
        }
    }
    text.push('}');
    text
}

/// Encodes a notification.
pub(crate) fn encode_notification<T: Serialize>(method: &str, params: &T) -> String {
    let mut text = String::from(r#"{"jsonrpc":"2.0","method":"#);
    put(&mut text, method);
    text.push_str(r#","params":"#);
    put(&mut text, params);
    text.push('}');
    text
}

/// Encodes a batch of responses.
pub(crate) fn encode_batch(responses: &[String]) -> String {
    format!("[{}]", responses.join(","))
}

fn put<T: Serialize + ?Sized>(text: &mut String, value: &T) {
    let start = text.len();
    if Raw::write(text, value).is_err() {
        // Ids, errors and notifications can always be encoded; the fallback keeps the message valid.
        text.truncate(start);
        text.push_str("null");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_type_and_an_unknown_one_is_null() {
        let result = Ok(Raw::parse("1").unwrap());
        assert_eq!(encode_response(Some(&7.into()), &result), r#"{"jsonrpc":"2.0","id":7,"result":1}"#);
        assert_eq!(encode_response(Some(&"7".into()), &result), r#"{"jsonrpc":"2.0","id":"7","result":1}"#);
        let error = Err(RpcError::invalid_request("no"));
        let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
        assert_eq!(encode_response(None, &error), text);
        assert_eq!(encode_notification("a\"b", &[1]), r#"{"jsonrpc":"2.0","method":"a\"b","params":[1]}"#);
    }
}
