//! Questions of servers, tasks, subscriptions.

use serde::{Deserialize, Serialize};

use crate::contract::{JsonText, UnixMs};

/// A question of a server that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub question: u64,
    pub server: String,
    /// The call that waits for the answer, if it is known.
    pub call: Option<u64>,
    pub asked_at_ms: UnixMs,
    pub expires_at_ms: Option<UnixMs>,
    pub body: QuestionBody,
}

/// What a server asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum QuestionBody {
    Form { message: String, schema_json: JsonText },
    Url { message: String, url: String },
    Sampling { params_json: JsonText },
    Roots { roots: Vec<Root> },
}

/// A root of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    pub uri: String,
    pub name: Option<String>,
}

/// `POST /api/questions/{question}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    Accept {
        content_json: Option<JsonText>,
    },
    Decline,
    Cancel,
    /// A `CreateMessageResult`.
    Sampling {
        result_json: JsonText,
    },
    Roots {
        roots: Vec<Root>,
    },
}

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// A task of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskSnapshot {
    pub server: String,
    pub task_id: String,
    pub call: Option<u64>,
    pub status: TaskStatus,
    pub status_message: Option<String>,
    pub created_at_ms: UnixMs,
    pub updated_at_ms: UnixMs,
    pub ttl_ms: Option<u64>,
}

/// A resource that is subscribed to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSubscription {
    pub server: String,
    pub uri: String,
    pub updates: u64,
    pub last_update_ms: Option<UnixMs>,
}
