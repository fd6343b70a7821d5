//! Codex: `[mcp_servers.name]` in TOML, variables named in fields of their own.

use serde_json::json;

use crate::document::{Node, Position, Value};
use crate::fault::{Fault, Problem};
use crate::import::imported::{Group, Source};
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root: toml::Table = toml::from_str(source.text).map_err(|error| {
        let position = error.span().map(|span| Position::of(source.text, span.start));
        // Only the first line: the rest quotes the text, which may hold secrets.
        let what = error.message().lines().next().unwrap_or("this is not TOML").to_owned();
        Fault::new("", Problem::Syntax { what }).at(position)
    })?;
    let servers = root.get("mcp_servers").map(json);
    let project = source.project(".codex");
    source.group(
        servers.as_ref().map(Node::from_json).as_ref(),
        &Group { at: "mcp_servers", project, translate: &translate },
    )
}

fn translate(sheet: &mut Sheet) {
    sheet.keep(&["command", "args", "env", "cwd", "url", "required"]);
    sheet.rename("http_headers", "headers");
    env_vars(sheet);
    headers(sheet);
    sheet.invert("enabled", "disabled");
    sheet.seconds("startup_timeout_sec", "startupTimeout");
    sheet.rename("startup_timeout_ms", "startupTimeout");
    sheet.seconds("tool_timeout_sec", "timeout");
    sheet.rename("enabled_tools", "allowTools");
    sheet.rename("disabled_tools", "denyTools");
    sheet.drop_because("bearer_token", "not carried over: name a variable in `bearer_token_env_var` instead");
    sheet.drop_because("http_headers_helper", "not carried over: put the header into a variable");
    for key in ["default_tools_approval_mode", "tools"] {
        sheet.drop_because(key, "not carried over: write rules for what may be called");
    }
    for key in ["oauth", "oauth_resource", "scopes"] {
        sheet.drop_because(key, "not carried over: log in here anew");
    }
}

/// Names of variables that are handed on; newer files have objects with a `name`.
fn env_vars(sheet: &mut Sheet) {
    let Some(member) = sheet.take("env_vars") else { return };
    let Value::List(items) = &member.node.value else {
        return sheet.warn("env_vars", "not carried over: it is no list");
    };
    let names: Vec<&str> = items
        .iter()
        .filter_map(|item| item.text().or_else(|| item.get("name").and_then(Node::text)))
        .collect();
    sheet.put("inheritEnv", &json!(names));
}

/// Headers whose values are variables.
fn headers(sheet: &mut Sheet) {
    for member in
        sheet.take("env_http_headers").as_ref().and_then(|member| member.node.members()).unwrap_or_default()
    {
        if let Some(variable) = member.node.text() {
            sheet.put_into("headers", &member.key, &format!("${{{variable}}}"));
        }
    }
    if let Some(variable) = sheet.take("bearer_token_env_var").as_ref().and_then(|member| member.node.text())
    {
        sheet.put_into("headers", "Authorization", &format!("Bearer ${{{variable}}}"));
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
