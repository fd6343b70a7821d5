//! Lowering of error codes.

use crate::jsonrpc::{ErrorCode, RpcError};
use crate::revision::{Era, Revision};

/// Lowers the code of an error to a revision; message and data are unchanged.
pub fn lower_error(error: &mut RpcError, to: Revision) {
    error.code = match (error.code, to.era()) {
        (ErrorCode::RESOURCE_NOT_FOUND, Era::Modern) => ErrorCode::INVALID_PARAMS,
        (ErrorCode::INVALID_PARAMS, Era::Legacy) if is_resource_not_found(error) => {
            ErrorCode::RESOURCE_NOT_FOUND
        }
        (ErrorCode::UNSUPPORTED_PROTOCOL_VERSION | ErrorCode::MISSING_CLIENT_CAPABILITY, Era::Legacy) => {
            ErrorCode::INVALID_PARAMS
        }
        (ErrorCode::HEADER_MISMATCH, Era::Legacy) => ErrorCode::INVALID_REQUEST,
        // Defined in one revision only; for all others it is a generic failure.
        (ErrorCode::URL_ELICITATION_REQUIRED, _) if to != Revision::V2025_11_25 => ErrorCode::INTERNAL_ERROR,
        (code, _) => code,
    };
}

/// Returns whether an invalid-params error means "resource not found": its data has the URI and no other member.
fn is_resource_not_found(error: &RpcError) -> bool {
    let Some(data) = &error.data else { return false };
    let mut members = data.field_texts();
    let is_uri = members.next().is_some_and(|(name, value)| name == "uri" && value.starts_with('"'));
    is_uri && members.next().is_none()
}
