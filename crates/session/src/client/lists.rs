//! The lists of a server: fetched page by page within limits, cached while they are fresh.
//!
//! An invalid entry is left out, with the reason; its siblings stay. A truncated list says why.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::hash::BuildHasher;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{
    DecodeError, FromRaw, Page, Prompt, Raw, Rejected, Resource, ResourceTemplate, Tool, walk_entries,
};
use tokio::time::Instant;

use crate::client::live_session::LiveSession;
use crate::client::paging::{PageSink, fetch_list};
use crate::link::Link;
use crate::request::CallError;

/// An entry of a list, with a name that is unique in it.
pub trait ListEntry: FromRaw + Send + Sync + 'static {
    /// Returns its unique name (for resources: its URI).
    fn key(&self) -> &str;

    /// Checks whether it can be used over this link.
    ///
    /// # Errors
    /// Says what the link cannot carry.
    fn vet(&self, link: &dyn Link) -> Result<(), String> {
        let _ = link;
        Ok(())
    }
}

macro_rules! entries {
    ($($type:ty => $field:ident),* $(,)?) => {$(
        impl ListEntry for $type {
            fn key(&self) -> &str {
                &self.$field
            }
        }
    )*};
}

impl ListEntry for Tool {
    fn key(&self) -> &str {
        &self.name
    }

    fn vet(&self, link: &dyn Link) -> Result<(), String> {
        link.check_schema(&self.input_schema)
    }
}

entries! { Prompt => name, Resource => uri, ResourceTemplate => uri_template }

/// A list of a server's tools, prompts, resources or resource templates. Dereferences to a slice.
///
/// ```
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// let tools = session.list_tools().await?;
/// assert_eq!(tools.len(), 2); // a slice
/// assert!(tools.by_name("add").is_some_and(|tool| tool.effects().is_read_only()));
/// assert!(tools.rejected.is_empty() && tools.cut.is_none()); // nothing was left out
/// # demo::done() });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct List<T> {
    entries: Vec<T>,
    /// The positions of the entries by the hash of their names, so that a call finds its tool in constant time.
    index_by_hash: HashMap<u64, IndexEntry, foldhash::fast::FixedState>,
    hasher: foldhash::fast::RandomState,
    /// Entries that could not be decoded, with the reason.
    pub rejected: Vec<Rejected>,
    /// Names that were in the list more than once; the first entry was kept.
    pub duplicates: Vec<String>,
    /// Why the list may be incomplete.
    pub cut: Option<ListTruncation>,
    /// How long the server said that the list is fresh.
    pub lifetime: Option<Duration>,
}

/// The position of the entries with one hash.
#[derive(Debug, Clone, Copy)]
enum IndexEntry {
    Unique(u32),
    /// A collision: the list is searched linearly.
    Ambiguous,
}

/// Why a list was truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListTruncation {
    /// The server gave the same cursor twice.
    RepeatedCursor {
        /// The cursor.
        cursor: String,
    },
    /// More pages than the limit.
    Pages(usize),
    /// More entries than the limit.
    Entries(usize),
}

impl fmt::Display for ListTruncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedCursor { cursor } => write!(f, "the server gave the cursor {cursor:?} twice"),
            Self::Pages(most) => write!(f, "the list has more than {most} pages"),
            Self::Entries(most) => write!(f, "the list has more than {most} entries"),
        }
    }
}

impl Error for ListTruncation {}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.entries
    }
}

impl<T: ListEntry> List<T> {
    /// Returns the entry of this name (for resources: of this URI).
    pub fn by_name(&self, name: &str) -> Option<&T> {
        match self.index_by_hash.get(&self.hasher.hash_one(name)) {
            None => None,
            Some(IndexEntry::Unique(at)) => {
                self.entries.get(*at as usize).filter(|entry| entry.key() == name)
            }
            Some(IndexEntry::Ambiguous) => self.entries.iter().find(|entry| entry.key() == name),
        }
    }

    /// Adds an entry, unless there is one with its name.
    fn add(&mut self, entry: T) {
        if self.by_name(entry.key()).is_some() {
            self.duplicates.push(entry.key().to_owned());
            return;
        }
        let at = u32::try_from(self.entries.len()).map_or(IndexEntry::Ambiguous, IndexEntry::Unique);
        let hash = self.hasher.hash_one(entry.key());
        self.index_by_hash.entry(hash).and_modify(|place| *place = IndexEntry::Ambiguous).or_insert(at);
        self.entries.push(entry);
    }

    pub(crate) fn empty() -> Self {
        Self {
            entries: Vec::new(),
            index_by_hash: HashMap::default(),
            hasher: foldhash::fast::RandomState::default(),
            rejected: Vec::new(),
            duplicates: Vec::new(),
            cut: None,
            lifetime: None,
        }
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

/// The cache of one list of a server.
#[derive(Debug)]
pub(crate) struct ListCache<T> {
    state: Mutex<ListCacheState<T>>,
    /// Held while the list is fetched, so that concurrent callers share one fetch.
    fetch_lock: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct ListCacheState<T> {
    /// The last list, fresh or stale: the best information about an entry when it is used.
    last: Option<FetchedList<T>>,
    /// How long the last list is fresh.
    validity: Validity,
    /// Incremented when the list has changed, so that a list requested before is not cached as fresh.
    epoch: u64,
}

#[derive(Debug)]
struct FetchedList<T> {
    list: Arc<List<T>>,
    /// When its fetch started.
    started_at: Instant,
}

/// How long a list is fresh.
#[derive(Debug, Clone, Copy)]
enum Validity {
    /// The list is stale.
    Stale,
    /// Fresh until this time.
    Until(Instant),
    /// Fresh until the server announces a change.
    UntilChanged,
}

/// Whether a cached list may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// A fresh cached list may be used.
    Cached,
    /// The server is asked.
    Fresh,
}

/// How long a list without a lifetime is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListRetention {
    /// Until the server announces a change.
    UntilChanged,
    /// Not at all: no change would be announced.
    None,
}

impl<T> Default for ListCache<T> {
    fn default() -> Self {
        let state = ListCacheState { last: None, validity: Validity::Stale, epoch: 0 };
        Self { state: Mutex::new(state), fetch_lock: tokio::sync::Mutex::new(()) }
    }
}

impl<T: ListEntry> ListCache<T> {
    /// Marks the cached list as stale.
    pub(crate) fn invalidate(&self) {
        let mut state = self.state.lock();
        state.epoch += 1;
        state.validity = Validity::Stale;
    }

    /// Returns the last list, fresh or stale.
    pub(crate) fn last(&self) -> Option<Arc<List<T>>> {
        self.state.lock().last.as_ref().map(|fetched| Arc::clone(&fetched.list))
    }

    /// Returns the list if it is fresh, or if its fetch started after `requested_at`.
    fn get_fresh(&self, freshness: Freshness, requested_at: Instant) -> Option<Arc<List<T>>> {
        let state = self.state.lock();
        let fetched = state.last.as_ref()?;
        let is_valid = freshness == Freshness::Cached
            && match state.validity {
                Validity::Stale => false,
                Validity::Until(until) => until > Instant::now(),
                Validity::UntilChanged => true,
            };
        (is_valid || fetched.started_at > requested_at).then(|| Arc::clone(&fetched.list))
    }

    /// Returns the list, from the cache or from the server.
    pub(crate) async fn get(
        &self,
        live: &LiveSession,
        what: &ListMethod,
        freshness: Freshness,
    ) -> Result<Arc<List<T>>, CallError> {
        let requested_at = Instant::now();
        if let Some(list) = self.get_fresh(freshness, requested_at) {
            return Ok(list);
        }
        let mut fetch = ListFetch {
            cache: self,
            live,
            field: what.field,
            freshness,
            started_at: requested_at,
            epoch: 0,
            partial: List::empty(),
            done: None,
        };
        fetch_list(live, what, &self.fetch_lock, &mut fetch).await?;
        Ok(fetch.done.expect("a fetched list was finished, or found fresh"))
    }
}

/// One fetch of a list.
struct ListFetch<'a, T> {
    cache: &'a ListCache<T>,
    live: &'a LiveSession,
    field: &'static str,
    freshness: Freshness,
    /// When the list was requested; once the fetch lock is held, when the fetch started.
    started_at: Instant,
    /// The epoch of the list when the fetch started.
    epoch: u64,
    partial: List<T>,
    done: Option<Arc<List<T>>>,
}

impl<T: ListEntry> PageSink for ListFetch<'_, T> {
    fn reuse_fresh(&mut self) -> bool {
        self.done = self.cache.get_fresh(self.freshness, self.started_at);
        (self.started_at, self.epoch) = (Instant::now(), self.cache.state.lock().epoch);
        self.done.is_some()
    }

    fn start(&mut self) {
        self.partial = List::empty();
    }

    fn add(&mut self, page: &Raw) -> Result<Page<()>, DecodeError> {
        let most = self.live.limits().entries;
        let mut read: Vec<T> = Vec::new();
        let mut page = walk_entries(page, self.field, most + 1, &mut |entry| {
            read.push(T::read(entry)?);
            Ok(())
        })?;
        let list = &mut self.partial;
        list.rejected.append(&mut page.rejected);
        if list.entries.is_empty() {
            // Most lists have one page and live as long as the session.
            list.entries.reserve_exact(read.len());
        }
        for (index, entry) in read.into_iter().enumerate() {
            if let Err(reason) = entry.vet(&*self.live.link) {
                list.rejected.push(reject_unusable(index, entry.key(), reason));
            } else if list.len() == most {
                page.is_cut = true;
                break;
            } else {
                list.add(entry);
            }
        }
        Ok(page)
    }

    fn set_cut(&mut self, cut: ListTruncation) {
        self.partial.cut = Some(cut);
    }

    fn finish(&mut self, lifetime: Option<Duration>, retention: ListRetention) {
        self.partial.lifetime = lifetime;
        let list = Arc::new(std::mem::replace(&mut self.partial, List::empty()));
        let mut state = self.cache.state.lock();
        state.last = Some(FetchedList { list: Arc::clone(&list), started_at: self.started_at });
        state.validity = match (lifetime, retention) {
            _ if state.epoch != self.epoch => Validity::Stale,
            (Some(lifetime), _) => Validity::Until(Instant::now() + lifetime),
            (None, ListRetention::UntilChanged) => Validity::UntilChanged,
            (None, ListRetention::None) => Validity::Stale,
        };
        self.done = Some(list);
    }
}

fn reject_unusable(index: usize, name: &str, reason: String) -> Rejected {
    tracing::warn!(name, reason, "skipping an entry that cannot be used over this connection");
    Rejected::new(index, name, reason)
}

/// The method and the result field of one of the four lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListMethod {
    pub(crate) method: &'static str,
    pub(crate) field: &'static str,
    pub(crate) kind: ListKind,
}

/// The kind of a list, by the capability that covers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
    Resources,
}

pub(crate) const TOOLS: ListMethod =
    ListMethod { method: "tools/list", field: "tools", kind: ListKind::Tools };
pub(crate) const PROMPTS: ListMethod =
    ListMethod { method: "prompts/list", field: "prompts", kind: ListKind::Prompts };
pub(crate) const RESOURCES: ListMethod =
    ListMethod { method: "resources/list", field: "resources", kind: ListKind::Resources };
pub(crate) const TEMPLATES: ListMethod =
    ListMethod { method: "resources/templates/list", field: "resourceTemplates", kind: ListKind::Resources };
