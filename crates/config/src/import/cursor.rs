//! Cursor: `mcpServers` with the editors' references.

use crate::error::ConfigError;
use crate::import::field_translator::FieldTranslator;
use crate::import::imported_file::ForeignFile;
use crate::import::oauth_fields;
use crate::import::oauth_fields::Translation::Rename;
use crate::import::reference::{EditorVariables, rewrite_editor};

pub(crate) fn read(source: &mut ForeignFile<'_>) -> Result<(), ConfigError> {
    let root = source.json()?;
    let project = source.project_of_folder(".cursor");
    let known = EditorVariables { workspace: project.as_deref(), inputs: &[] };
    let translate = |fields: &mut FieldTranslator| translate(fields, known);
    source.read_servers(root.get("mcpServers"), "mcpServers", project.as_deref(), &translate)
}

fn translate(fields: &mut FieldTranslator, known: EditorVariables<'_>) {
    fields.copy(&["type", "command", "args", "env", "cwd", "url", "headers", "disabled"]);
    fields.drop_because("envFile", "not imported: put its variables under `env`");
    oauth_fields::translate(
        fields,
        "auth",
        &[
            ("CLIENT_ID", Rename("clientId")),
            ("CLIENT_SECRET", Rename("clientSecret")),
            ("scopes", Rename("scopes")),
        ],
    );
    fields.drop_because("autoApprove", "not imported: write rules for what may be called");
    fields.rewrite(&|text| rewrite_editor(text, known));
}
