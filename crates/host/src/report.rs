//! How servers are doing, as others read it: the JSON of a status and of a change of the whole set.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::config::Configured;
use crate::registry::ToolInfo;
use crate::status::StatusKind;

/// How one server is doing. Made from what is known: nobody is asked, and nothing is waited for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// The word for it.
    pub status: StatusKind,
    /// Who it says it is, while it is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<ServerInfo>,
    /// What went wrong, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its configuration, secrets masked: as it was written, or as its description says.
    pub config: Written,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Its tools that can be used, while it is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Tools>,
}

impl ServerStatus {
    /// How a configured server is doing whose entry cannot be run, so that no host has it; nothing, if it can.
    pub fn of_broken(server: &Configured) -> Option<Self> {
        let fault = server.plan.as_ref().err()?;
        Some(Self {
            name: server.name.clone(),
            status: StatusKind::Failed,
            server_info: None,
            error: Some(fault.to_string()),
            config: Written(match &server.entry {
                Some(entry) => entry.masked().into(),
                None => serde_json::json!({"type": "invalid"}).into(),
            }),
            scope: Some(server.scope.word().to_owned()),
            tools: None,
        })
    }
}

/// Who a server says it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its name for itself.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl ServerInfo {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self { name: name.to_owned(), version: version.to_owned() }
    }
}

/// An entry as it was written. Shared, not copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Written(pub(crate) Arc<Value>);

impl Written {
    /// The entry.
    pub fn value(&self) -> &Value {
        &self.0
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The tools of a server. Shared, not copied; reads like a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Tools(pub(crate) Arc<[ToolInfo]>);

impl std::ops::Deref for Tools {
    type Target = [ToolInfo];

    fn deref(&self) -> &[ToolInfo] {
        &self.0
    }
}

impl Serialize for Tools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// What changing the whole set of servers came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SetServers {
    /// Servers that are new, or run otherwise than before.
    pub added: Vec<String>,
    /// Servers that are gone, or run otherwise than before.
    pub removed: Vec<String>,
    /// What went wrong, by server.
    pub errors: BTreeMap<String, String>,
}
