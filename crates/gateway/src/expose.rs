//! Builds the lists of a view from the catalog of the host: what is shown, under which name or URI, and who owns it.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_host::{Catalog, ListLifetimes, ServerLists};
use switchboard_protocol::{Resource, ResourceTemplate};

use crate::exposed_tool::{ExposedTool, ToolEntry};
use crate::names::{ItemKind, NamedItem, Naming, PrefixPolicy, WithheldItem, WithheldReason, expose};
use crate::resource_owner::{OwnerTable, ResourceOwner, names_server, rewritten};
use crate::view::{READ_RESULT, ViewRules};

/// Returns the shortest lifetime of each list over the servers of a view.
pub(crate) fn shortest_lifetimes(catalog: &Catalog, rules: &ViewRules) -> ListLifetimes {
    let lifetimes =
        catalog.lists().filter(|(server, _)| rules.has_server(server)).map(|(_, lists)| lists.lifetimes);
    let shortest = lifetimes.reduce(|mut shortest, one| {
        shortest.tools = shortest.tools.min(one.tools);
        shortest.prompts = shortest.prompts.min(one.prompts);
        shortest.resources = shortest.resources.min(one.resources);
        shortest.templates = shortest.templates.min(one.templates);
        shortest
    });
    shortest.unwrap_or_default()
}

/// Names the tools of a view; those that cannot be shown as the view wants them are withheld.
pub(crate) fn expose_tools(
    catalog: &Catalog,
    rules: &ViewRules,
    servers: &[Arc<str>],
    policy: PrefixPolicy,
) -> (BTreeMap<String, ToolEntry>, Vec<WithheldItem>) {
    // Tools of the application are not exposed.
    let tools = catalog.tools().iter().filter_map(|tool| {
        let server = servers.iter().find(|server| ***server == *tool.server())?;
        let name = tool.tool().name.clone();
        let assigned = rules.tool(server, &name).and_then(|rules| rules.name.clone());
        let item = ExposedTool::new(tool, server, rules);
        let is_selected = rules.has_tool(server, &name);
        is_selected.then(|| NamedItem { server: Arc::clone(server), name, assigned, item })
    });
    let reserved: &[&str] = if rules.keeps_results() { &[READ_RESULT] } else { &[] };
    let naming = Naming { kind: ItemKind::Tool, policy, reserved };
    let (named, mut withheld) = expose(&naming, tools.collect());
    let mut exposed = BTreeMap::new();
    for (exposed_name, NamedItem { server, name, assigned, item }) in named {
        match item {
            Ok(item) => {
                let tool = NamedItem { server, name, assigned, item };
                exposed.insert(exposed_name, ToolEntry::OfServer(tool));
            }
            Err(why) => {
                let item = NamedItem { server, name, assigned, item: () };
                withheld.push(item.withheld(ItemKind::Tool, exposed_name, WithheldReason::InputSchema(why)));
            }
        }
    }
    reserved.iter().for_each(|name| _ = exposed.insert((*name).to_owned(), ToolEntry::ReadResult));
    (exposed, withheld)
}

/// Exposes the resources of a view and enters their owners. Requires that the owners of the templates were added.
pub(crate) fn expose_resources(
    catalog: &Catalog,
    rules: &ViewRules,
    owners: &mut OwnerTable,
) -> BTreeMap<String, Resource> {
    let listed = by_uri(
        catalog,
        |lists| &lists.resources,
        |server, resource| rules.has_resource(server, &resource.uri).then_some(&*resource.uri),
    );
    let mut exposed = BTreeMap::new();
    for (uri, claims) in listed {
        let is_shared = claims.len() > 1 || names_server(uri);
        for (server, resource) in claims {
            let is_shown = |server: &str, uri: &str| rules.has_resource(server, uri);
            let clashes = is_shared || owners.has_template_of_other(server, uri, is_shown);
            let mut shown = resource.clone();
            shown.uri = if clashes { rewritten(server, uri) } else { uri.to_owned() };
            let owner = ResourceOwner { server: Arc::clone(server), uri: uri.to_owned() };
            owners.add_resource(&shown.uri, owner);
            exposed.insert(shown.uri.clone(), shown);
        }
    }
    exposed
}

/// Exposes the resource templates of a view and enters their owners.
pub(crate) fn expose_templates(
    catalog: &Catalog,
    rules: &ViewRules,
    owners: &mut OwnerTable,
) -> BTreeMap<String, ResourceTemplate> {
    let listed = by_uri(
        catalog,
        |lists| &lists.templates,
        |server, template| {
            rules.has_template(server, &template.uri_template).then_some(&*template.uri_template)
        },
    );
    let mut exposed = BTreeMap::new();
    for (text, claims) in listed {
        let clashes = claims.len() > 1 || names_server(text);
        for (server, template) in claims {
            let mut shown = template.clone();
            shown.uri_template = if clashes { rewritten(server, text) } else { text.to_owned() };
            let owner = ResourceOwner { server: Arc::clone(server), uri: text.to_owned() };
            owners.add_template(&shown.uri_template, owner);
            exposed.insert(shown.uri_template.clone(), shown);
        }
    }
    exposed
}

/// Groups the items of all servers by URI; `uri` returns none for items that are not shown. Each server counts once.
fn by_uri<'a, T>(
    catalog: &'a Catalog,
    items: impl Fn(&'a ServerLists) -> &'a Arc<[T]>,
    uri: impl Fn(&str, &'a T) -> Option<&'a str>,
) -> BTreeMap<&'a str, Vec<(&'a Arc<str>, &'a T)>> {
    let mut grouped: BTreeMap<&str, Vec<(&Arc<str>, &T)>> = BTreeMap::new();
    for (server, lists) in catalog.lists() {
        for item in items(lists).iter() {
            let Some(uri) = uri(server, item) else { continue };
            let claims = grouped.entry(uri).or_default();
            if claims.iter().all(|(known, _)| *known != server) {
                claims.push((server, item));
            }
        }
    }
    grouped
}
