//! `switchboard resources`: lists resources and resource templates.

use switchboard::CallError;
use switchboard::protocol::{OrderedMap, Raw, Resource, ResourceTemplate};

use crate::args::ServerTarget;
use crate::command::{catalog, list_pages};
use crate::connect::{CommandSession, with_connection};
use crate::error::CommandError;
use crate::output::{TextTable, encode, format_size, pluralize, print_json};
use crate::sanitize::one_line;

/// Lists the resources of one server, or of all configured servers.
pub(crate) async fn run(target: &ServerTarget) -> Result<(), CommandError> {
    match target.is_configured() {
        true => catalog::resources(target).await,
        false => with_connection(target, list).await,
    }
}

async fn list(connection: &CommandSession) -> Result<(), CommandError> {
    let out = &connection.out;
    if connection.json {
        return print_json(out, &encode(&fetch_json(connection).await?)?);
    }
    let resources = list_pages::optional(connection.session.list_resources().await)?;
    let templates = list_pages::optional(connection.session.list_resource_templates().await)?;
    if resources.is_none() && templates.is_none() {
        return Err(CallError::Unsupported { what: "resources" }.into());
    }
    let resources = resources.as_deref().map_or(&[][..], |list| list_pages::entries(connection, list));
    let templates = templates.as_deref().map_or(&[][..], |list| list_pages::entries(connection, list));
    let mut text = out.dim(&format!("{}\n", pluralize(resources.len(), "resource")));
    if !resources.is_empty() {
        let mut table = TextTable::new(&["URI", "NAME", "TYPE", "SIZE", "ABOUT"]);
        resources.iter().for_each(|resource| table.push_row(resource_row(resource)));
        text += &format!("\n{}", table.render(out));
    }
    if !templates.is_empty() {
        text += &format!("\n{}\n", out.dim(&pluralize(templates.len(), "template")));
        let mut table = TextTable::new(&["URI TEMPLATE", "NAME", "TYPE", "ABOUT"]);
        templates.iter().for_each(|template| table.push_row(template_row(template)));
        text += &format!("\n{}", table.render(out));
    }
    Ok(out.print(&text)?)
}

/// Fetches both lists as one JSON object, with the members of the protocol.
async fn fetch_json(connection: &CommandSession) -> Result<OrderedMap<Raw>, CommandError> {
    const EMPTY: &str = "[]";
    let empty = || Raw::parse(EMPTY).unwrap_or_else(|_| Raw::null());
    if connection.session_info()?.capabilities.resources.is_none() {
        return Ok(OrderedMap::from_iter([("resources", empty()), ("resourceTemplates", empty())]));
    }
    let listed = list_pages::fetch_all(connection, "resources/list", "resources").await;
    let listed = list_pages::optional(listed)?;
    let templates = list_pages::fetch_all(connection, "resources/templates/list", "resourceTemplates").await;
    let templates = list_pages::optional(templates)?;
    if listed.is_none() && templates.is_none() {
        return Err(CallError::Unsupported { what: "resources" }.into());
    }
    let mut whole = listed.unwrap_or_else(|| OrderedMap::from_iter([("resources", empty())]));
    let templates = templates.and_then(|mut templates| templates.remove("resourceTemplates"));
    whole.insert("resourceTemplates", templates.unwrap_or_else(empty));
    Ok(whole)
}

/// Returns the table row of a resource.
pub(crate) fn resource_row(resource: &Resource) -> [String; 5] {
    let Resource { uri, name, title, mime_type, size: bytes, description, .. } = resource;
    [
        one_line(uri),
        one_line(title.as_deref().unwrap_or(name)),
        mime_type.as_deref().map(one_line).unwrap_or_default(),
        bytes.map(format_size).unwrap_or_default(),
        description.as_deref().map(one_line).unwrap_or_default(),
    ]
}

/// Returns the table row of a resource template.
pub(crate) fn template_row(template: &ResourceTemplate) -> [String; 4] {
    let ResourceTemplate { uri_template, name, title, mime_type, description, .. } = template;
    [
        one_line(uri_template),
        one_line(title.as_deref().unwrap_or(name)),
        mime_type.as_deref().map(one_line).unwrap_or_default(),
        description.as_deref().map(one_line).unwrap_or_default(),
    ]
}
