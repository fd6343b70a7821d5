//! Claude Code: `mcpServers` in `.mcp.json`, and in `~/.claude.json` for the user and for each project.

use std::path::PathBuf;

use crate::document::Node;
use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    let project = if source.path.ends_with(".mcp.json") { source.folder() } else { None };
    source.group(root.get("mcpServers"), &Group { at: "mcpServers", project, translate: &translate })?;
    for project in root.get("projects").and_then(Node::members).unwrap_or_default() {
        let at = format!("projects.{}.mcpServers", project.key);
        let group = Group { at: &at, project: Some(PathBuf::from(&project.key)), translate: &translate };
        source.group(project.node.get("mcpServers"), &group)?;
    }
    Ok(())
}

fn translate(sheet: &mut Sheet) {
    sheet.keep(&[
        "type", "command", "args", "env", "url", "headers", "name", "id", "timeout", "disabled", "cwd",
    ]);
    sheet.drop_because("headersHelper", "not carried over: put the header into a variable");
    sheet.drop_because("oauth", "not carried over: log in here anew");
}
