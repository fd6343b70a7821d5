//! Zed: `context_servers` in `settings.json`, with comments; older files have the command as an object.

use crate::document::{Member, Node, Value};
use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::oauth_fields;
use crate::import::oauth_fields::Translation::Rename;

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    let project = source.project_of_folder(".zed");
    source.read_servers(root.get("context_servers"), "context_servers", project.as_deref(), &translate)
}

fn translate(fields: &mut FieldTranslator) {
    let is_extension = fields.text("source").as_deref() == Some("extension");
    if is_extension || (fields.peek("command").is_none() && fields.peek("url").is_none()) {
        return fields.skip("an extension of Zed starts it, which nobody else can");
    }
    if let Some(Value::Object(_)) = fields.peek("command").map(|command| &command.value) {
        older(fields);
    }
    fields.copy(&["command", "args", "env", "url", "headers"]);
    fields.invert("enabled", "disabled");
    fields.drop_silently(&["source", "remote"]);
    fields.drop_because("settings", "not imported: only extensions read it");
    fields.drop_because("timeout", "not imported: write it in milliseconds as `timeout`");
    oauth_fields::translate(
        fields,
        "oauth",
        &[
            ("client_id", Rename("clientId")),
            ("client_secret", Rename("clientSecret")),
            ("scopes", Rename("scopes")),
        ],
    );
}

/// `"command": {"path": …, "args": …, "env": …}`.
fn older(fields: &mut FieldTranslator) {
    let Some(Member { node: Node { value: Value::Object(members), .. }, .. }) = fields.take("command") else {
        return;
    };
    for member in members {
        let key = if member.key == "path" { "command" } else { member.key.as_str() };
        match key {
            "command" | "args" | "env" => fields.put(key, &member.node.to_json()),
            other => fields.warn(&format!("command.{other}"), "not imported: it has no meaning here"),
        }
    }
}
