//! The lists of a server: fetched page by page within bounds, kept while they are good.
//!
//! A bad entry is left out with its reason, never its siblings. A list that was cut short says so.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use switchboard_protocol::{
    ErrorCode, Prompt, Raw, Rejected, Resource, ResourceTemplate, Tool, decode_entries,
};
use tokio::time::Instant;

use crate::client::call::Call;
use crate::client::session::Live;
use crate::client::{Limits, cache};
use crate::error::{CallError, Phase};
use crate::link::Link;

/// What stands in a list: it has a name that is unique in it.
pub trait Entry: DeserializeOwned + Send + Sync + 'static {
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
        link.vet(self)
    }
}

entries! { Prompt => name, Resource => uri, ResourceTemplate => uri_template }

/// A whole list. Reads like a slice.
#[derive(Debug)]
#[non_exhaustive]
pub struct Listing<T> {
    entries: Vec<T>,
    /// Entries that could not be read, with the reason.
    pub rejected: Vec<Rejected>,
    /// Names that stood in the list more than once; the first was kept.
    pub duplicates: Vec<String>,
    /// Why the list may not be whole.
    pub cut: Option<Cut>,
}

/// Why a list was cut short.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cut {
    /// The server gave the same cursor twice.
    #[error("the server gave the cursor {cursor:?} twice")]
    RepeatedCursor {
        /// The cursor.
        cursor: String,
    },
    /// More pages than the limit.
    #[error("the list has more than {0} pages")]
    Pages(usize),
    /// More entries than the limit.
    #[error("the list has more than {0} entries")]
    Entries(usize),
}

impl<T> Deref for Listing<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.entries
    }
}

impl<T: Entry> Listing<T> {
    /// The entry of this name (for resources: of this URI).
    pub fn by_name(&self, name: &str) -> Option<&T> {
        self.entries.iter().find(|entry| entry.key() == name)
    }

    pub(crate) fn empty() -> Self {
        Self { entries: Vec::new(), rejected: Vec::new(), duplicates: Vec::new(), cut: None }
    }
}

impl<'a, T> IntoIterator for &'a Listing<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

/// One list of a server, kept while it is good.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    kept: Mutex<Option<Kept<T>>>,
    /// The last list there was, good or not: what is known of an entry when it is used.
    last: Mutex<Option<Arc<Listing<T>>>>,
    /// Goes up when the server says the list has changed, so that one under way then is not kept.
    epoch: AtomicU64,
    /// Held while the list is fetched, so that many callers cost one fetch.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Kept<T> {
    listing: Arc<Listing<T>>,
    /// `None`: until the server says it has changed.
    until: Option<Instant>,
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
        Self {
            kept: Mutex::new(None),
            last: Mutex::new(None),
            epoch: AtomicU64::new(0),
            fetching: tokio::sync::Mutex::new(()),
        }
    }
}

impl<T: Entry> Shelf<T> {
    /// Forgets what is kept.
    pub(crate) fn forget(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        *self.kept.lock() = None;
    }

    /// The last list there was.
    pub(crate) fn last(&self) -> Option<Arc<Listing<T>>> {
        self.last.lock().clone()
    }

    fn fresh(&self) -> Option<Arc<Listing<T>>> {
        let kept = self.kept.lock();
        let kept = kept.as_ref().filter(|kept| kept.until.is_none_or(|until| until > Instant::now()))?;
        Some(Arc::clone(&kept.listing))
    }

    /// The list: as it is kept, or from the server.
    pub(crate) async fn get(
        &self,
        live: &Live,
        what: &List,
        freshness: Freshness,
    ) -> Result<Arc<Listing<T>>, CallError> {
        if freshness == Freshness::Kept
            && let Some(listing) = self.fresh()
        {
            return Ok(listing);
        }
        let _fetching = self.fetching.lock().await;
        // Somebody may have fetched it while we waited for our turn.
        if freshness == Freshness::Kept
            && let Some(listing) = self.fresh()
        {
            return Ok(listing);
        }
        let epoch = self.epoch.load(Ordering::Acquire);
        let within = live.limits.list;
        let fetched = tokio::time::timeout(within, fetch(live, what)).await;
        let (listing, ttl) = fetched.map_err(|_| CallError::TimedOut {
            phase: Phase::List,
            after: within,
            hint: live.link.hint(),
        })??;
        let listing = Arc::new(listing);
        *self.last.lock() = Some(Arc::clone(&listing));
        let keep = match (ttl, live.holding(what)) {
            (Some(ttl), _) => Some(Some(Instant::now() + ttl)),
            (None, Holding::UntilTold) => Some(None),
            (None, Holding::Never) => None,
        };
        if let Some(until) = keep
            && self.epoch.load(Ordering::Acquire) == epoch
        {
            *self.kept.lock() = Some(Kept { listing: Arc::clone(&listing), until });
        }
        Ok(listing)
    }
}

/// One of the four lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
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

pub(crate) const TOOLS: List = List { method: "tools/list", field: "tools", kind: ListKind::Tools };
pub(crate) const PROMPTS: List = List { method: "prompts/list", field: "prompts", kind: ListKind::Prompts };
pub(crate) const RESOURCES: List =
    List { method: "resources/list", field: "resources", kind: ListKind::Resources };
pub(crate) const TEMPLATES: List =
    List { method: "resources/templates/list", field: "resourceTemplates", kind: ListKind::Resources };

/// Fetches all pages; starts over once when a cursor is no longer good.
async fn fetch<T: Entry>(live: &Live, what: &List) -> Result<(Listing<T>, Option<Duration>), CallError> {
    match pages(live, what).await {
        Err(Stumble::StaleCursor) => match pages(live, what).await {
            Ok(done) => Ok(done),
            Err(Stumble::StaleCursor) => Err(CallError::Remote(
                switchboard_protocol::RpcError::invalid_params("the server refuses its own cursors"),
            )),
            Err(Stumble::Failed(error)) => Err(error),
        },
        Ok(done) => Ok(done),
        Err(Stumble::Failed(error)) => Err(error),
    }
}

enum Stumble {
    StaleCursor,
    Failed(CallError),
}

async fn pages<T: Entry>(live: &Live, what: &List) -> Result<(Listing<T>, Option<Duration>), Stumble> {
    let limits: &Limits = &live.limits;
    let mut listing = Listing::empty();
    let mut names = HashSet::new();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut ttl: Option<Duration> = None;
    for page in 0.. {
        let raw = one_page(live, what, cursor.as_deref()).await?;
        let found = decode_entries::<T>(&raw, what.field)
            .map_err(|error| Stumble::Failed(CallError::protocol(what.method, error)))?;
        // The list is good for as long as its shortest-lived page.
        let page_ttl = cache::ttl(found.hints, limits);
        ttl = if page == 0 { page_ttl } else { ttl.zip(page_ttl).map(|(a, b)| a.min(b)) };
        listing.rejected.extend(found.rejected);
        for (index, entry) in found.items.into_iter().enumerate() {
            if let Err(reason) = entry.vet(&*live.link) {
                tracing::warn!(name = entry.key(), reason, "an entry cannot be used over this connection");
                listing.rejected.push(Rejected::new(index, entry.key(), reason));
                continue;
            }
            if names.len() == limits.entries {
                listing.cut = Some(Cut::Entries(limits.entries));
                return Ok((listing, ttl));
            }
            if names.insert(entry.key().to_owned()) {
                listing.entries.push(entry);
            } else {
                listing.duplicates.push(entry.key().to_owned());
            }
        }
        let Some(next) = found.next_cursor else { return Ok((listing, ttl)) };
        if !cursors.insert(next.clone()) {
            listing.cut = Some(Cut::RepeatedCursor { cursor: next });
            return Ok((listing, ttl));
        }
        if page + 1 == limits.pages {
            listing.cut = Some(Cut::Pages(limits.pages));
            return Ok((listing, ttl));
        }
        cursor = Some(next);
    }
    Ok((listing, ttl))
}

async fn one_page(live: &Live, what: &List, cursor: Option<&str>) -> Result<Raw, Stumble> {
    let params = match cursor {
        Some(cursor) => serde_json::json!({ "cursor": cursor }).to_string(),
        None => "{}".to_owned(),
    };
    let call = Call::new(what.method, &params).within(live.limits.page);
    match live.call(call).await {
        Ok(raw) => Ok(raw),
        Err(CallError::Remote(error)) if cursor.is_some() && error.code == ErrorCode::INVALID_PARAMS => {
            Err(Stumble::StaleCursor)
        }
        Err(error) => Err(Stumble::Failed(error)),
    }
}
