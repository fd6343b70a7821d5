//! Windsurf: `mcpServers` with the editors' references, where `serverUrl` is the address of a server.

use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::reference::{EditorVariables, rewrite_editor};

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    source.read_servers(root.get("mcpServers"), "mcpServers", None, &translate)
}

fn translate(fields: &mut FieldTranslator) {
    fields.rename("serverUrl", "url");
    fields.rename("disabledTools", "denyTools");
    fields.copy(&["type", "command", "args", "env", "cwd", "url", "headers", "disabled"]);
    fields.drop_because("alwaysAllow", "not imported: write rules for what may be called");
    fields.rewrite(&|text| rewrite_editor(text, EditorVariables { workspace: None, inputs: &[] }));
}
