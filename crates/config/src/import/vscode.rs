//! VS Code: `servers` and `inputs` in `mcp.json`, or the same under `mcp` in `settings.json`; with comments.

use crate::document::{Node, Value};
use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::oauth_fields;
use crate::import::oauth_fields::Translation::{Reject, Rename};
use crate::import::reference::{EditorVariables, rewrite_editor};

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    let (root, at) = match root.get("mcp") {
        Some(mcp) if root.get("servers").is_none() => (mcp, "mcp.servers"),
        _ => (&root, "servers"),
    };
    let project = source.project_of_folder(".vscode");
    let inputs = inputs(root);
    let known = EditorVariables { workspace: project.as_deref(), inputs: &inputs };
    if root.get("sandbox").is_some() {
        source.warn("sandbox", "not imported: servers are not sandboxed here");
    }
    let translate = |fields: &mut FieldTranslator| translate(fields, known);
    source.read_servers(root.get("servers"), at, project.as_deref(), &translate)
}

fn translate(fields: &mut FieldTranslator, known: EditorVariables<'_>) {
    if fields.text("url").is_some_and(|url| url.starts_with("unix:") || url.starts_with("pipe:")) {
        return fields.skip("sockets and pipes are not reached here");
    }
    fields.copy(&["type", "command", "args", "env", "cwd", "url", "headers", "disabled"]);
    oauth_fields::translate(
        fields,
        "oauth",
        &[
            ("clientId", Rename("clientId")),
            ("clientSecret", Rename("clientSecret")),
            ("scopes", Rename("scopes")),
            ("enterpriseManaged", Reject("not imported: set `grant` to enterprise-managed")),
        ],
    );
    fields.drop_because("envFile", "not imported: put its variables under `env`");
    fields.drop_because("sandboxEnabled", "not imported: servers are not sandboxed here");
    fields.drop_silently(&["dev", "gallery", "version"]);
    fields.rewrite(&|text| rewrite_editor(text, known));
}

/// Returns the ids and prompts of the inputs.
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
