//! A gateway: views, limits, parked questions, the audit log.

use serde::{Deserialize, Serialize};

use crate::contract::{ServerItem, UnixMs};

/// `GET /api/gateway`; 404 on a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewaySnapshot {
    pub endpoints: Vec<String>,
    pub views: Vec<GatewayView>,
    pub limits: Vec<GatewayLimit>,
    pub parked: Vec<ParkedQuestion>,
    pub withheld: Vec<WithheldName>,
    pub sessions: u64,
    pub subscriptions: u64,
    pub waiting_for_login: Vec<WaitingForLogin>,
}

/// A view of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayView {
    pub name: String,
    pub path: String,
    pub tools: u64,
    pub callers: u64,
}

/// A limit of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayLimit {
    pub name: String,
    /// What the limit counts by, such as `principal` or `server`.
    pub key: String,
    pub limit: String,
    pub used: Option<u64>,
    pub max: Option<u64>,
    pub refused: u64,
}

/// A question that waits for the answer of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedQuestion {
    pub principal: Option<String>,
    pub server: String,
    pub name: String,
    pub asked_at_ms: UnixMs,
    pub expires_at_ms: UnixMs,
}

/// A name that is offered to nobody, because several servers claim it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WithheldName {
    pub name: String,
    pub claims: Vec<ServerItem>,
}

/// A caller whose login a server waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingForLogin {
    pub principal: String,
    pub server: String,
    pub since_ms: UnixMs,
}

/// `GET /api/audit`: newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    pub records: Vec<AuditRow>,
    /// Pass as `before` for older records; null at the end.
    pub next: Option<String>,
    /// Records that were searched.
    pub searched: u64,
}

/// A record of the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditRow {
    pub at_ms: UnixMs,
    pub method: String,
    pub principal: Option<String>,
    pub issuer: Option<String>,
    pub auth_method: Option<String>,
    pub client: Option<String>,
    pub address: Option<String>,
    pub view: Option<String>,
    pub server: Option<String>,
    pub kind: Option<String>,
    pub name: Option<String>,
    pub outcome: String,
    pub rule: Option<String>,
    pub reason: Option<String>,
    pub code: Option<i64>,
    pub duration_ms: f64,
    pub session: Option<String>,
    pub trace_id: Option<String>,
}
