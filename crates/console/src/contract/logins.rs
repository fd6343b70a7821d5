//! Logins: stored ones, and attempts.

use serde::{Deserialize, Serialize};

use crate::contract::UnixMs;

/// `GET /api/logins`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Logins {
    pub logins: Vec<LoginRow>,
    /// The token store cannot be read.
    pub store_error: Option<String>,
}

/// A stored login.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginRow {
    /// The configured servers that use it.
    pub servers: Vec<String>,
    pub address: String,
    /// The caller whose login it is; null for the login of the user who runs the process.
    pub principal: Option<String>,
    pub account: String,
    pub issuer: String,
    pub client_id: String,
    pub scopes: Vec<String>,
    pub state: LoginState,
    pub expires_at_ms: Option<UnixMs>,
    pub can_refresh: bool,
}

/// The state of a stored login.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LoginState {
    Pending,
    Active,
    NeedsLogin {
        reason: String,
    },
    NeedsUpdate {
        reason: String,
    },
    /// Logging in again would not help.
    Orphaned {
        reason: String,
    },
}

/// A login in progress, or its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginAttempt {
    pub attempt: u64,
    pub server: String,
    pub step: LoginStep,
}

/// A step of a login.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LoginStep {
    Starting,
    OpenUrl { url: String },
    DeviceCode { user_code: String, verification_uri: String, verification_uri_complete: Option<String> },
    Exchanging,
    Done { account: String },
    Failed { error: String, next_step: String },
    Cancelled,
}

/// `POST /api/logins`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginRequest {
    pub server: String,
    pub account: Option<String>,
}

/// `POST /api/logins/forget`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetLogin {
    pub address: String,
    pub issuer: String,
    pub client_id: String,
    pub account: String,
}
