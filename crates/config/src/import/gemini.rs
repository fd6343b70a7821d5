//! Gemini CLI: `mcpServers` where `httpUrl` is HTTP and a bare `url` is SSE; `$X` is a variable.

use serde_json::json;

use crate::document::{Node, Value};
use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::reference::dollar;
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    if let Some(mcp) = root.get("mcp") {
        for key in ["allowed", "excluded"].into_iter().filter(|key| mcp.get(key).is_some()) {
            source.warn(&format!("mcp.{key}"), "not carried over: disable servers one by one");
        }
    }
    let project = source.project(".gemini");
    source.group(root.get("mcpServers"), &Group { at: "mcpServers", project, translate: &translate })
}

fn translate(sheet: &mut Sheet) {
    match (sheet.peek("httpUrl").is_some(), sheet.peek("url").is_some()) {
        (true, _) => {
            sheet.drop_silently(&["url", "type"]);
            sheet.put("type", &json!("http"));
            sheet.rename("httpUrl", "url");
        }
        (false, true) => {
            if sheet.peek("type").is_none() {
                sheet.put("type", &json!("sse"));
            }
            sheet.keep(&["type", "url"]);
        }
        (false, false) if sheet.peek("tcp").is_some() => {
            return sheet.skip("it speaks WebSocket, which we do not");
        }
        (false, false) => {}
    }
    sheet.keep(&["command", "args", "env", "cwd", "headers", "timeout"]);
    tools(sheet, "includeTools", "allowTools");
    tools(sheet, "excludeTools", "denyTools");
    sheet.drop_because(
        "trust",
        "not carried over: it let every call through; write rules for what may be called",
    );
    for key in ["oauth", "authProviderType", "targetAudience", "targetServiceAccount"] {
        sheet.drop_because(key, "not carried over: log in here anew");
    }
    sheet.drop_silently(&["description", "extensionName", "extension"]);
    sheet.rewrite(&dollar);
}

/// Names of tools; Gemini also reads `name(arguments)`, of which the name is kept.
fn tools(sheet: &mut Sheet, from: &str, to: &str) {
    let Some(member) = sheet.take(from) else { return };
    let Value::List(items) = &member.node.value else {
        return sheet.warn(from, "not carried over: it is no list");
    };
    let names: Vec<&str> =
        items.iter().filter_map(Node::text).map(|tool| tool.split('(').next().unwrap_or(tool)).collect();
    sheet.put(to, &json!(names));
}
