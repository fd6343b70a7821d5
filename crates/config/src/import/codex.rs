//! Codex: `[mcp_servers.name]` in TOML, variables named in fields of their own.

use serde_json::json;

use crate::document::{Node, Position, Value};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::oauth_fields;
use crate::import::oauth_fields::Translation::Rename;

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root: toml::Table = toml::from_str(source.text).map_err(|error| {
        let position = error.span().map(|span| Position::at_byte(source.text, span.start));
        // Only the first line: the rest quotes the text, which may hold secrets.
        let what = error.message().lines().next().unwrap_or("this is not TOML").to_owned();
        ConfigError::new("", ConfigErrorKind::Syntax { what }).at(position)
    })?;
    let servers = root.get("mcp_servers").map(|servers| Node::from_json(&json(servers)));
    let project = source.project_of_folder(".codex");
    let port = root.get("mcp_oauth_callback_port").and_then(toml::Value::as_integer);
    if root.get("mcp_oauth_callback_url").is_some() {
        source.warn("mcp_oauth_callback_url", "not imported: name it when you log in");
    }
    let translate = |fields: &mut FieldTranslator| translate(fields, port);
    source.read_servers(servers.as_ref(), "mcp_servers", project.as_deref(), &translate)
}

/// Translates a server. The port of callbacks is that of the whole file.
fn translate(fields: &mut FieldTranslator, port: Option<i64>) {
    let is_remote = fields.peek("url").is_some();
    fields.copy(&["command", "args", "env", "cwd", "url", "required"]);
    fields.rename("http_headers", "headers");
    env_vars(fields);
    headers(fields);
    fields.invert("enabled", "disabled");
    fields.seconds("startup_timeout_sec", "startupTimeout");
    fields.rename("startup_timeout_ms", "startupTimeout");
    fields.seconds("tool_timeout_sec", "timeout");
    fields.rename("enabled_tools", "allowTools");
    fields.rename("disabled_tools", "denyTools");
    fields.drop_because("bearer_token", "not imported: name a variable in `bearer_token_env_var` instead");
    match fields.peek("http_headers_helper").map(|helper| &helper.value) {
        Some(Value::Text(_)) => fields.rename("http_headers_helper", "headersHelper"),
        _ => fields.drop_because("http_headers_helper", "not imported: write the command as `headersHelper`"),
    }
    for key in ["default_tools_approval_mode", "tools"] {
        fields.drop_because(key, "not imported: write rules for what may be called");
    }
    oauth_fields::translate(
        fields,
        "oauth",
        &[("client_id", Rename("clientId")), ("client_secret", Rename("clientSecret"))],
    );
    for (from, to) in [("scopes", "scopes"), ("oauth_resource", "resource")] {
        if let Some(member) = fields.take(from) {
            oauth_fields::put(fields, to, member.node.to_json());
        }
    }
    if let Some(port) = port.filter(|_| is_remote) {
        oauth_fields::put(fields, "callbackPort", json!(port));
    }
}

/// Names of variables that are handed on; newer files have objects with a `name`.
fn env_vars(fields: &mut FieldTranslator) {
    let Some(member) = fields.take("env_vars") else { return };
    let Value::List(items) = &member.node.value else {
        return fields.warn("env_vars", "not imported: it is no list");
    };
    let names: Vec<&str> = items
        .iter()
        .filter_map(|item| item.text().or_else(|| item.get("name").and_then(Node::text)))
        .collect();
    fields.put("inheritEnv", &json!(names));
}

/// Headers whose values are variables.
fn headers(fields: &mut FieldTranslator) {
    for member in
        fields.take("env_http_headers").as_ref().and_then(|member| member.node.members()).unwrap_or_default()
    {
        if let Some(variable) = member.node.text() {
            fields.put_into("headers", &member.key, &format!("${{{variable}}}"));
        }
    }
    if let Some(variable) = fields.take("bearer_token_env_var").as_ref().and_then(|member| member.node.text())
    {
        fields.put_into("headers", "Authorization", &format!("Bearer ${{{variable}}}"));
    }
}

/// TOML's values as JSON; a date is its text.
fn json(value: &toml::Value) -> serde_json::Value {
    match value {
        toml::Value::String(text) => json!(text),
        toml::Value::Integer(number) => json!(number),
        toml::Value::Float(number) => json!(number),
        toml::Value::Boolean(truth) => json!(truth),
        toml::Value::Datetime(date) => json!(date.to_string()),
        toml::Value::Array(items) => items.iter().map(json).collect(),
        toml::Value::Table(table) => {
            serde_json::Value::Object(table.iter().map(|(key, value)| (key.clone(), json(value))).collect())
        }
    }
}
