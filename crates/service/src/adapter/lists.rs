//! Lists of tools, resources, templates and prompts: encoded once per revision, per page, and per set of scopes.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_design::Design;
use switchboard_protocol::{
    CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PageParams, Prompt, Resource, ResourceTemplate, RpcError, ServerResult, Tool,
};
use switchboard_session::server::{self, CachedResult, HandlerOutcome};

use super::Core;
use super::access::Access;
use super::resources::ResourceTable;
use crate::options::BuilderOptions;

/// The lists of a design.
pub(crate) struct DesignLists {
    pub(crate) tools: CachedList<Tool>,
    pub(crate) resources: CachedList<Resource>,
    pub(crate) templates: CachedList<ResourceTemplate>,
    pub(crate) prompts: CachedList<Prompt>,
}

impl DesignLists {
    pub(crate) fn new(design: &Design, resources: &ResourceTable, options: &BuilderOptions) -> Self {
        let scopes_of = |name: &str| {
            let found = design.resources.iter().find(|resource| resource.name == name);
            found.map(|resource| resource.scopes.clone()).unwrap_or_default()
        };
        let tools = design.list_tools(options.outputs).into_iter();
        let fixed = design.list_resources(resources.policy()).into_iter();
        let templates = design.list_templates(resources.policy()).into_iter();
        let prompts = design.list_prompts().into_iter();
        Self {
            tools: CachedList::new(
                "tools/list",
                tools.zip(design.tools.iter().map(|tool| tool.scopes.clone())).collect(),
                options,
            ),
            resources: CachedList::new(
                "resources/list",
                fixed.map(|resource| (resource.clone(), scopes_of(&resource.name))).collect(),
                options,
            ),
            templates: CachedList::new(
                "resources/templates/list",
                templates.map(|template| (template.clone(), scopes_of(&template.name))).collect(),
                options,
            ),
            prompts: CachedList::new(
                "prompts/list",
                prompts.zip(design.prompts.iter().map(|prompt| prompt.scopes.clone())).collect(),
                options,
            ),
        }
    }
}

/// An item type of a list.
pub(crate) trait ListItem: Clone {
    fn name(&self) -> &str;
    /// Builds one page.
    fn page(items: Vec<Self>, next: Option<String>, scope: Option<CacheScope>) -> ServerResult;
}

macro_rules! list_item {
    ($($item:ty => $result:ty;)*) => {
        $(impl ListItem for $item {
            fn name(&self) -> &str {
                &self.name
            }

            fn page(items: Vec<Self>, next: Option<String>, scope: Option<CacheScope>) -> ServerResult {
                let mut result = <$result>::new(items);
                (result.next_cursor, result.cache_scope) = (next, scope);
                result.into()
            }
        })*
    };
}

list_item! {
    Tool => ListToolsResult;
    Resource => ListResourcesResult;
    ResourceTemplate => ListResourceTemplatesResult;
    Prompt => ListPromptsResult;
}

/// One list, as each caller sees it.
pub(crate) struct CachedList<T> {
    method: &'static str,
    items: Vec<(T, Vec<String>)>,
    /// All scopes that any item requires.
    scopes: Vec<String>,
    page_size: usize,
    /// Pages for callers with none of these scopes; for all callers if there are no scopes.
    public_pages: Arc<Pages>,
    /// Pages for other callers, by which of the scopes they have.
    scoped_pages: Mutex<HashMap<Vec<bool>, Arc<Pages>>>,
}

/// The pages of a list, each with its cursor; the first has none.
struct Pages {
    pages: Vec<(Option<String>, CachedResult)>,
}

/// Maximum number of cached views of a list; others are built per request.
const MAX_CACHED_VIEWS: usize = 64;

impl<T: ListItem> CachedList<T> {
    fn new(method: &'static str, items: Vec<(T, Vec<String>)>, options: &BuilderOptions) -> Self {
        let mut scopes: Vec<String> = items.iter().flat_map(|(_, scopes)| scopes.clone()).collect();
        scopes.sort_unstable();
        scopes.dedup();
        let page_size = options.page_size.unwrap_or(usize::MAX).max(1);
        let open = items.iter().filter(|(_, scopes)| scopes.is_empty()).map(|(item, _)| item.clone());
        let public_pages = Arc::new(Pages::new(method, open.collect(), page_size, !scopes.is_empty()));
        Self { method, items, scopes, page_size, public_pages, scoped_pages: Mutex::default() }
    }

    /// Returns the items that a caller may see.
    pub(crate) fn visible_to(&self, access: Access<'_>) -> Vec<T> {
        let visible = self.items.iter().filter(|(_, scopes)| access.lists(scopes));
        visible.map(|(item, _)| item.clone()).collect()
    }

    fn pages(&self, access: Access<'_>) -> Arc<Pages> {
        let granted: Vec<bool> =
            self.scopes.iter().map(|scope| access.lists(std::slice::from_ref(scope))).collect();
        if !granted.contains(&true) {
            return Arc::clone(&self.public_pages);
        }
        if let Some(known) = self.scoped_pages.lock().get(&granted) {
            return Arc::clone(known);
        }
        let pages = Arc::new(Pages::new(self.method, self.visible_to(access), self.page_size, true));
        let mut scoped_pages = self.scoped_pages.lock();
        if scoped_pages.len() < MAX_CACHED_VIEWS {
            scoped_pages.insert(granted, Arc::clone(&pages));
        }
        pages
    }
}

impl Pages {
    fn new<T: ListItem>(method: &str, items: Vec<T>, size: usize, differs: bool) -> Self {
        // A list that depends on the caller must not be cached for others.
        let scope = differs.then_some(CacheScope::Private);
        if items.len() <= size {
            return Self { pages: vec![(None, CachedResult::new(T::page(items, None, scope)))] };
        }
        let cursors: Vec<String> = items.chunks(size).map(|page| page_cursor(method, page)).collect();
        let page = |(at, page): (usize, &[T])| {
            let cursor = (at > 0).then(|| cursors[at].clone());
            (cursor, CachedResult::new(T::page(page.to_vec(), cursors.get(at + 1).cloned(), scope)))
        };
        Self { pages: items.chunks(size).enumerate().map(page).collect() }
    }

    fn page(&self, cursor: Option<&str>) -> Option<&CachedResult> {
        self.pages.iter().find(|(own, _)| own.as_deref() == cursor).map(|(_, cached)| cached)
    }
}

/// Returns the cursor of a page: an opaque hash, the same in every replica of a server.
fn page_cursor<T: ListItem>(method: &str, page: &[T]) -> String {
    cursor_for(method, page.first().map_or("", T::name))
}

/// Returns the cursor of the page that begins with this item.
pub(super) fn cursor_for(method: &str, first: &str) -> String {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(method.as_bytes());
    hash.write(&[0]);
    hash.write(first.as_bytes());
    format!("{:016x}", hash.finish())
}

/// FNV-1a: not collision-resistant, but the keys are the author's item names.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl Core {
    /// Replies with a page of a list.
    pub(crate) fn list<T: ListItem>(
        &self,
        list: &CachedList<T>,
        params: &PageParams,
        cx: &server::RequestContext,
    ) -> HandlerOutcome {
        let pages = if list.scopes.is_empty() {
            Arc::clone(&list.public_pages)
        } else {
            list.pages(self.access(cx.caller()))
        };
        match pages.page(params.cursor.as_deref()) {
            Some(page) => HandlerOutcome::cached(page),
            None => HandlerOutcome::error(RpcError::invalid_params(
                "Invalid cursor: not a cursor of this list; start again without one",
            )),
        }
    }
}
