//! The lists of a server: fetched page by page within bounds, kept while they are good.
//!
//! A bad entry is left out with its reason, never its siblings. A list that was cut short says so.

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

use crate::client::gather::{Filling, gather};
use crate::client::live::Live;
use crate::link::Link;
use crate::request::CallError;

/// What stands in a list: it has a name that is unique in it.
pub trait Entry: FromRaw + Send + Sync + 'static {
    /// What tells it apart from its siblings.
    fn key(&self) -> &str;

    /// Whether it can be used over this link; a reason when not.
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
        impl Entry for $type {
            fn key(&self) -> &str {
                &self.$field
            }
        }
    )*};
}

impl Entry for Tool {
    fn key(&self) -> &str {
        &self.name
    }

    fn vet(&self, link: &dyn Link) -> Result<(), String> {
        link.check_schema(&self.input_schema)
    }
}

entries! { Prompt => name, Resource => uri, ResourceTemplate => uri_template }

/// A whole list. Reads like a slice.
#[derive(Debug)]
#[non_exhaustive]
pub struct List<T> {
    entries: Vec<T>,
    /// Where the entries stand, by the hash of their names: a call looks its tool up, however many there are.
    places: HashMap<u64, Place, foldhash::fast::FixedState>,
    hasher: foldhash::fast::RandomState,
    /// Entries that could not be read, with the reason.
    pub rejected: Vec<Rejected>,
    /// Names that stood in the list more than once; the first was kept.
    pub duplicates: Vec<String>,
    /// Why the list may not be whole.
    pub cut: Option<Cut>,
}

/// Where the entries with one hash stand.
#[derive(Debug, Clone, Copy)]
enum Place {
    Only(u32),
    /// Too rare to keep account of: they are searched for.
    Several,
}

/// Why a list was cut short.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
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

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedCursor { cursor } => write!(f, "the server gave the cursor {cursor:?} twice"),
            Self::Pages(most) => write!(f, "the list has more than {most} pages"),
            Self::Entries(most) => write!(f, "the list has more than {most} entries"),
        }
    }
}

impl Error for Cut {}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.entries
    }
}

impl<T: Entry> List<T> {
    /// The entry of this name (for resources: of this URI).
    pub fn by_name(&self, name: &str) -> Option<&T> {
        match self.places.get(&self.hasher.hash_one(name)) {
            None => None,
            Some(Place::Only(at)) => self.entries.get(*at as usize).filter(|entry| entry.key() == name),
            Some(Place::Several) => self.entries.iter().find(|entry| entry.key() == name),
        }
    }

    /// Adds an entry, unless there is one of its name.
    fn take(&mut self, entry: T) {
        if self.by_name(entry.key()).is_some() {
            self.duplicates.push(entry.key().to_owned());
            return;
        }
        let at = u32::try_from(self.entries.len()).map_or(Place::Several, Place::Only);
        let hash = self.hasher.hash_one(entry.key());
        self.places.entry(hash).and_modify(|place| *place = Place::Several).or_insert(at);
        self.entries.push(entry);
    }

    pub(crate) fn empty() -> Self {
        Self {
            entries: Vec::new(),
            places: HashMap::default(),
            hasher: foldhash::fast::RandomState::default(),
            rejected: Vec::new(),
            duplicates: Vec::new(),
            cut: None,
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

/// One list of a server, kept while it is good.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    state: Mutex<ShelfState<T>>,
    /// Held while the list is fetched, so that many callers cost one fetch.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct ShelfState<T> {
    /// The last list there was, good or not: what is known of an entry when it is used.
    last: Option<Fetched<T>>,
    /// How long the last list is good.
    good: Good,
    /// Goes up when the server says the list has changed, so that one under way then is not kept.
    epoch: u64,
}

#[derive(Debug)]
struct Fetched<T> {
    listing: Arc<List<T>>,
    /// When its fetch began.
    began: Instant,
}

/// How long a list is good.
#[derive(Debug, Clone, Copy)]
enum Good {
    /// Not at all.
    No,
    /// Until then.
    Until(Instant),
    /// Until the server says it has changed.
    UntilTold,
}

/// Whether a kept list may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// A kept list is fine while it is good.
    Kept,
    /// Ask the server.
    Refreshed,
}

/// How a list without a lifetime is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// The server tells of changes: until it does.
    UntilTold,
    /// Nobody would tell: not at all.
    Never,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        let state = ShelfState { last: None, good: Good::No, epoch: 0 };
        Self { state: Mutex::new(state), fetching: tokio::sync::Mutex::new(()) }
    }
}

impl<T: Entry> Shelf<T> {
    /// What is kept is no longer good.
    pub(crate) fn forget(&self) {
        let mut state = self.state.lock();
        state.epoch += 1;
        state.good = Good::No;
    }

    /// The last list there was.
    pub(crate) fn last(&self) -> Option<Arc<List<T>>> {
        self.state.lock().last.as_ref().map(|fetched| Arc::clone(&fetched.listing))
    }

    /// The list, if it is good, or if its fetch began after `asked`.
    fn fresh(&self, freshness: Freshness, asked: Instant) -> Option<Arc<List<T>>> {
        let state = self.state.lock();
        let fetched = state.last.as_ref()?;
        let is_good = freshness == Freshness::Kept
            && match state.good {
                Good::No => false,
                Good::Until(until) => until > Instant::now(),
                Good::UntilTold => true,
            };
        (is_good || fetched.began > asked).then(|| Arc::clone(&fetched.listing))
    }

    /// The list: as it is kept, or from the server.
    pub(crate) async fn get(
        &self,
        live: &Live,
        what: &ListMethod,
        freshness: Freshness,
    ) -> Result<Arc<List<T>>, CallError> {
        let asked = Instant::now();
        if let Some(listing) = self.fresh(freshness, asked) {
            return Ok(listing);
        }
        let mut fetch = Fetch {
            shelf: self,
            live,
            field: what.field,
            freshness,
            began: asked,
            epoch: 0,
            under_way: List::empty(),
            done: None,
        };
        gather(live, what, &self.fetching, &mut fetch).await?;
        Ok(fetch.done.expect("what was gathered was finished, or found fresh"))
    }
}

/// One fetch of a list.
struct Fetch<'a, T> {
    shelf: &'a Shelf<T>,
    live: &'a Live,
    field: &'static str,
    freshness: Freshness,
    /// When it was asked for, and once it is our turn, when it began.
    began: Instant,
    /// The epoch of the list when the fetch began.
    epoch: u64,
    under_way: List<T>,
    done: Option<Arc<List<T>>>,
}

impl<T: Entry> Filling for Fetch<'_, T> {
    fn is_filled(&mut self) -> bool {
        self.done = self.shelf.fresh(self.freshness, self.began);
        (self.began, self.epoch) = (Instant::now(), self.shelf.state.lock().epoch);
        self.done.is_some()
    }

    fn start(&mut self) {
        self.under_way = List::empty();
    }

    fn add(&mut self, page: &Raw) -> Result<Page<()>, DecodeError> {
        let most = self.live.limits().entries;
        let mut read: Vec<T> = Vec::new();
        let mut page = walk_entries(page, self.field, most + 1, &mut |entry| {
            read.push(T::read(entry)?);
            Ok(())
        })?;
        let listing = &mut self.under_way;
        listing.rejected.append(&mut page.rejected);
        if listing.entries.is_empty() {
            // Most lists have one page, and are kept as long as the session.
            listing.entries.reserve_exact(read.len());
        }
        for (index, entry) in read.into_iter().enumerate() {
            if let Err(reason) = entry.vet(&*self.live.link) {
                listing.rejected.push(unusable(index, entry.key(), reason));
            } else if listing.len() == most {
                page.is_cut = true;
                break;
            } else {
                listing.take(entry);
            }
        }
        Ok(page)
    }

    fn cut(&mut self, cut: Cut) {
        self.under_way.cut = Some(cut);
    }

    fn finish(&mut self, lifetime: Option<Duration>, holding: Holding) {
        let listing = Arc::new(std::mem::replace(&mut self.under_way, List::empty()));
        let mut state = self.shelf.state.lock();
        state.last = Some(Fetched { listing: Arc::clone(&listing), began: self.began });
        state.good = match (lifetime, holding) {
            _ if state.epoch != self.epoch => Good::No,
            (Some(lifetime), _) => Good::Until(Instant::now() + lifetime),
            (None, Holding::UntilTold) => Good::UntilTold,
            (None, Holding::Never) => Good::No,
        };
        self.done = Some(listing);
    }
}

fn unusable(index: usize, name: &str, reason: String) -> Rejected {
    tracing::warn!(name, reason, "an entry cannot be used over this connection");
    Rejected::new(index, name, reason)
}

/// One of the four lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListMethod {
    pub(crate) method: &'static str,
    pub(crate) field: &'static str,
    pub(crate) kind: ListKind,
}

/// What a list holds, for what the server says of it.
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
