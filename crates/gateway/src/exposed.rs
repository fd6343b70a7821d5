//! The exposed catalog: the lists of all servers as clients see them, for one revision of the host's catalog.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::{Catalog, ListLifetimes};
use switchboard_protocol::{
    CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    Resource, ResourceTemplate, RpcError, ToolAnnotations,
};
use switchboard_session::server::CachedResult;

use crate::access::ListFilter;
use crate::expose::{expose_resources, expose_templates, expose_tools, shortest_lifetimes};
use crate::exposed_tool::{ExposedTool, ToolEntry};
use crate::metrics::{GatewayMetrics, PageSource};
use crate::names::{ItemKind, NamedItem, Naming, PrefixPolicy, WithheldItem, expose};
use crate::page::{ListPage, page};
use crate::page_cache::PageCache;
use crate::policy::{Target, TargetKind};
use crate::resource_owner::{OwnerTable, ResourceOwner, not_found};
use crate::results::read_result_tool;
use crate::view::{ViewRules, ViewWarning};

/// The exposed catalog. Immutable; every list is sorted by the key that its cursors use.
pub(crate) struct Exposed {
    pub(crate) revision: u64,
    pub(crate) rules: Arc<ViewRules>,
    servers: Vec<Arc<str>>,
    tools: BTreeMap<String, ToolEntry>,
    pub(crate) prompts: BTreeMap<String, NamedItem<Prompt>>,
    resources: BTreeMap<String, Resource>,
    templates: BTreeMap<String, ResourceTemplate>,
    owners: OwnerTable,
    pub(crate) withheld: Vec<WithheldItem>,
    pub(crate) warnings: Vec<ViewWarning>,
    /// The shortest lifetime over all servers.
    lifetimes: ListLifetimes,
    /// The pages that all clients see alike.
    shared_pages: SharedPages,
}

#[derive(Default)]
struct SharedPages {
    tools: PageCache,
    prompts: PageCache,
    resources: PageCache,
    templates: PageCache,
}

/// A request for one page of a list.
pub(crate) struct PageRequest<'a> {
    pub(crate) cursor: Option<&'a str>,
    pub(crate) size: usize,
    /// `None` shows everything.
    pub(crate) filter: Option<ListFilter<'a>>,
    /// Counts where the page came from.
    pub(crate) metrics: Option<&'a GatewayMetrics>,
}

impl Exposed {
    /// Exposes the part of the catalog that a view shows. `prefix` is that of the gateway.
    pub(crate) fn new(catalog: &Catalog, rules: &Arc<ViewRules>, prefix: PrefixPolicy) -> Self {
        let servers = catalog.servers().filter(|server| rules.has_server(server));
        let servers: Vec<Arc<str>> = servers.map(Arc::from).collect();
        let policy = rules.prefix.unwrap_or(prefix);
        let (tools, mut withheld) = expose_tools(catalog, rules, &servers, policy);
        let prompts = catalog.lists().flat_map(|(server, lists)| {
            let prompts = lists.prompts.iter().filter(|prompt| rules.has_prompt(server, &prompt.name));
            prompts.map(|prompt| NamedItem {
                server: Arc::clone(server),
                name: prompt.name.clone(),
                assigned: None,
                item: prompt.clone(),
            })
        });
        let naming = Naming { kind: ItemKind::Prompt, policy, reserved: &[] };
        let (prompts, withheld_prompts) = expose(&naming, prompts.collect());
        withheld.extend(withheld_prompts);
        let mut owners = OwnerTable::new(servers.clone());
        let templates = expose_templates(catalog, rules, &mut owners);
        let resources = expose_resources(catalog, rules, &mut owners);
        Self {
            revision: catalog.revision(),
            warnings: rules.warnings(catalog),
            lifetimes: shortest_lifetimes(catalog, rules),
            rules: Arc::clone(rules),
            servers,
            tools,
            prompts,
            resources,
            templates,
            owners,
            withheld,
            shared_pages: SharedPages::default(),
        }
    }

    /// Returns the number of tools of servers.
    pub(crate) fn tool_count(&self) -> usize {
        self.tools.values().filter(|entry| matches!(entry, ToolEntry::OfServer(_))).count()
    }

    /// Returns a tool of a server by its exposed name.
    pub(crate) fn tool(&self, name: &str) -> Option<&NamedItem<ExposedTool>> {
        match self.tools.get(name)? {
            ToolEntry::OfServer(tool) => Some(tool),
            ToolEntry::ReadResult => None,
        }
    }

    /// Returns the annotations of a tool that rules may rely on, by its name on the server.
    pub(crate) fn annotations(&self, server: &str, name: &str, trusted: bool) -> Option<ToolAnnotations> {
        let mut tools = self.tools.values().filter_map(|entry| match entry {
            ToolEntry::OfServer(tool) => Some(tool),
            ToolEntry::ReadResult => None,
        });
        let tool = tools.find(|tool| *tool.server == *server && tool.name == name)?;
        tool.item.annotations(trusted)
    }

    /// Returns the owner of a resource of this view.
    ///
    /// # Errors
    /// As [`OwnerTable::find`], and when the view does not have the resource.
    pub(crate) fn find_resource(&self, uri: &str) -> Result<ResourceOwner, RpcError> {
        let owner = self.owners.find(uri, |server, uri| self.rules.has_resource(server, uri))?;
        match self.rules.has_resource(&owner.server, &owner.uri) {
            true => Ok(owner),
            false => Err(not_found(uri)),
        }
    }

    /// Returns the owner of a template of this view, for completion.
    ///
    /// # Errors
    /// As [`OwnerTable::find_template`], and when the view does not have the template.
    pub(crate) fn find_template(&self, text: &str) -> Result<ResourceOwner, RpcError> {
        let owner = self.owners.find_template(text, |server, text| self.rules.has_template(server, text))?;
        match self.rules.has_template(&owner.server, &owner.uri) {
            true => Ok(owner),
            false => Err(not_found(text)),
        }
    }

    /// Returns the servers of the view of which a caller may use something. Without a filter these are all.
    pub(crate) fn reachable_servers(&self, filter: Option<&ListFilter<'_>>) -> BTreeSet<&str> {
        let Some(filter) = filter else { return self.servers.iter().map(|server| &**server).collect() };
        let mut reachable = BTreeSet::new();
        for entry in self.tools.values() {
            if let ToolEntry::OfServer(tool) = entry
                && !reachable.contains(&*tool.server)
                && filter.shows_tool(&tool.server, &tool.name, |trusted| tool.item.annotations(trusted))
            {
                reachable.insert(&*tool.server);
            }
        }
        for prompt in self.prompts.values() {
            if !reachable.contains(&*prompt.server)
                && filter.shows(&Target::prompt(&prompt.server, &prompt.name))
            {
                reachable.insert(&*prompt.server);
            }
        }
        for (owner, is_template) in self.owners.all() {
            let kind = if is_template { TargetKind::Template } else { TargetKind::Resource };
            if !reachable.contains(&*owner.server)
                && filter.shows(&Target::new(&owner.server, kind, &owner.uri))
            {
                reachable.insert(&*owner.server);
            }
        }
        reachable
    }

    /// Returns a page of the tools.
    ///
    /// # Errors
    /// When the cursor is not valid.
    pub(crate) fn tool_page(&self, request: &PageRequest<'_>) -> Result<CachedResult, RpcError> {
        let PageRequest { filter, .. } = request;
        cached(&self.shared_pages.tools, request, || {
            let shows = |_: &str, entry: &ToolEntry| match (entry, filter) {
                (ToolEntry::OfServer(tool), Some(filter)) => {
                    filter.shows_tool(&tool.server, &tool.name, |trusted| tool.item.annotations(trusted))
                }
                _ => true,
            };
            let ListPage { items, next } = page(&self.tools, request.cursor, request.size, shows)?;
            let tools = items.into_iter().map(|(name, entry)| {
                let mut shown = match entry {
                    ToolEntry::OfServer(tool) => tool.item.tool().clone(),
                    ToolEntry::ReadResult => read_result_tool(),
                };
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
        cached(&self.shared_pages.prompts, request, || {
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
        cached(&self.shared_pages.resources, request, || {
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
        cached(&self.shared_pages.templates, request, || {
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
        let owner = self.find_resource(uri);
        owner.is_ok_and(|owner| filter.shows(&Target::resource(&owner.server, &owner.uri)))
    }

    fn shows_template(&self, filter: &ListFilter<'_>, text: &str) -> bool {
        let owner = self.find_template(text);
        owner.is_ok_and(|owner| filter.shows(&Target::new(&owner.server, TargetKind::Template, &owner.uri)))
    }
}

/// Returns a page from its cache. A filtered page is of one caller, and is built.
fn cached(
    shared: &PageCache,
    request: &PageRequest<'_>,
    build: impl FnOnce() -> Result<CachedResult, RpcError>,
) -> Result<CachedResult, RpcError> {
    let mut source = PageSource::Cache;
    let build = || {
        source = PageSource::Built;
        build()
    };
    let page = match request.filter {
        Some(_) => build(),
        None => shared.get_or_build(request.cursor, build),
    };
    if let Some(metrics) = request.metrics {
        metrics.record_page(source);
    }
    page
}

/// Returns the cache hints of a list. Private: servers may list different items for different users.
fn hints(lifetime: Duration) -> (Option<u64>, Option<CacheScope>) {
    (Some(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX)), Some(CacheScope::Private))
}
