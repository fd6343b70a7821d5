//! Claude Code: `mcpServers` in `.mcp.json`, and in `~/.claude.json` for the user and for each project.

use std::path::Path;

use crate::document::Node;
use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::oauth_fields;
use crate::import::oauth_fields::Translation::{Reject, Rename};

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
    fields.copy(&["headersHelper"]);
    oauth_fields::translate(
        fields,
        "oauth",
        &[
            ("clientId", Rename("clientId")),
            ("clientSecret", Rename("clientSecret")),
            ("callbackPort", Rename("callbackPort")),
            ("scopes", Rename("scopes")),
            ("authServerMetadataUrl", Rename("authServerMetadataUrl")),
            ("xaa", Reject("not imported: set `grant` to enterprise-managed")),
        ],
    );
}
