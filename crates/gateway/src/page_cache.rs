//! The pages of one list that all clients see alike, encoded once.
//!
//! Invariant: only pages that a walk from the first one meets are kept, so that invented cursors do not fill the memory.

use std::collections::HashMap;

use parking_lot::Mutex;
use switchboard_protocol::{RpcError, ServerResult};
use switchboard_session::server::CachedResult;

/// The pages of one list of one catalog.
pub(crate) struct PageCache {
    /// By cursor, which is empty for the first page; `None` if the page before names it and nobody has asked for it yet.
    // Held for a lookup or an insert, never while a page is built.
    pages: Mutex<HashMap<String, Option<CachedResult>>>,
}

impl Default for PageCache {
    fn default() -> Self {
        Self { pages: Mutex::new(HashMap::from([(String::new(), None)])) }
    }
}

impl PageCache {
    /// Returns the page at a cursor, and builds it if it is not kept.
    ///
    /// # Errors
    /// As `build`.
    pub(crate) fn get_or_build(
        &self,
        cursor: Option<&str>,
        build: impl FnOnce() -> Result<CachedResult, RpcError>,
    ) -> Result<CachedResult, RpcError> {
        let key = match cursor {
            None => "",
            // Not the first page: this cursor is not valid.
            Some("") => return build(),
            Some(cursor) => cursor,
        };
        if let Some(Some(page)) = self.pages.lock().get(key) {
            return Ok(page.clone());
        }
        let page = build()?;
        let mut pages = self.pages.lock();
        if let Some(kept) = pages.get_mut(key) {
            *kept = Some(page.clone());
            if let Some(next) = next_cursor(page.result()) {
                pages.entry(next.to_owned()).or_default();
            }
        }
        Ok(page)
    }
}

fn next_cursor(result: &ServerResult) -> Option<&str> {
    match result {
        ServerResult::ListTools(list) => list.next_cursor.as_deref(),
        ServerResult::ListPrompts(list) => list.next_cursor.as_deref(),
        ServerResult::ListResources(list) => list.next_cursor.as_deref(),
        ServerResult::ListResourceTemplates(list) => list.next_cursor.as_deref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use switchboard_protocol::ListToolsResult;

    use super::*;

    #[test]
    fn only_pages_of_a_walk_are_kept() {
        let (cache, built) = (PageCache::default(), Cell::new(0));
        let ask = |cursor: Option<&str>, next: Option<&str>| {
            let build = || {
                built.set(built.get() + 1);
                let mut list = ListToolsResult::new(Vec::new());
                list.next_cursor = next.map(str::to_owned);
                Ok(CachedResult::new(list))
            };
            let page = cache.get_or_build(cursor, build).unwrap();
            next_cursor(page.result()).map(str::to_owned)
        };
        // Nobody has been given this cursor.
        for count in 1..=2 {
            ask(Some("b"), None);
            assert_eq!(built.get(), count);
        }
        for _ in 0..2 {
            assert_eq!(ask(None, Some("b")).as_deref(), Some("b"));
            assert_eq!(ask(Some("b"), None), None);
        }
        assert_eq!(built.get(), 4);
        // The empty cursor is not that of the first page.
        assert_eq!(ask(Some(""), None), None);
        assert_eq!(built.get(), 5);
        assert_eq!(cache.pages.lock().len(), 2);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache = PageCache::default();
        assert!(cache.get_or_build(None, || Err(RpcError::internal("busy"))).is_err());
        assert!(cache.get_or_build(None, || Ok(CachedResult::new(ListToolsResult::new(Vec::new())))).is_ok());
    }
}
