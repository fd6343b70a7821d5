//! `switchboard resources`: what can be read, and the templates of what can be read.

use switchboard::protocol::OrderedMap;
use switchboard::{CallError, Raw, Resource, ResourceTemplate};

use crate::command::lists;
use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{Table, count, show_json, size};
use crate::sanitize::one_line;

pub(crate) async fn run(connected: &Connected) -> Result<(), Failure> {
    let paper = &connected.paper;
    if connected.json {
        return show_json(paper, &encode(&raw(connected).await?)?);
    }
    let resources = lists::optional(connected.session.list_resources().await)?;
    let templates = lists::optional(connected.session.list_resource_templates().await)?;
    if resources.is_none() && templates.is_none() {
        return Err(CallError::Unsupported { what: "resources" }.into());
    }
    let resources = resources.as_deref().map_or(&[][..], |list| lists::entries(connected, list));
    let templates = templates.as_deref().map_or(&[][..], |list| lists::entries(connected, list));
    let mut text = paper.dim(&format!("{}\n", count(resources.len(), "resource")));
    if !resources.is_empty() {
        let mut table = Table::new(&["URI", "NAME", "TYPE", "SIZE", "ABOUT"]);
        resources.iter().for_each(|resource| table.row(row(resource)));
        text += &format!("\n{}", table.lay_out(paper));
    }
    if !templates.is_empty() {
        text += &format!("\n{}\n", paper.dim(&count(templates.len(), "template")));
        let mut table = Table::new(&["URI TEMPLATE", "NAME", "TYPE", "ABOUT"]);
        templates.iter().for_each(|template| table.row(template_row(template)));
        text += &format!("\n{}", table.lay_out(paper));
    }
    Ok(paper.print(&text)?)
}

/// Both lists in one object: each member as the specification has it.
async fn raw(connected: &Connected) -> Result<OrderedMap<Raw>, Failure> {
    const NONE: &str = "[]";
    let none = || Raw::parse(NONE).unwrap_or_else(|_| Raw::null());
    if connected.terms()?.capabilities.resources.is_none() {
        return Ok(OrderedMap::from_iter([("resources", none()), ("resourceTemplates", none())]));
    }
    let listed = lists::raw_optional(connected, "resources/list", "resources").await?;
    let templates = lists::raw_optional(connected, "resources/templates/list", "resourceTemplates").await?;
    if listed.is_none() && templates.is_none() {
        return Err(CallError::Unsupported { what: "resources" }.into());
    }
    let mut whole = listed.unwrap_or_else(|| OrderedMap::from_iter([("resources", none())]));
    let templates = templates.and_then(|mut templates| templates.remove("resourceTemplates"));
    whole.insert("resourceTemplates", templates.unwrap_or_else(none));
    Ok(whole)
}

/// A resource as the cells of a table.
pub(crate) fn row(resource: &Resource) -> [String; 5] {
    let Resource { uri, name, title, mime_type, size: bytes, description, .. } = resource;
    [
        one_line(uri),
        one_line(title.as_deref().unwrap_or(name)),
        mime_type.as_deref().map(one_line).unwrap_or_default(),
        bytes.map(size).unwrap_or_default(),
        description.as_deref().map(one_line).unwrap_or_default(),
    ]
}

/// A template as the cells of a table.
pub(crate) fn template_row(template: &ResourceTemplate) -> [String; 4] {
    let ResourceTemplate { uri_template, name, title, mime_type, description, .. } = template;
    [
        one_line(uri_template),
        one_line(title.as_deref().unwrap_or(name)),
        mime_type.as_deref().map(one_line).unwrap_or_default(),
        description.as_deref().map(one_line).unwrap_or_default(),
    ]
}
