//! Windsurf: `mcpServers` with the editors' references, where `serverUrl` is the address of a server.

use crate::config::fault::Fault;
use crate::config::import::imported::{Group, Source};
use crate::config::import::reference::{Editor, editor};
use crate::config::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    source.group(root.get("mcpServers"), &Group { at: "mcpServers", project: None, translate: &translate })
}

fn translate(sheet: &mut Sheet) {
    sheet.rename("serverUrl", "url");
    sheet.rename("disabledTools", "denyTools");
    sheet.keep(&["type", "command", "args", "env", "cwd", "url", "headers", "disabled"]);
    sheet.drop_because("alwaysAllow", "not carried over: write rules for what may be called");
    sheet.rewrite(&|text| editor(text, Editor { workspace: None, inputs: &[] }));
}
