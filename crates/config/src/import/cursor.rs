//! Cursor: `mcpServers` with the editors' references.

use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::reference::{Editor, editor};
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    let project = source.project(".cursor");
    let known = Editor { workspace: project.as_deref(), inputs: &[] };
    let translate = |sheet: &mut Sheet| translate(sheet, known);
    source.group(
        root.get("mcpServers"),
        &Group { at: "mcpServers", project: project.clone(), translate: &translate },
    )
}

fn translate(sheet: &mut Sheet, known: Editor<'_>) {
    sheet.keep(&["type", "command", "args", "env", "cwd", "url", "headers", "disabled"]);
    sheet.drop_because("envFile", "not carried over: put its variables under `env`");
    sheet.drop_because("auth", "not carried over: log in here anew");
    sheet.drop_because("autoApprove", "not carried over: write rules for what may be called");
    sheet.rewrite(&|text| editor(text, known));
}
