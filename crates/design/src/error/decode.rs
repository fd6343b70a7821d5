//! Decodes the response of a peer: the inverse of [`ErrorRules::respond`](super::ErrorRules::respond).
//!
//! Invariant: invalid arguments decode to the same error under every policy of the peer.

use serde::Deserialize;
use switchboard_protocol::{CallToolResult, ErrorCode, RpcError};

use super::encode::unknown_kind_name;
use super::{ERROR_KEY, Error, INVALID_PARAMS_KEY, InvalidParams, NOT_FOUND, ToolError, UNKNOWN_KEY};
use crate::check::ItemKind;
use crate::repair::{Issue, Repair};

#[derive(Default, Deserialize)]
struct IssuesData {
    #[serde(default)]
    issues: Vec<Issue>,
}

/// Returns the URI if the error is about an unknown resource.
fn unknown_resource_uri(error: &RpcError) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ResourceData {
        uri: String,
    }
    let has_code = matches!(error.code, ErrorCode::RESOURCE_NOT_FOUND | ErrorCode::INVALID_PARAMS);
    let data = error.data.as_ref().filter(|_| has_code)?;
    data.decode::<ResourceData>().ok().map(|data| data.uri)
}

/// Returns kind and name if the error is about an unknown item.
fn unknown_item(error: &RpcError) -> Option<(ItemKind, String)> {
    #[derive(Deserialize)]
    struct ItemData {
        kind: String,
        name: String,
    }
    let data = error.data.as_ref()?;
    let (_, value) = data.fields().find(|(key, _)| key.as_str() == UNKNOWN_KEY)?;
    let item: ItemData = value.decode().ok()?;
    let kinds = [ItemKind::Tool, ItemKind::Prompt, ItemKind::Resource];
    let kind = kinds.into_iter().find(|kind| unknown_kind_name(*kind) == Some(&item.kind))?;
    Some((kind, item.name))
}

impl Error {
    /// Decodes a JSON-RPC error. `repair` returns how to repair invalid arguments, given the message.
    pub fn from_rpc(error: RpcError, repair: impl FnOnce(&str) -> Option<Repair>) -> Self {
        if let Some(uri) = unknown_resource_uri(&error) {
            return Self::Unknown { kind: ItemKind::Resource, name: uri, rpc: Some(error.code) };
        }
        if let Some((kind, name)) = unknown_item(&error) {
            return Self::Unknown { kind, name, rpc: Some(error.code) };
        }
        if let Some(scopes) = error.missing_scopes() {
            return Self::Unauthorized { scopes };
        }
        let own = error.data.as_ref().and_then(|data| data.decode::<ToolError>().ok());
        let is_not_found = own.as_ref().is_some_and(|own| own.code == NOT_FOUND);
        if error.code == ErrorCode::INVALID_PARAMS && !is_not_found {
            let issues =
                error.data.as_ref().and_then(|data| data.decode::<IssuesData>().ok()).unwrap_or_default();
            return Self::invalid_with_repair(error.message, issues.issues, repair);
        }
        match own {
            Some(own) => Self::Tool(ToolError { message: error.message, rpc: Some(error.code), ..own }),
            None => Self::Rpc(error),
        }
    }

    /// Decodes a failed tool result; `None` if the call succeeded.
    ///
    /// `repair` returns how to repair invalid arguments, given the message.
    pub fn from_result(result: &CallToolResult, repair: impl FnOnce(&str) -> Option<Repair>) -> Option<Self> {
        if !result.is_error {
            return None;
        }
        let message = result.text();
        let meta = result.meta.as_ref();
        if let Some(issues) =
            meta.and_then(|meta| meta.decode::<IssuesData>(INVALID_PARAMS_KEY).ok().flatten())
        {
            return Some(Self::invalid_with_repair(message, issues.issues, repair));
        }
        let own = meta.and_then(|meta| meta.decode::<ToolError>(ERROR_KEY).ok().flatten());
        Some(Self::Tool(match own {
            Some(own) => ToolError { message, ..own },
            // The service does not name its errors.
            None => ToolError::new("", message),
        }))
    }

    fn invalid_with_repair(
        message: String,
        issues: Vec<Issue>,
        repair: impl FnOnce(&str) -> Option<Repair>,
    ) -> Self {
        let mut repair = repair(&message);
        if let Some(repair) = &mut repair {
            repair.issues.clone_from(&issues);
        }
        Self::InvalidParams(InvalidParams { message, issues, repair: repair.map(Box::new) })
    }
}
