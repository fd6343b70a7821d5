//! Adding a server.

use serde::{Deserialize, Serialize};

use crate::contract::JsonText;

/// `POST /api/servers/plan`: shows what adding would do; nothing is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AddRequest {
    Url { name: String, url: String, scope: String },
    Program { name: String, command: Vec<String>, scope: String },
}

/// What adding a server would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AddPlan {
    /// `POST /api/servers` with the same request writes this.
    Apply { path: String, entry_json: JsonText, warnings: Vec<String> },
    /// The console does not edit the configuration: a command to paste.
    Command { command: String, reason: String },
}
