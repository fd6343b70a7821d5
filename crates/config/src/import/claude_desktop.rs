//! Claude Desktop: `mcpServers` of programs, without variables.

use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    source.read_servers(root.get("mcpServers"), "mcpServers", None, &translate)
}

fn translate(fields: &mut FieldTranslator) {
    fields.copy(&["type", "command", "args", "env", "cwd", "url", "headers"]);
}
