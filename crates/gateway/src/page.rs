//! Pages of a list that is sorted by key, with cursors that survive changes of the list.
//!
//! Invariant: a cursor names the key after which the next page begins, not a position. An item that is in the list from the
//! first page to the last is returned exactly once, whatever is added or removed meanwhile.

use std::collections::BTreeMap;
use std::ops::Bound;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use switchboard_protocol::RpcError;

/// The longest cursor, in bytes. Longer ones are not ours.
const MAX_CURSOR: usize = 16 * 1024;
/// Begins every cursor; another format begins with another byte.
const FORMAT: u8 = 1;

/// One page of a list.
pub(crate) struct ListPage<'a, T> {
    /// The items, by key.
    pub(crate) items: Vec<(&'a String, &'a T)>,
    /// The cursor of the next page, if there is one.
    pub(crate) next: Option<String>,
}

/// Returns the page of the shown items after a cursor.
///
/// # Errors
/// When the cursor is not one of ours.
pub(crate) fn page<'a, T>(
    items: &'a BTreeMap<String, T>,
    cursor: Option<&str>,
    size: usize,
    shows: impl Fn(&str, &T) -> bool,
) -> Result<ListPage<'a, T>, RpcError> {
    let after = cursor.map(decode).transpose()?;
    let start = after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut rest = items.range::<str, _>((start, Bound::Unbounded)).filter(|(key, item)| shows(key, item));
    let items: Vec<_> = rest.by_ref().take(size).collect();
    let next = rest.next().and(items.last()).map(|(key, _)| encode(key));
    Ok(ListPage { items, next })
}

fn encode(key: &str) -> String {
    let mut bytes = vec![FORMAT];
    bytes.extend_from_slice(key.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(cursor: &str) -> Result<String, RpcError> {
    let invalid = || RpcError::invalid_params("Invalid cursor: list again from the first page");
    if cursor.len() > MAX_CURSOR {
        return Err(invalid());
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    match bytes.split_first() {
        Some((&FORMAT, key)) => String::from_utf8(key.to_vec()).map_err(|_| invalid()),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(keys: &[&str]) -> BTreeMap<String, ()> {
        keys.iter().map(|key| ((*key).to_owned(), ())).collect()
    }

    #[test]
    fn no_item_is_lost_or_repeated_at_a_page_edge() {
        let (first, cursor) = page(&list(&["a", "b", "c", "d"]), None, 2, |_, ()| true).map(keys).unwrap();
        assert_eq!(first, ["a", "b"]);
        // The last item of the first page is removed, one before it is added, one after it is added.
        let changed = list(&["a", "aa", "bb", "c", "d"]);
        let (second, cursor) = page(&changed, cursor.as_deref(), 2, |_, ()| true).map(keys).unwrap();
        assert_eq!(second, ["bb", "c"]);
        let (third, cursor) = page(&changed, cursor.as_deref(), 2, |_, ()| true).map(keys).unwrap();
        assert_eq!((third, cursor), (vec!["d".to_owned()], None));
        // Exactly one full page has no next one.
        assert_eq!(page(&list(&["a", "b"]), None, 2, |_, ()| true).unwrap().next, None);
        assert_eq!(page(&list(&[]), None, 2, |_, ()| true).unwrap().next, None);
    }

    fn keys(page: ListPage<'_, ()>) -> (Vec<String>, Option<String>) {
        (page.items.into_iter().map(|(key, ())| key.clone()).collect(), page.next)
    }

    #[test]
    fn a_foreign_cursor_is_rejected() {
        for cursor in ["", "x", "AA", "////", &"A".repeat(MAX_CURSOR + 1)] {
            assert!(page(&list(&["a"]), Some(cursor), 1, |_, ()| true).is_err(), "{cursor:.8}");
        }
    }
}
