//! VS Code: `servers` and `inputs` in `mcp.json`, or the same under `mcp` in `settings.json`; with comments.

use crate::document::{Node, Value};
use crate::fault::Fault;
use crate::import::imported::{Group, Source};
use crate::import::reference::{Editor, editor};
use crate::import::sheet::Sheet;

pub(crate) fn read(source: &mut Source<'_>) -> Result<(), Fault> {
    let root = source.json()?;
    let (root, at) = match root.get("mcp") {
        Some(mcp) if root.get("servers").is_none() => (mcp, "mcp.servers"),
        _ => (&root, "servers"),
    };
    let project = source.project(".vscode");
    let inputs = inputs(root);
    let known = Editor { workspace: project.as_deref(), inputs: &inputs };
    if root.get("sandbox").is_some() {
        source.warn("sandbox", "not carried over: servers are not sandboxed here");
    }
    let translate = |sheet: &mut Sheet| translate(sheet, known);
    source.group(root.get("servers"), &Group { at, project: project.clone(), translate: &translate })
}

fn translate(sheet: &mut Sheet, known: Editor<'_>) {
    if sheet.text("url").is_some_and(|url| url.starts_with("unix:") || url.starts_with("pipe:")) {
        return sheet.skip("sockets and pipes are not reached here");
    }
    sheet.keep(&["type", "command", "args", "env", "cwd", "url", "headers", "disabled"]);
    sheet.drop_because("envFile", "not carried over: put its variables under `env`");
    sheet.drop_because("sandboxEnabled", "not carried over: servers are not sandboxed here");
    sheet.drop_silently(&["dev", "gallery", "version"]);
    sheet.rewrite(&|text| editor(text, known));
}

/// The ids of the inputs and what they ask for.
fn inputs(root: &Node) -> Vec<(String, String)> {
    let Some(Node { value: Value::List(inputs), .. }) = root.get("inputs") else { return Vec::new() };
    let text = |input: &Node, key: &str| input.get(key).and_then(Node::text).map(str::to_owned);
    inputs
        .iter()
        .filter_map(|input| {
            let id = text(input, "id")?;
            let what = text(input, "description").unwrap_or_else(|| id.clone());
            Some((id, what))
        })
        .collect()
}
