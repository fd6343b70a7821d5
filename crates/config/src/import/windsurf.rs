//! Windsurf: `mcpServers` with the editors' references, where `serverUrl` is the address of a server.

use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::reference::{Editor, editor};
use crate::import::sheet::Sheet;

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
