//! opencode: `mcp`, or from its second version `mcp.servers`; the command and its arguments are one list.

use serde_json::json;

use crate::document::{Node, Value};
use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::reference::braces;
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    let mcp = root.get("mcp");
    // A server could be called `servers`; then it has a type.
    let second = mcp.and_then(|mcp| mcp.get("servers")).filter(|servers| servers.get("type").is_none());
    let (servers, at) = match second {
        Some(servers) => (Some(servers), "mcp.servers"),
        None => (mcp, "mcp"),
    };
    let project = source.folder().filter(|folder| !folder.ends_with("opencode"));
    source.group(servers, &Group { at, project, translate: &translate })
}

fn translate(sheet: &mut Sheet) {
    match sheet.text("type").as_deref() {
        Some("local") => {
            sheet.put("type", &json!("stdio"));
            command(sheet);
            sheet.rename("environment", "env");
            sheet.keep(&["cwd"]);
        }
        Some("remote") => {
            sheet.put("type", &json!("http"));
            sheet.keep(&["url", "headers"]);
        }
        // With neither it only turns on or off what an organisation offers.
        None => return sheet.skip("it has no type, so it is defined elsewhere"),
        Some(_) => sheet.keep(&["type"]),
    }
    sheet.drop_silently(&["type"]);
    sheet.keep(&["disabled"]);
    sheet.invert("enabled", "disabled");
    timeout(sheet);
    sheet.drop_because("oauth", "not carried over: log in here anew");
    sheet.rewrite(&braces);
}

fn command(sheet: &mut Sheet) {
    let Some(member) = sheet.take("command") else { return };
    match &member.node.value {
        Value::List(words) => {
            let words: Vec<serde_json::Value> = words.iter().map(Node::to_json).collect();
            if let Some((program, args)) = words.split_first() {
                sheet.put("command", program);
                sheet.put("args", &json!(args));
            }
        }
        _ => sheet.put("command", &member.node.to_json()),
    }
}

/// Milliseconds for each request, or one each for starting and for requests.
fn timeout(sheet: &mut Sheet) {
    let Some(member) = sheet.take("timeout") else { return };
    match member.node.members() {
        Some(members) => {
            for member in members {
                match member.key.as_str() {
                    "startup" => sheet.put("startupTimeout", &member.node.to_json()),
                    "request" => sheet.put("timeout", &member.node.to_json()),
                    other => {
                        sheet.warn(&format!("timeout.{other}"), "not carried over: it has no meaning here")
                    }
                }
            }
        }
        None => sheet.put("timeout", &member.node.to_json()),
    }
}
