//! Claude Code: `mcpServers` in `.mcp.json`, and in `~/.claude.json` for the user and for each project.

use std::path::Path;

use crate::document::Node;
use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    let project = if source.path.ends_with(".mcp.json") { source.project_of_root() } else { None };
    source.read_servers(root.get("mcpServers"), "mcpServers", project.as_deref(), &translate)?;
    for project in root.get("projects").and_then(Node::members).unwrap_or_default() {
        let (servers, folder) = (project.node.get("mcpServers"), Path::new(&project.key));
        let at = format!("projects.{}.mcpServers", project.key);
        source.read_servers(servers, &at, Some(folder), &translate)?;
    }
    Ok(())
}

fn translate(fields: &mut FieldTranslator) {
    fields.copy(&[
        "type", "command", "args", "env", "url", "headers", "name", "id", "timeout", "disabled", "cwd",
    ]);
    fields.drop_because("headersHelper", "not imported: put the header into a variable");
    fields.drop_because("oauth", "not imported: log in here anew");
}
