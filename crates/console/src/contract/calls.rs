//! Calls: requests, states, results, completion.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::{JsonText, TaskStatus, UnixMs};

/// `POST /api/calls`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallRequest {
    Tool {
        server: String,
        name: String,
        arguments_json: JsonText,
        /// A JSON object for `_meta`.
        meta_json: Option<JsonText>,
        as_task: bool,
        /// The user confirmed a call that the permission rules ask about.
        confirmed: bool,
        timeout_ms: Option<u64>,
    },
    Resource {
        server: String,
        uri: String,
    },
    Prompt {
        server: String,
        name: String,
        arguments: BTreeMap<String, String>,
    },
}

/// The number of a call that was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallStarted {
    pub call: u64,
}

/// A call that the console has started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallSnapshot {
    pub call: u64,
    pub request: CallRequest,
    pub started_at_ms: UnixMs,
    pub state: CallState,
    pub progress: Option<Progress>,
    /// The last 100 log messages of the call.
    pub logs: Vec<CallLog>,
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallState {
    Running,
    WaitingForAnswer { questions: Vec<u64> },
    Task { task_id: String, status: TaskStatus },
    Finished { at_ms: UnixMs, outcome: CallOutcome },
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallOutcome {
    /// The size of the result; the result itself is at `GET /api/calls/{call}/result`.
    Ok {
        bytes: u64,
    },
    ToolError {
        bytes: u64,
    },
    Error {
        code: Option<i64>,
        message: String,
        next_step: Option<String>,
    },
    Cancelled,
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// A log message of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallLog {
    pub at_ms: UnixMs,
    pub level: String,
    pub message: String,
}

/// `GET /api/calls/{call}/result`: the result as the server wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    pub call: u64,
    pub result_json: JsonText,
    /// The result is larger than the preview limit, and this is its beginning: not valid JSON.
    pub truncated: bool,
    pub bytes: u64,
}

/// `POST /api/complete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteRequest {
    pub server: String,
    pub reference: CompletionReference,
    pub argument: String,
    pub value: String,
    /// Arguments that are already filled in.
    pub context: BTreeMap<String, String>,
}

/// Values that complete an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteAnswer {
    pub values: Vec<String>,
    pub total: Option<u64>,
    pub has_more: bool,
}

/// What an argument belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CompletionReference {
    Prompt { name: String },
    Template { uri_template: String },
}
