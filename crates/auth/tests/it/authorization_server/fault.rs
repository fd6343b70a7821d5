//! Faults: what the server does otherwise than the specification wants, as data of a test.
//!
//! `{origin}` in texts and documents stands for the origin of the server.

use serde_json::Value;
use switchboard_testkit::http_response;

use super::json_response;

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Answers requests for this path like this.
    At(&'static str, Answer),
    /// Sets a member of the metadata of the MCP server; null removes it.
    ResourceMember(&'static str, Value),
    /// Sets a member of the metadata of the authorization server; null removes it.
    ServerMember(&'static str, Value),
    /// Serves the metadata of the MCP server at this path only.
    ResourceMetadataAt(&'static str),
    /// Serves the metadata of the authorization server at this path only.
    ServerMetadataAt(&'static str),
    /// Challenges like this; empty for no header.
    Challenge(String),
    /// Adds this `iss` to callbacks.
    CallbackIssuer(&'static str),
    /// Answers `invalid_scope` to every other scope.
    GrantsOnly(&'static [&'static str]),
    /// Rejects `resource`, as Entra does if the scopes are of another one.
    RejectsResource,
    /// Rejects requests without `scope`, as Entra does.
    RequiresScope,
    /// Accepts only the redirect URIs of this client metadata document, compared as texts, the port included.
    ComparesRedirect(String),
    /// Does not know the client at this path.
    UnknownClientAt(&'static str),
}

/// A scripted answer.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// An empty body with this status.
    Status(&'static str),
    /// A page of HTML with this status.
    Page(&'static str),
    /// A document with this status.
    Json(&'static str, Value),
    /// A redirect.
    Redirect(String),
    /// None before [`AuthorizationServer::release`](super::AuthorizationServer::release).
    Stall,
}

impl Answer {
    pub(super) fn encode(&self, origin: &str) -> Vec<u8> {
        match self {
            Self::Status(status) => http_response(status, &[], ""),
            Self::Page(status) => {
                http_response(status, &["content-type: text/html"], "<!doctype html><title>Sorry</title>")
            }
            Self::Json(status, value) => json_response(status, value, origin),
            Self::Stall => http_response("504 Gateway Timeout", &[], ""),
            Self::Redirect(to) => http_response("302 Found", &[&format!("location: {to}")], ""),
        }
    }
}

impl Fault {
    pub(super) fn answer_at(&self, path: &str) -> Option<Answer> {
        match self {
            Self::At(at, answer) if *at == path => Some(answer.clone()),
            _ => None,
        }
    }

    pub(super) fn resource_member(&self) -> Option<(&'static str, &Value)> {
        if let Self::ResourceMember(name, value) = self { Some((*name, value)) } else { None }
    }

    pub(super) fn server_member(&self) -> Option<(&'static str, &Value)> {
        if let Self::ServerMember(name, value) = self { Some((*name, value)) } else { None }
    }

    pub(super) fn resource_metadata_path(&self) -> Option<&'static str> {
        if let Self::ResourceMetadataAt(path) = self { Some(path) } else { None }
    }

    pub(super) fn server_metadata_path(&self) -> Option<&'static str> {
        if let Self::ServerMetadataAt(path) = self { Some(path) } else { None }
    }

    pub(super) fn challenge(&self) -> Option<String> {
        if let Self::Challenge(challenge) = self { Some(challenge.clone()) } else { None }
    }

    pub(super) fn callback_issuer(&self) -> Option<&'static str> {
        if let Self::CallbackIssuer(issuer) = self { Some(issuer) } else { None }
    }
}

/// Returns a document with the members that the faults set.
pub(super) fn with_members<'a>(
    mut document: Value,
    faults: &'a [Fault],
    member: impl Fn(&'a Fault) -> Option<(&'static str, &'a Value)>,
) -> Value {
    let members = document.as_object_mut().unwrap();
    for (name, value) in faults.iter().filter_map(member) {
        match value {
            Value::Null => _ = members.remove(name),
            value => _ = members.insert(name.to_owned(), value.clone()),
        }
    }
    document
}
