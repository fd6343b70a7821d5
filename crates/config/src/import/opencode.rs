//! opencode: `mcp`, or from its second version `mcp.servers`; the command and its arguments are one list.

use serde_json::json;

use crate::document::{Node, Value};
use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::oauth_fields;
use crate::import::oauth_fields::Translation::{RedirectUri, Rename};
use crate::import::reference::rewrite_braces;

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    let mcp = root.get("mcp");
    // A server could be called `servers`; then it has a type.
    let second = mcp.and_then(|mcp| mcp.get("servers")).filter(|servers| servers.get("type").is_none());
    let (servers, at) = match second {
        Some(servers) => (Some(servers), "mcp.servers"),
        None => (mcp, "mcp"),
    };
    let project = source.project_of_root().filter(|folder| !folder.ends_with("opencode"));
    source.read_servers(servers, at, project.as_deref(), &translate)
}

fn translate(fields: &mut FieldTranslator) {
    match fields.text("type").as_deref() {
        Some("local") => {
            fields.put("type", &json!("stdio"));
            command(fields);
            fields.rename("environment", "env");
            fields.copy(&["cwd"]);
        }
        Some("remote") => {
            fields.put("type", &json!("http"));
            fields.copy(&["url", "headers"]);
        }
        // With neither it only turns on or off what an organisation offers.
        None => return fields.skip("it has no type, so it is defined elsewhere"),
        Some(_) => fields.copy(&["type"]),
    }
    fields.drop_silently(&["type"]);
    fields.copy(&["disabled"]);
    fields.invert("enabled", "disabled");
    timeout(fields);
    oauth_fields::translate(
        fields,
        "oauth",
        &[
            ("clientId", Rename("clientId")),
            ("clientSecret", Rename("clientSecret")),
            ("scope", Rename("scopes")),
            ("callbackPort", Rename("callbackPort")),
            ("redirectUri", RedirectUri),
        ],
    );
    fields.rewrite(&rewrite_braces);
}

fn command(fields: &mut FieldTranslator) {
    let Some(member) = fields.take("command") else { return };
    match &member.node.value {
        Value::List(words) => {
            let words: Vec<serde_json::Value> = words.iter().map(Node::to_json).collect();
            if let Some((program, args)) = words.split_first() {
                fields.put("command", program);
                fields.put("args", &json!(args));
            }
        }
        _ => fields.put("command", &member.node.to_json()),
    }
}

/// Milliseconds for each request, or one each for starting and for requests.
fn timeout(fields: &mut FieldTranslator) {
    let Some(member) = fields.take("timeout") else { return };
    match member.node.members() {
        Some(members) => {
            for member in members {
                match member.key.as_str() {
                    "startup" => fields.put("startupTimeout", &member.node.to_json()),
                    "request" => fields.put("timeout", &member.node.to_json()),
                    other => fields.warn(&format!("timeout.{other}"), "not imported: it has no meaning here"),
                }
            }
        }
        None => fields.put("timeout", &member.node.to_json()),
    }
}
