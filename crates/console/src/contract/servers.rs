//! Servers: state, identity, metrics, stderr, diagnosis.

use serde::{Deserialize, Serialize};

use crate::contract::{JsonText, UnixMs};

/// A configured server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerSnapshot {
    pub name: String,
    pub state: ServerState,
    /// Whether its tools are listed.
    pub enabled: bool,
    /// The scope of its configuration (`user`, `project`, …); null if it is not from a file.
    pub scope: Option<String>,
    pub transport: ServerTransport,
    /// While connected.
    pub session: Option<SessionSummary>,
    pub identity: Identity,
    pub metrics: ServerMetrics,
    /// The last 60 calls, oldest first.
    pub latency: Vec<LatencySample>,
    pub counts: ServerCounts,
    /// Estimated tokens of its visible tools.
    pub tokens: u64,
    /// Its configuration, secrets masked.
    pub config_json: JsonText,
    /// Rules that match none of its tools.
    pub unmatched_rules: Vec<String>,
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ServerState {
    Disabled,
    AwaitingApproval { command: String },
    Asleep,
    Starting { since_ms: UnixMs, attempt: u64 },
    Ready,
    Degraded { error: String, next_step: String },
    BackingOff { until_ms: UnixMs, attempt: u64, error: String, next_step: String },
    NeedsAuth { login: LoginRequirement },
    Failed { error: String, next_step: String, stderr_tail: Option<String> },
    Stopped,
}

/// A login that a server needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginRequirement {
    /// What has to happen before the server can be used.
    pub requirement: RequirementKind,
    pub scope: Option<String>,
    pub issuer: Option<String>,
    pub redirect_uri: Option<String>,
    pub code: Option<String>,
    pub accounts: Vec<String>,
    pub next_step: String,
}

/// What has to happen before a server can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementKind {
    Login,
    ClientRegistration,
    Administrator,
    Account,
    OtherCredentials,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ServerTransport {
    Stdio { command: Vec<String>, cwd: Option<String>, pid: Option<u64> },
    Http { url: String, legacy_sse: bool },
    InProcess,
}

/// An open session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    pub era: SessionEra,
    pub revision: String,
    /// The server's own name and version: an unverified claim.
    pub server_name: Option<String>,
    pub server_version: Option<String>,
    /// Capabilities that it declares, such as `tools`, `resources.subscribe`.
    pub capabilities: Vec<String>,
    pub instructions: Option<String>,
    pub connected_at_ms: UnixMs,
}

/// A generation of protocol revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionEra {
    Modern,
    Legacy,
}

/// Which identity reaches the server. Never holds a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Identity {
    None,
    Oauth {
        account: String,
        issuer: String,
        scopes: Vec<String>,
        expires_at_ms: Option<UnixMs>,
        can_refresh: bool,
    },
    Headers {
        names: Vec<String>,
    },
    HeadersHelper {
        command: String,
    },
    Environment {
        names: Vec<String>,
    },
    Process {
        user: String,
    },
    PerCaller {
        description: String,
    },
    Unknown {
        reason: String,
    },
}

/// Counts and latencies of a server since the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerMetrics {
    pub calls: u64,
    pub failures: u64,
    pub tool_errors: u64,
    pub reconnects: u64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
}

/// The latency of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LatencySample {
    pub at_ms: UnixMs,
    pub ms: f64,
    pub ok: bool,
}

/// How many items a server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerCounts {
    pub tools: u64,
    pub hidden_tools: u64,
    pub resources: u64,
    pub templates: u64,
    pub prompts: u64,
}

/// `GET /api/servers/{name}/stderr`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StderrTail {
    pub server: String,
    pub lines: Vec<StderrLine>,
    /// Lines that were dropped before the first.
    pub dropped: u64,
}

/// A line of stderr.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StderrLine {
    pub at_ms: UnixMs,
    pub text: String,
}

/// A diagnosis of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorRun {
    pub run: u64,
    pub server: String,
    pub steps: Vec<DoctorStep>,
    /// Null while it is running.
    pub outcome: Option<DoctorOutcome>,
}

/// A step of a diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorStep {
    pub step: String,
    pub ok: bool,
    pub ms: u64,
    pub message: String,
    pub stderr: Option<String>,
    pub tried: Vec<TriedUrl>,
}

/// A URL that a diagnosis has requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriedUrl {
    pub document: String,
    pub url: String,
    pub outcome: String,
}

/// The outcome of a diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorOutcome {
    pub ok: bool,
    pub next_step: Option<String>,
}
