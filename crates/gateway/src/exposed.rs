//! The exposed catalog: the lists of all servers as clients see them, for one revision of the host's catalog.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard_host::{Catalog, CatalogTool, ListLifetimes, ServerLists};
use switchboard_protocol::{
    CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    Resource, ResourceTemplate, RpcError,
};
use switchboard_session::server::CachedResult;

use crate::access::ListFilter;
use crate::names::{ItemKind, NamedItem, PrefixPolicy, WithheldItem, expose};
use crate::page::{ListPage, page};
use crate::policy::{Target, TargetKind};
use crate::resource_owner::{OwnerTable, ResourceOwner, rewritten};

/// The exposed catalog. Immutable; every list is sorted by the key that its cursors use.
pub(crate) struct Exposed {
    pub(crate) revision: u64,
    pub(crate) tools: BTreeMap<String, NamedItem<Arc<CatalogTool>>>,
    pub(crate) prompts: BTreeMap<String, NamedItem<Prompt>>,
    resources: BTreeMap<String, Resource>,
    templates: BTreeMap<String, ResourceTemplate>,
    pub(crate) owners: OwnerTable,
    pub(crate) withheld: Vec<WithheldItem>,
    /// The shortest lifetime over all servers.
    lifetimes: ListLifetimes,
    /// The first page of each list, encoded once for all clients.
    first_pages: FirstPages,
}

#[derive(Default)]
struct FirstPages {
    tools: OnceLock<CachedResult>,
    prompts: OnceLock<CachedResult>,
    resources: OnceLock<CachedResult>,
    templates: OnceLock<CachedResult>,
}

/// A request for one page of a list.
pub(crate) struct PageRequest<'a> {
    pub(crate) cursor: Option<&'a str>,
    pub(crate) size: usize,
    /// `None` shows everything.
    pub(crate) filter: Option<ListFilter<'a>>,
}

impl Exposed {
    pub(crate) fn new(catalog: &Catalog, policy: PrefixPolicy) -> Self {
        let servers: Vec<Arc<str>> = catalog.servers().map(Arc::from).collect();
        // Tools of the application are not exposed.
        let tools = catalog.tools().iter().filter_map(|tool| {
            let server = servers.iter().find(|server| ***server == *tool.server())?;
            let name = tool.tool().name.clone();
            Some(NamedItem { server: Arc::clone(server), name, item: Arc::clone(tool) })
        });
        let (tools, mut withheld) = expose(ItemKind::Tool, policy, tools.collect());
        let prompts = catalog.lists().flat_map(|(server, lists)| {
            lists.prompts.iter().map(|prompt| NamedItem {
                server: Arc::clone(server),
                name: prompt.name.clone(),
                item: prompt.clone(),
            })
        });
        let (prompts, withheld_prompts) = expose(ItemKind::Prompt, policy, prompts.collect());
        withheld.extend(withheld_prompts);
        let mut owners = OwnerTable::new(servers);
        let resources = expose_resources(catalog, &mut owners);
        let templates = expose_templates(catalog, &mut owners);
        let lifetimes = shortest_lifetimes(catalog);
        let (revision, first_pages) = (catalog.revision(), FirstPages::default());
        Self { revision, tools, prompts, resources, templates, owners, withheld, lifetimes, first_pages }
    }

    /// Returns a page of the tools.
    ///
    /// # Errors
    /// When the cursor is not valid.
    pub(crate) fn tool_page(&self, request: &PageRequest<'_>) -> Result<CachedResult, RpcError> {
        let PageRequest { filter, .. } = request;
        cached(&self.first_pages.tools, request, || {
            let shows = |_: &str, tool: &NamedItem<Arc<CatalogTool>>| {
                filter
                    .as_ref()
                    .is_none_or(|filter| filter.shows_tool(&tool.server, &tool.name, &tool.item.effects()))
            };
            let ListPage { items, next } = page(&self.tools, request.cursor, request.size, shows)?;
            let tools = items.into_iter().map(|(name, tool)| {
                let mut shown = tool.item.tool().clone();
                name.clone_into(&mut shown.name);
                shown
            });
            let mut result = ListToolsResult::new(tools.collect::<Vec<_>>());
            result.next_cursor = next;
            (result.ttl_ms, result.cache_scope) = hints(self.lifetimes.tools);
            Ok(CachedResult::new(result))
        })
    }

    /// Returns a page of the prompts.
    ///
    /// # Errors
    /// When the cursor is not valid.
    pub(crate) fn prompt_page(&self, request: &PageRequest<'_>) -> Result<CachedResult, RpcError> {
        let PageRequest { filter, .. } = request;
        cached(&self.first_pages.prompts, request, || {
            let shows = |_: &str, prompt: &NamedItem<Prompt>| {
                filter
                    .as_ref()
                    .is_none_or(|filter| filter.shows(&Target::prompt(&prompt.server, &prompt.name)))
            };
            let ListPage { items, next } = page(&self.prompts, request.cursor, request.size, shows)?;
            let prompts = items.into_iter().map(|(name, prompt)| {
                let mut shown = prompt.item.clone();
                name.clone_into(&mut shown.name);
                shown
            });
            let mut result = ListPromptsResult::new(prompts.collect::<Vec<_>>());
            result.next_cursor = next;
            (result.ttl_ms, result.cache_scope) = hints(self.lifetimes.prompts);
            Ok(CachedResult::new(result))
        })
    }

    /// Returns a page of the resources.
    ///
    /// # Errors
    /// When the cursor is not valid.
    pub(crate) fn resource_page(&self, request: &PageRequest<'_>) -> Result<CachedResult, RpcError> {
        let PageRequest { filter, .. } = request;
        cached(&self.first_pages.resources, request, || {
            let shows = |uri: &str, _: &Resource| {
                filter.as_ref().is_none_or(|filter| self.shows_resource(filter, uri))
            };
            let ListPage { items, next } = page(&self.resources, request.cursor, request.size, shows)?;
            let resources: Vec<Resource> = items.into_iter().map(|(_, resource)| resource.clone()).collect();
            let mut result = ListResourcesResult::new(resources);
            result.next_cursor = next;
            (result.ttl_ms, result.cache_scope) = hints(self.lifetimes.resources);
            Ok(CachedResult::new(result))
        })
    }

    /// Returns a page of the resource templates.
    ///
    /// # Errors
    /// When the cursor is not valid.
    pub(crate) fn template_page(&self, request: &PageRequest<'_>) -> Result<CachedResult, RpcError> {
        let PageRequest { filter, .. } = request;
        cached(&self.first_pages.templates, request, || {
            let shows = |text: &str, _: &ResourceTemplate| {
                filter.as_ref().is_none_or(|filter| self.shows_template(filter, text))
            };
            let ListPage { items, next } = page(&self.templates, request.cursor, request.size, shows)?;
            let templates: Vec<ResourceTemplate> =
                items.into_iter().map(|(_, template)| template.clone()).collect();
            let mut result = ListResourceTemplatesResult::new(templates);
            result.next_cursor = next;
            (result.ttl_ms, result.cache_scope) = hints(self.lifetimes.templates);
            Ok(CachedResult::new(result))
        })
    }
}

impl Exposed {
    fn shows_resource(&self, filter: &ListFilter<'_>, uri: &str) -> bool {
        let owner = self.owners.find(uri);
        owner.is_ok_and(|owner| filter.shows(&Target::resource(&owner.server, &owner.uri)))
    }

    fn shows_template(&self, filter: &ListFilter<'_>, text: &str) -> bool {
        let owner = self.owners.find_template(text);
        owner.is_ok_and(|owner| filter.shows(&Target::new(&owner.server, TargetKind::Template, &owner.uri)))
    }
}

/// Returns the first page from its cache, and builds every other page. A filtered page is of one caller.
fn cached(
    first: &OnceLock<CachedResult>,
    request: &PageRequest<'_>,
    build: impl FnOnce() -> Result<CachedResult, RpcError>,
) -> Result<CachedResult, RpcError> {
    if request.filter.is_some() {
        return build();
    }
    match (request.cursor, first.get()) {
        (None, Some(page)) => Ok(page.clone()),
        (None, None) => build().map(|page| first.get_or_init(|| page).clone()),
        (Some(_), _) => build(),
    }
}

/// Returns the cache hints of a list. Private: servers may list different items for different users.
fn hints(lifetime: Duration) -> (Option<u64>, Option<CacheScope>) {
    (Some(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX)), Some(CacheScope::Private))
}

fn shortest_lifetimes(catalog: &Catalog) -> ListLifetimes {
    let lifetimes = catalog.lists().map(|(_, lists)| lists.lifetimes);
    let shortest = lifetimes.reduce(|mut shortest, one| {
        shortest.tools = shortest.tools.min(one.tools);
        shortest.prompts = shortest.prompts.min(one.prompts);
        shortest.resources = shortest.resources.min(one.resources);
        shortest.templates = shortest.templates.min(one.templates);
        shortest
    });
    shortest.unwrap_or_default()
}

fn expose_resources(catalog: &Catalog, owners: &mut OwnerTable) -> BTreeMap<String, Resource> {
    let listed = by_uri(catalog, |lists| &lists.resources, |resource| &resource.uri);
    let mut exposed = BTreeMap::new();
    for (uri, claims) in listed {
        let clashes = claims.len() > 1;
        for (server, resource) in claims {
            let mut shown = resource.clone();
            shown.uri = if clashes { rewritten(server, uri) } else { uri.to_owned() };
            let owner = ResourceOwner { server: Arc::clone(server), uri: uri.to_owned() };
            owners.add_resource(&shown.uri, owner);
            exposed.insert(shown.uri.clone(), shown);
        }
    }
    exposed
}

fn expose_templates(catalog: &Catalog, owners: &mut OwnerTable) -> BTreeMap<String, ResourceTemplate> {
    let listed = by_uri(catalog, |lists| &lists.templates, |template| &template.uri_template);
    let mut exposed = BTreeMap::new();
    for (text, claims) in listed {
        let clashes = claims.len() > 1;
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

/// Groups the items of all servers by URI. Each server counts once.
fn by_uri<'a, T>(
    catalog: &'a Catalog,
    items: impl Fn(&'a ServerLists) -> &'a Arc<[T]>,
    uri: impl Fn(&'a T) -> &'a str,
) -> BTreeMap<&'a str, Vec<(&'a Arc<str>, &'a T)>> {
    let mut grouped: BTreeMap<&str, Vec<(&Arc<str>, &T)>> = BTreeMap::new();
    for (server, lists) in catalog.lists() {
        for item in items(lists).iter() {
            let claims = grouped.entry(uri(item)).or_default();
            if claims.iter().all(|(known, _)| *known != server) {
                claims.push((server, item));
            }
        }
    }
    grouped
}
