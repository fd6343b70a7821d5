//! The rows of the catalog. Descriptions and titles are masked; names and addresses are sent back, and stay as they are.

use std::collections::HashSet;

use serde::Serialize;
use switchboard_host::{CatalogTool, Host, ServerListing, ServerSpec, WithheldReason};
use switchboard_json::Raw;
use switchboard_protocol::{Prompt, Rejected, Resource, ResourceTemplate, TaskSupport as ToolTaskSupport};

use super::hidden::{hidden_by_server, hidden_tool};
use crate::contract::{
    Catalog, Hidden, PromptArgument, PromptRow, ResourceRow, TaskSupport, TemplateRow, ToolHints, ToolRow,
};
use crate::traffic::ValueMask;

/// The length of a description in a row, in characters.
const MAX_DESCRIPTION: usize = 400;

/// Estimates the tokens of a definition from its length as JSON: four bytes for each.
pub(crate) fn tokens_of_bytes(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// Returns the rows of everything that the servers list, shown or not.
pub(super) fn catalog_rows(host: &Host, mask: &ValueMask) -> Catalog {
    let catalog = host.catalog();
    let drifts = host.drifted_tools();
    let drifted: HashSet<(&str, &str)> =
        drifts.iter().map(|drift| (&*drift.server, drift.tool.as_str())).collect();
    let mut rows = Catalog {
        revision: catalog.revision(),
        tools: Vec::new(),
        resources: Vec::new(),
        templates: Vec::new(),
        prompts: Vec::new(),
    };
    for listing in catalog.listings().filter(|listing| !listing.is_application()) {
        let spec = host.spec(listing.server()).ok();
        let tools = listing.tools().map(|(tool, withheld)| {
            let is_drifted = drifted.contains(&(tool.server(), tool.tool().name.as_str()));
            tool_row(&listing, spec.as_ref(), (tool, withheld), is_drifted, mask)
        });
        rows.tools.extend(tools);
        rows.tools.extend(listing.rejected().iter().map(|rejected| rejected_row(&listing, rejected, mask)));
        let (server, hidden, lists) = (&**listing.server(), hidden_by_server(&listing), listing.lists());
        rows.resources
            .extend(lists.resources.iter().map(|item| resource_row(server, item, hidden.clone(), mask)));
        rows.templates
            .extend(lists.templates.iter().map(|item| template_row(server, item, hidden.clone(), mask)));
        rows.prompts.extend(lists.prompts.iter().map(|item| prompt_row(server, item, hidden.clone(), mask)));
    }
    rows
}

/// Returns the row of a tool.
pub(super) fn tool_row(
    listing: &ServerListing<'_>,
    spec: Option<&ServerSpec>,
    (listed, withheld): (&CatalogTool, Option<&WithheldReason>),
    is_drifted: bool,
    mask: &ValueMask,
) -> ToolRow {
    let (tool, hints) = (listed.tool(), listed.tool().annotations.as_ref());
    let hint_title = || hints.and_then(|hints| hints.title.clone());
    ToolRow {
        server: listed.server().to_owned(),
        name: tool.name.clone(),
        qualified_name: listed.name().to_owned(),
        title: tool.title.clone().or_else(hint_title).map(|title| mask.mask(title)),
        description: cut_description(tool.description.as_deref(), mask),
        tokens: tokens_of_bytes(listed.definition_bytes()),
        hidden: hidden_tool(listing, spec, withheld),
        drifted: is_drifted,
        hints: ToolHints {
            read_only: hints.and_then(|hints| hints.read_only_hint),
            destructive: hints.and_then(|hints| hints.destructive_hint),
            idempotent: hints.and_then(|hints| hints.idempotent_hint),
            open_world: hints.and_then(|hints| hints.open_world_hint),
        },
        task_support: match tool.execution.as_ref().and_then(|execution| execution.task_support) {
            Some(ToolTaskSupport::Optional) => TaskSupport::Optional,
            Some(ToolTaskSupport::Required) => TaskSupport::Required,
            Some(ToolTaskSupport::Forbidden) | None => TaskSupport::Forbidden,
        },
    }
}

/// Returns the row of a tool whose definition is invalid.
fn rejected_row(listing: &ServerListing<'_>, rejected: &Rejected, mask: &ValueMask) -> ToolRow {
    let name = rejected.name.clone().unwrap_or_else(|| format!("(entry {})", rejected.index));
    ToolRow {
        server: listing.server().to_string(),
        qualified_name: name.clone(),
        name,
        title: None,
        description: String::new(),
        tokens: 0,
        hidden: Some(Hidden::Rejected { reason: mask.mask(rejected.error.to_string()) }),
        drifted: false,
        hints: ToolHints { read_only: None, destructive: None, idempotent: None, open_world: None },
        task_support: TaskSupport::Forbidden,
    }
}

fn resource_row(server: &str, resource: &Resource, hidden: Option<Hidden>, mask: &ValueMask) -> ResourceRow {
    ResourceRow {
        server: server.to_owned(),
        uri: resource.uri.clone(),
        name: resource.name.clone(),
        title: resource.title.clone().map(|title| mask.mask(title)),
        description: cut_description(resource.description.as_deref(), mask),
        mime_type: resource.mime_type.clone(),
        size: resource.size,
        tokens: tokens_of(resource),
        hidden,
    }
}

fn template_row(
    server: &str,
    template: &ResourceTemplate,
    hidden: Option<Hidden>,
    mask: &ValueMask,
) -> TemplateRow {
    TemplateRow {
        server: server.to_owned(),
        uri_template: template.uri_template.clone(),
        name: template.name.clone(),
        title: template.title.clone().map(|title| mask.mask(title)),
        description: cut_description(template.description.as_deref(), mask),
        mime_type: template.mime_type.clone(),
        tokens: tokens_of(template),
        hidden,
    }
}

fn prompt_row(server: &str, prompt: &Prompt, hidden: Option<Hidden>, mask: &ValueMask) -> PromptRow {
    let argument = |argument: &switchboard_protocol::PromptArgument| PromptArgument {
        name: argument.name.clone(),
        description: argument.description.clone().map(|text| mask.mask(text)),
        required: argument.required == Some(true),
    };
    PromptRow {
        server: server.to_owned(),
        name: prompt.name.clone(),
        title: prompt.title.clone().map(|title| mask.mask(title)),
        description: cut_description(prompt.description.as_deref(), mask),
        arguments: prompt.arguments.iter().flatten().map(argument).collect(),
        tokens: tokens_of(prompt),
        hidden,
    }
}

fn tokens_of(definition: &impl Serialize) -> u64 {
    Raw::encode(definition).map_or(0, |definition| tokens_of_bytes(definition.len()))
}

fn cut_description(text: Option<&str>, mask: &ValueMask) -> String {
    // Before it is cut: a part of a secret would not be recognized.
    let text = mask.mask_str(text.unwrap_or_default());
    match text.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_between_characters() {
        let mask = ValueMask::default();
        assert_eq!(cut_description(None, &mask), "");
        assert_eq!(cut_description(Some("short"), &mask), "short");
        let long = "é".repeat(MAX_DESCRIPTION + 1);
        assert_eq!(cut_description(Some(&long), &mask).chars().count(), MAX_DESCRIPTION);
    }

    #[test]
    fn a_token_is_four_bytes() {
        assert_eq!((tokens_of_bytes(0), tokens_of_bytes(4), tokens_of_bytes(5)), (0, 1, 2));
    }
}
