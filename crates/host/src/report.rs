//! Serializable reports: the status of a server, and the result of changing the set of servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use switchboard_session::link::{Challenge, LoginRequirement};

use crate::config::ConfiguredServer;
use crate::registry::ToolInfo;
use crate::status::StatusKind;

/// The status of one server. Creating it does not contact the server.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerStatus {
    /// The name of the server.
    pub name: String,
    /// The kind of status.
    pub status: StatusKind,
    /// The name and version that the server reports, while connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<ServerInfo>,
    /// The error, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What has to happen before it can be used, if it needs a login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<LoginReport>,
    /// The configuration, secrets masked: as written, or else derived from the spec.
    pub config: MaskedConfig,
    /// The scope of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Whether it is stopped until it is used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asleep: bool,
    /// The number of open [keyed sessions](crate::SessionScope).
    #[serde(skip_serializing_if = "is_zero")]
    pub sessions: usize,
    /// The available tools, while connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolInfoList>,
}

impl ServerStatus {
    /// Returns the status of a configured server whose entry is invalid, so that no host has it; `None` if it is valid.
    pub fn of_invalid(server: &ConfiguredServer) -> Option<Self> {
        let error = server.plan.as_ref().err()?;
        Some(Self {
            name: server.name.clone(),
            status: StatusKind::Failed,
            server_info: None,
            error: Some(error.to_string()),
            login: None,
            config: MaskedConfig(match &server.entry {
                Some(entry) => entry.masked().into(),
                None => serde_json::json!({"type": "invalid"}).into(),
            }),
            scope: Some(server.scope.as_str().to_owned()),
            asleep: false,
            sessions: 0,
            tools: None,
        })
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What has to happen before a server that needs a login can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoginReport {
    /// `login`, `client-registration`, `administrator`, `account` or `other-credentials`.
    pub requirement: &'static str,
    /// The scopes that the server asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Where to register a client: the issuer of the authorization server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The redirect URI to register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,
    /// The error code with which an administrator's policy denied access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The accounts of the user, if it is not clear which one is meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<String>,
    /// What to do, for people.
    pub next_step: String,
}

impl LoginReport {
    pub(crate) fn new(challenge: &Challenge) -> Self {
        let (issuer, redirect_uri, code) = match &challenge.requirement {
            LoginRequirement::ClientRegistration { issuer, redirect_uri } => {
                (Some(issuer.clone()), redirect_uri.clone(), None)
            }
            LoginRequirement::Administrator { code, .. } => (None, None, Some(code.clone())),
            _ => (None, None, None),
        };
        Self {
            requirement: challenge.requirement.as_str(),
            scope: challenge.scope.clone(),
            issuer,
            redirect_uri,
            code,
            accounts: match &challenge.requirement {
                LoginRequirement::Account { accounts } => accounts.clone(),
                _ => Vec::new(),
            },
            next_step: challenge.requirement.next_step(),
        }
    }
}

/// The name and version that a server reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

impl ServerInfo {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self { name: name.to_owned(), version: version.to_owned() }
    }
}

/// A configuration with secrets masked. Shared, not copied.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskedConfig(pub(crate) Arc<Value>);

impl MaskedConfig {
    /// Returns the configuration as JSON.
    pub fn value(&self) -> &Value {
        &self.0
    }
}

impl Serialize for MaskedConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The tools of a server. Shared, not copied; dereferences to a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInfoList(pub(crate) Arc<[ToolInfo]>);

impl std::ops::Deref for ToolInfoList {
    type Target = [ToolInfo];

    fn deref(&self) -> &[ToolInfo] {
        &self.0
    }
}

impl Serialize for ToolInfoList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// The result of changing the whole set of servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SetServersOutcome {
    /// Servers that are new or have a changed spec.
    pub added: Vec<String>,
    /// Servers that were removed or have a changed spec.
    pub removed: Vec<String>,
    /// Errors by server.
    pub errors: BTreeMap<String, String>,
}
