//! Zed: `context_servers` in `settings.json`, with comments; older files have the command as an object.

use crate::document::{Member, Node, Value};
use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    let project = source.project(".zed");
    source
        .group(root.get("context_servers"), &Group { at: "context_servers", project, translate: &translate })
}

fn translate(sheet: &mut Sheet) {
    let is_extension = sheet.text("source").as_deref() == Some("extension");
    if is_extension || (sheet.peek("command").is_none() && sheet.peek("url").is_none()) {
        return sheet.skip("an extension of Zed starts it, which nobody else can");
    }
    if let Some(Value::Object(_)) = sheet.peek("command").map(|command| &command.value) {
        older(sheet);
    }
    sheet.keep(&["command", "args", "env", "url", "headers"]);
    sheet.invert("enabled", "disabled");
    sheet.drop_silently(&["source", "remote"]);
    sheet.drop_because("settings", "not carried over: only extensions read it");
    sheet.drop_because("timeout", "not carried over: write it in milliseconds as `timeout`");
    sheet.drop_because("oauth", "not carried over: log in here anew");
}

/// `"command": {"path": …, "args": …, "env": …}`.
fn older(sheet: &mut Sheet) {
    let Some(Member { node: Node { value: Value::Object(members), .. }, .. }) = sheet.take("command") else {
        return;
    };
    for member in members {
        let key = if member.key == "path" { "command" } else { member.key.as_str() };
        match key {
            "command" | "args" | "env" => sheet.put(key, &member.node.to_json()),
            other => sheet.warn(&format!("command.{other}"), "not carried over: it has no meaning here"),
        }
    }
}
