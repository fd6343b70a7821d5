//! The console itself: what it is, and the snapshot.

use serde::{Deserialize, Serialize};

use crate::contract::{
    CallSnapshot, LoginAttempt, Question, ResourceSubscription, ServerSnapshot, TaskSnapshot, TrafficTotals,
    UnixMs,
};

/// What serves the page: a host of configured servers, or a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConsoleMode {
    Host,
    Gateway,
}

/// What the console is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleInfo {
    pub version: String,
    pub mode: ConsoleMode,
    /// No action changes anything; true on a gateway.
    pub read_only: bool,
    /// Programs may be added to the configuration (`--allow-config-edit`).
    pub allow_config_edit: bool,
    pub started_at_ms: UnixMs,
    pub limits: ConsoleLimits,
}

/// The limits of the console.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleLimits {
    /// Frames that are kept: 10,000.
    pub max_frames: u64,
    /// Bytes of payloads that are kept: 64 MB.
    pub max_frame_bytes: u64,
    /// Payloads above this size are sent as a preview unless the whole is requested: 64 KB.
    pub preview_bytes: u64,
    /// Finished calls that are kept: 200.
    pub max_calls: u64,
    /// Lines of stderr that are kept for each server: 500.
    pub max_stderr_lines: u64,
    /// The largest recording that can be opened: 64 MB.
    pub max_recording_bytes: u64,
}

/// `GET /api/snapshot`: everything that is small. The catalog, traffic and audit are fetched by their pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Number of the last event that is included; events above it follow on the stream.
    pub sequence: u64,
    pub console: ConsoleInfo,
    pub servers: Vec<ServerSnapshot>,
    /// Revision of the catalog; a page whose catalog is older fetches it again.
    pub catalog_revision: u64,
    pub calls: Vec<CallSnapshot>,
    pub questions: Vec<Question>,
    pub tasks: Vec<TaskSnapshot>,
    pub subscriptions: Vec<ResourceSubscription>,
    pub login_attempts: Vec<LoginAttempt>,
    pub traffic: TrafficTotals,
    /// Present if no server is configured.
    pub first_run: Option<FirstRun>,
}

/// What is offered while no server is configured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstRun {
    pub demo_servers: Vec<DemoServer>,
    /// The command that looks for servers of other clients.
    pub import_command: String,
    pub import_sources: Vec<ImportSource>,
}

/// An embedded server for a first look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DemoServer {
    pub name: String,
    pub title: String,
    pub description: String,
}

/// The configuration of another client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportSource {
    pub client: String,
    pub path: String,
    pub servers: u64,
    /// The command that imports them.
    pub command: String,
}
