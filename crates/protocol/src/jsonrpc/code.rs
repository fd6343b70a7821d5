//! Error codes and the error object of a response.
//!
//! An [`RpcError`] is data from or for the peer, not an error of this crate.

use std::fmt;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, Raw, RawReader};

use crate::wire::{LenientSlot, MemberBinding, OptionalSlot, impl_deserialize, read_members, wire};

/// A JSON-RPC error code. The codes of the specification are constants; any other number is valid, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub i32);

impl ErrorCode {
    /// The message is not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a JSON-RPC message.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist or its capability was not offered.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters are wrong: arguments, an unknown tool or prompt, a cursor, missing `_meta`.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed to handle the request.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// The resource does not exist (2024-11-05 to 2025-11-25; later revisions say [`Self::INVALID_PARAMS`]).
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// The user must visit a URL first (2025-11-25 only).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
    /// A mirrored HTTP header does not match the body (from 2026-07-28).
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request needs a client capability that it did not declare (from 2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The protocol version of the request is not supported (from 2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);
    /// The user rejected a sampling request (2024-11-05 to 2025-11-25, client to server).
    pub const USER_REJECTED: Self = Self(-1);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error object of a JSON-RPC response.
///
/// ```
/// use switchboard::json;
/// use switchboard::protocol::{ErrorCode, RpcError};
///
/// let error = RpcError::invalid_params("`city` is missing").with_data(json!({ "field": "city" }));
/// assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
/// assert_eq!(error.code.0, -32602);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The error code.
    pub code: ErrorCode,
    /// A short description for humans.
    pub message: String,
    /// Additional data, whose shape depends on the code.
    pub data: Option<Raw>,
}

wire!(write RpcError: required code "code"; required message "message"; optional data "data";);
impl_deserialize!(RpcError);

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

impl RpcError {
    /// Creates an error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Sets the data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Raw>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Creates an error -32600 (invalid request).
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    /// Creates an error -32601 (method not found) that names the method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// Creates an error -32602 (invalid params).
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// Returns the OAuth scopes that the caller lacks, if the error names them: -32600 with `scopes` in its data.
    pub fn missing_scopes(&self) -> Option<Vec<String>> {
        let data = self.data.as_ref().filter(|_| self.code == ErrorCode::INVALID_REQUEST)?;
        let (_, scopes) = data.fields().find(|(name, _)| name.as_str() == "scopes")?;
        scopes.decode().ok()
    }

    /// Creates an error -32603 (internal error).
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, message)
    }
}

impl FromRaw for RpcError {
    /// Lenient: a code that is not an integer becomes -32603 and is preserved in `data`; a missing message is empty.
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let (mut code, mut message, mut data) =
            (OptionalSlot::<Raw>(None), LenientSlot(None), OptionalSlot::<Raw>(None));
        read_members(
            reader,
            &mut [
                MemberBinding::new("code", &mut code),
                MemberBinding::new("message", &mut message),
                MemberBinding::new("data", &mut data),
            ],
        )?;
        let read = code.0.as_ref().and_then(|code| i32::from_raw(code).ok());
        let original = code.0.filter(|_| read.is_none());
        let kept =
            original.map(|code| Raw::from_checked(format!(r#"{{"originalCode":{}}}"#, code.as_str()).into()));
        Ok(Self {
            code: read.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode),
            message: message.0.unwrap_or_default(),
            data: data.0.or(kept),
        })
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.0)
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i32::deserialize(deserializer).map(Self)
    }
}

/// Decodes an `error` member; a value that is not an object becomes an internal error with that value as its data.
pub(crate) fn read_error(raw: &Raw) -> RpcError {
    RpcError::from_raw(raw).unwrap_or_else(|_| RpcError {
        code: ErrorCode::INTERNAL_ERROR,
        message: String::new(),
        data: Some(raw.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_error_objects_are_tolerated() {
        let read = |text: &str| read_error(&Raw::parse(text.to_owned()).unwrap());
        assert_eq!(read(r#"{"code":-32601,"message":"no"}"#), RpcError::new(ErrorCode(-32601), "no"));
        let text_code = read(r#"{"code":"E_FAIL","message":"no"}"#);
        assert_eq!(text_code.code, ErrorCode::INTERNAL_ERROR);
        assert_eq!(text_code.data.unwrap().as_str(), r#"{"originalCode":"E_FAIL"}"#);
        assert_eq!(read(r#"{"code":-32000}"#), RpcError::new(ErrorCode(-32000), ""));
        assert_eq!(read(r#"{"code":1.5,"message":"x"}"#).code, ErrorCode::INTERNAL_ERROR);
        assert_eq!(read(r#""boom""#).data.unwrap().as_str(), r#""boom""#);
    }
}
