//! Gemini CLI: `mcpServers` where `httpUrl` is HTTP and a bare `url` is SSE; `$X` is a variable.

use serde_json::json;

use crate::document::{Node, Value};
use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::oauth_fields::Translation::{Audience, Ignore, RedirectUri, Reject, Rename};
use crate::import::oauth_fields::{self, DISCOVERED};
use crate::import::reference::rewrite_dollar;

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    if let Some(mcp) = root.get("mcp") {
        for key in ["allowed", "excluded"].into_iter().filter(|key| mcp.get(key).is_some()) {
            source.warn(&format!("mcp.{key}"), "not imported: disable servers one by one");
        }
    }
    let project = source.project_of_folder(".gemini");
    source.read_servers(root.get("mcpServers"), "mcpServers", project.as_deref(), &translate)
}

fn translate(fields: &mut FieldTranslator) {
    match (fields.peek("httpUrl").is_some(), fields.peek("url").is_some()) {
        (true, _) => {
            fields.drop_silently(&["url", "type"]);
            fields.put("type", &json!("http"));
            fields.rename("httpUrl", "url");
        }
        (false, true) => {
            if fields.peek("type").is_none() {
                fields.put("type", &json!("sse"));
            }
            fields.copy(&["type", "url"]);
        }
        (false, false) if fields.peek("tcp").is_some() => {
            return fields.skip("it speaks WebSocket, which we do not");
        }
        (false, false) => {}
    }
    fields.copy(&["command", "args", "env", "cwd", "headers", "timeout"]);
    tools(fields, "includeTools", "allowTools");
    tools(fields, "excludeTools", "denyTools");
    fields
        .drop_because("trust", "not imported: it let every call through; write rules for what may be called");
    if fields.text("authProviderType").as_deref() == Some("dynamic_discovery") {
        fields.drop_silently(&["authProviderType"]);
    }
    for key in ["authProviderType", "targetAudience", "targetServiceAccount"] {
        fields.drop_because(key, "not imported: credentials of Google Cloud are not used; log in here anew");
    }
    oauth_fields::translate(
        fields,
        "oauth",
        &[
            ("enabled", Ignore),
            ("clientId", Rename("clientId")),
            ("clientSecret", Rename("clientSecret")),
            ("scopes", Rename("scopes")),
            ("issuer", Rename("issuer")),
            ("redirectUri", RedirectUri),
            ("audiences", Audience),
            ("authorizationUrl", Reject(DISCOVERED)),
            ("tokenUrl", Reject(DISCOVERED)),
            ("registrationUrl", Reject(DISCOVERED)),
        ],
    );
    fields.drop_silently(&["description", "extensionName", "extension"]);
    fields.rewrite(&rewrite_dollar);
}

/// Names of tools; Gemini also reads `name(arguments)`, of which the name is kept.
fn tools(fields: &mut FieldTranslator, from: &str, to: &str) {
    let Some(member) = fields.take(from) else { return };
    let Value::List(items) = &member.node.value else {
        return fields.warn(from, "not imported: it is no list");
    };
    let names: Vec<&str> =
        items.iter().filter_map(Node::text).map(|tool| tool.split('(').next().unwrap_or(tool)).collect();
    fields.put(to, &json!(names));
}
