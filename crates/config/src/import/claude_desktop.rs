//! Claude Desktop: `mcpServers` of programs, without variables.

use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    source.group(root.get("mcpServers"), &Group { at: "mcpServers", project: None, translate: &translate })
}

fn translate(sheet: &mut Sheet) {
    sheet.keep(&["type", "command", "args", "env", "cwd", "url", "headers"]);
}
