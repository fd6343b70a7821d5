//! Claude Desktop: `mcpServers` of programs, without variables.

use crate::config::document::Node;
use crate::config::fault::Fault;
use crate::config::import::imported::{Group, Source};
use crate::config::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>, root: &Node) -> Result<(), Fault> {
    source.group(root.get("mcpServers"), &Group { at: "mcpServers", project: None, translate: &translate })
}

fn translate(sheet: &mut Sheet) {
    sheet.keep(&["type", "command", "args", "env", "cwd", "url", "headers"]);
}
