//! `switchboard resources`: what can be read, and the templates of what can be read.

use switchboard::protocol::OrderedMap;
use switchboard::{Raw, Resource, ResourceTemplate};

use crate::command::lists::{self, count};
use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{Table, show_json, size};
use crate::sanitize::one_line;

pub(crate) async fn run(connected: &Connected) -> Result<(), Failure> {
    let paper = &connected.paper;
    if connected.json {
        return show_json(paper, &encode(&raw(connected).await?)?);
    }
    let resources = connected.session.list_resources().await?;
    lists::tell_faults(connected, &resources);
    let templates = connected.session.list_resource_templates().await?;
    lists::tell_faults(connected, &templates);
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
    paper.print(&text)
}

/// Both lists in one object: each member as the specification has it.
async fn raw(connected: &Connected) -> Result<OrderedMap<Raw>, Failure> {
    const NONE: &str = "[]";
    if connected.terms()?.capabilities.resources.is_none() {
        let none = || Raw::parse(NONE).unwrap_or_else(|_| Raw::null());
        return Ok(OrderedMap::from_iter([("resources", none()), ("resourceTemplates", none())]));
    }
    let mut whole = lists::raw(connected, "resources/list", "resources").await?;
    let mut templates = lists::raw(connected, "resources/templates/list", "resourceTemplates").await?;
    if let Some(list) = templates.remove("resourceTemplates") {
        whole.insert("resourceTemplates", list);
    }
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
