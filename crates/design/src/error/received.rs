//! What a peer's answer means: the way back from [`Answer`](super::Answer).
//!
//! Invariant: arguments that do not fit are the same error here, however they were told.

use serde::Deserialize;
use switchboard_protocol::{CallToolResult, ErrorCode, RpcError};

use super::answer::unknown_kind;
use super::{ERROR_KEY, Error, INVALID_PARAMS_KEY, InvalidParams, NOT_FOUND, ToolError, UNKNOWN_KEY};
use crate::check::ItemKind;
use crate::repair::{Issue, Repair};

#[derive(Default, Deserialize)]
struct Issues {
    #[serde(default)]
    issues: Vec<Issue>,
}

/// The URI of the resource that does not exist, if that is what the error says.
fn unknown_resource(error: &RpcError) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Named {
        uri: String,
    }
    let coded = matches!(error.code, ErrorCode::RESOURCE_NOT_FOUND | ErrorCode::INVALID_PARAMS);
    let data = error.data.as_ref().filter(|_| coded)?;
    data.decode::<Named>().ok().map(|named| named.uri)
}

/// The tool or prompt that does not exist, if that is what the error says.
fn unknown_item(error: &RpcError) -> Option<(ItemKind, String)> {
    #[derive(Deserialize)]
    struct Named {
        kind: String,
        name: String,
    }
    let data = error.data.as_ref()?;
    let (_, value) = data.fields().find(|(key, _)| key.as_str() == UNKNOWN_KEY)?;
    let named: Named = value.decode().ok()?;
    let kinds = [ItemKind::Tool, ItemKind::Prompt, ItemKind::Resource];
    let kind = kinds.into_iter().find(|kind| unknown_kind(*kind) == Some(&named.kind))?;
    Some((kind, named.name))
}

impl Error {
    /// What a JSON-RPC error means. `repair` is asked how to repair arguments that do not fit, given what is wrong.
    pub fn from_rpc(error: RpcError, repair: impl FnOnce(&str) -> Option<Repair>) -> Self {
        if let Some(uri) = unknown_resource(&error) {
            return Self::Unknown { kind: ItemKind::Resource, name: uri, rpc: Some(error.code) };
        }
        if let Some((kind, name)) = unknown_item(&error) {
            return Self::Unknown { kind, name, rpc: Some(error.code) };
        }
        if let Some(scopes) = error.missing_scopes() {
            return Self::Unauthorised { scopes };
        }
        let own = error.data.as_ref().and_then(|data| data.decode::<ToolError>().ok());
        let is_missing = own.as_ref().is_some_and(|own| own.code == NOT_FOUND);
        if error.code == ErrorCode::INVALID_PARAMS && !is_missing {
            let issues =
                error.data.as_ref().and_then(|data| data.decode::<Issues>().ok()).unwrap_or_default();
            return Self::invalid(error.message, issues.issues, repair);
        }
        match own {
            Some(own) => Self::Tool(ToolError { message: error.message, rpc: Some(error.code), ..own }),
            None => Self::Rpc(error),
        }
    }

    /// What a failed result of a tool means; nothing when it did not fail.
    ///
    /// `repair` is asked how to repair arguments that do not fit, given what is wrong.
    pub fn from_result(result: &CallToolResult, repair: impl FnOnce(&str) -> Option<Repair>) -> Option<Self> {
        if !result.is_error {
            return None;
        }
        let message = result.text();
        let meta = result.meta.as_ref();
        if let Some(issues) = meta.and_then(|meta| meta.decode::<Issues>(INVALID_PARAMS_KEY).ok().flatten()) {
            return Some(Self::invalid(message, issues.issues, repair));
        }
        let own = meta.and_then(|meta| meta.decode::<ToolError>(ERROR_KEY).ok().flatten());
        Some(Self::Tool(match own {
            Some(own) => ToolError { message, ..own },
            // A service that gives its errors no names.
            None => ToolError::new("", message),
        }))
    }

    fn invalid(message: String, issues: Vec<Issue>, repair: impl FnOnce(&str) -> Option<Repair>) -> Self {
        let mut repair = repair(&message);
        if let Some(repair) = &mut repair {
            repair.issues.clone_from(&issues);
        }
        Self::InvalidParams(InvalidParams { message, issues, repair: repair.map(Box::new) })
    }
}
