//! What is listed: written once for each revision, in pages, and for each set of scopes that makes a difference.

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
use super::resources::Resources;
use crate::options::Options;

/// The lists of a design.
pub(crate) struct Lists {
    pub(crate) tools: List<Tool>,
    pub(crate) resources: List<Resource>,
    pub(crate) templates: List<ResourceTemplate>,
    pub(crate) prompts: List<Prompt>,
}

impl Lists {
    pub(crate) fn new(design: &Design, resources: &Resources, options: &Options) -> Self {
        let of_resource = |name: &str| {
            let found = design.resources.iter().find(|resource| resource.name == name);
            found.map(|resource| resource.scopes.clone()).unwrap_or_default()
        };
        let tools = design.list_tools(options.outputs).into_iter();
        let listed = design.list_resources(resources.policy()).into_iter();
        let templates = design.list_templates(resources.policy()).into_iter();
        let prompts = design.list_prompts().into_iter();
        Self {
            tools: List::new(
                "tools/list",
                tools.zip(design.tools.iter().map(|tool| tool.scopes.clone())).collect(),
                options,
            ),
            resources: List::new(
                "resources/list",
                listed.map(|listed| (listed.clone(), of_resource(&listed.name))).collect(),
                options,
            ),
            templates: List::new(
                "resources/templates/list",
                templates.map(|listed| (listed.clone(), of_resource(&listed.name))).collect(),
                options,
            ),
            prompts: List::new(
                "prompts/list",
                prompts.zip(design.prompts.iter().map(|prompt| prompt.scopes.clone())).collect(),
                options,
            ),
        }
    }
}

/// What can be listed.
pub(crate) trait Listed: Clone {
    fn name(&self) -> &str;
    /// A page of them.
    fn page(items: Vec<Self>, next: Option<String>, scope: Option<CacheScope>) -> ServerResult;
}

macro_rules! listed {
    ($($item:ty => $result:ty;)*) => {
        $(impl Listed for $item {
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

listed! {
    Tool => ListToolsResult;
    Resource => ListResourcesResult;
    ResourceTemplate => ListResourceTemplatesResult;
    Prompt => ListPromptsResult;
}

/// One list, as each caller sees it.
pub(crate) struct List<T> {
    method: &'static str,
    items: Vec<(T, Vec<String>)>,
    /// The scopes that make a difference.
    scopes: Vec<String>,
    page_size: usize,
    /// What those see who have none of them: everybody, when none makes a difference.
    everybody: Arc<Pages>,
    /// What others see, by which of the scopes they have.
    others: Mutex<HashMap<Vec<bool>, Arc<Pages>>>,
}

/// The pages of a list: the cursor of each but the first, and what it says.
struct Pages {
    pages: Vec<(Option<String>, CachedResult)>,
}

/// So many views of a list are kept; beyond these they are written anew.
const MOST_VIEWS: usize = 64;

impl<T: Listed> List<T> {
    fn new(method: &'static str, items: Vec<(T, Vec<String>)>, options: &Options) -> Self {
        let mut scopes: Vec<String> = items.iter().flat_map(|(_, scopes)| scopes.clone()).collect();
        scopes.sort_unstable();
        scopes.dedup();
        let page_size = options.page_size.unwrap_or(usize::MAX).max(1);
        let open = items.iter().filter(|(_, scopes)| scopes.is_empty()).map(|(item, _)| item.clone());
        let everybody = Arc::new(Pages::new(method, open.collect(), page_size, !scopes.is_empty()));
        Self { method, items, scopes, page_size, everybody, others: Mutex::default() }
    }

    /// What a caller sees of the list.
    pub(crate) fn seen_by(&self, access: Access<'_>) -> Vec<T> {
        let seen = self.items.iter().filter(|(_, scopes)| access.covers(scopes));
        seen.map(|(item, _)| item.clone()).collect()
    }

    fn pages(&self, access: Access<'_>) -> Arc<Pages> {
        let has: Vec<bool> = self.scopes.iter().map(|scope| access.has(scope)).collect();
        if !has.contains(&true) {
            return Arc::clone(&self.everybody);
        }
        if let Some(known) = self.others.lock().get(&has) {
            return Arc::clone(known);
        }
        let pages = Arc::new(Pages::new(self.method, self.seen_by(access), self.page_size, true));
        let mut others = self.others.lock();
        if others.len() < MOST_VIEWS {
            others.insert(has, Arc::clone(&pages));
        }
        pages
    }
}

impl Pages {
    fn new<T: Listed>(method: &str, items: Vec<T>, size: usize, differs: bool) -> Self {
        // What is not the same for all callers must not be shared among them.
        let scope = differs.then_some(CacheScope::Private);
        if items.len() <= size {
            return Self { pages: vec![(None, CachedResult::new(T::page(items, None, scope)))] };
        }
        let cursors: Vec<String> = items.chunks(size).map(|page| cursor(method, page)).collect();
        let page = |(at, page): (usize, &[T])| {
            let cursor = (at > 0).then(|| cursors[at].clone());
            (cursor, CachedResult::new(T::page(page.to_vec(), cursors.get(at + 1).cloned(), scope)))
        };
        Self { pages: items.chunks(size).enumerate().map(page).collect() }
    }

    fn page(&self, cursor: Option<&str>) -> Option<&CachedResult> {
        self.pages.iter().find(|(own, _)| own.as_deref() == cursor).map(|(_, kept)| kept)
    }
}

/// Says where a page begins, and nothing to whoever reads it: the same in every replica of a server.
fn cursor<T: Listed>(method: &str, page: &[T]) -> String {
    hashed(method, page.first().map_or("", T::name))
}

/// The cursor of what begins with this item.
pub(super) fn hashed(method: &str, first: &str) -> String {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(method.as_bytes());
    hash.write(&[0]);
    hash.write(first.as_bytes());
    format!("{:016x}", hash.finish())
}

/// FNV-1a: not for keys that an enemy chooses, and these are the author's.
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
    /// Answers with a page of a list.
    pub(crate) fn list<T: Listed>(
        &self,
        list: &List<T>,
        params: &PageParams,
        cx: &server::RequestContext,
    ) -> HandlerOutcome {
        let pages = if list.scopes.is_empty() {
            Arc::clone(&list.everybody)
        } else {
            list.pages(self.access(cx.caller()))
        };
        match pages.page(params.cursor.as_deref()) {
            Some(page) => HandlerOutcome::cached(page),
            None => HandlerOutcome::error(RpcError::invalid_params(
                "Invalid cursor: it is none of this list; begin again without one",
            )),
        }
    }
}
