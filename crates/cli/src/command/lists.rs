//! Whole lists: as the server wrote them, for programs; and what was wrong with them, for people.

use std::collections::HashSet;
use std::time::Duration;

use switchboard::protocol::OrderedMap;
use switchboard::session::client::ListEntry;
use switchboard::{CallError, ErrorCode, List, Raw, TimeoutKind};

use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::merge;
use crate::sanitize::one_line;

/// The bounds of a session's own lists.
const PAGES: usize = 64;
const ENTRIES: usize = 10_000;
const TIME: Duration = Duration::from_secs(60);

/// All pages of a list as one object in the specification's shape.
///
/// # Errors
/// When the server or the connection fails.
pub(crate) async fn raw(
    connected: &Connected,
    method: &str,
    field: &str,
) -> Result<OrderedMap<Raw>, Failure> {
    match tokio::time::timeout(TIME, pages(connected, method, field)).await {
        Ok(pages) => Ok(merge(pages?, field)),
        Err(_) => Err(CallError::TimedOut { kind: TimeoutKind::List, after: TIME, hint: None }.into()),
    }
}

/// As [`raw`]; nothing where the server does not know the method.
///
/// # Errors
/// When the server or the connection fails otherwise.
pub(crate) async fn raw_optional(
    connected: &Connected,
    method: &str,
    field: &str,
) -> Result<Option<OrderedMap<Raw>>, Failure> {
    match tokio::time::timeout(TIME, pages(connected, method, field)).await {
        Ok(pages) => Ok(optional(pages)?.map(|pages| merge(pages, field))),
        Err(_) => Err(CallError::TimedOut { kind: TimeoutKind::List, after: TIME, hint: None }.into()),
    }
}

/// A list that a server need not have: nothing where it does not know the method.
///
/// # Errors
/// Any other failure.
pub(crate) fn optional<T>(listed: Result<T, CallError>) -> Result<Option<T>, Failure> {
    match listed {
        Ok(listed) => Ok(Some(listed)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a server says that it has no such list.
pub(crate) fn is_missing(error: &CallError) -> bool {
    match error {
        CallError::Unsupported { .. } => true,
        CallError::Remote(error) => error.code == ErrorCode::METHOD_NOT_FOUND,
        _ => false,
    }
}

async fn pages(connected: &Connected, method: &str, field: &str) -> Result<Vec<OrderedMap<Raw>>, CallError> {
    let (mut pages, mut cursors, mut entries) = (Vec::new(), HashSet::new(), 0);
    let mut params = Raw::empty_object();
    loop {
        let answer = connected.session.request_raw(method, params).await?;
        let wrong = |error| CallError::Protocol { method: method.to_owned(), error };
        let page: OrderedMap<Raw> = answer.decode().map_err(wrong)?;
        let listed = switchboard::protocol::decode_entries::<Raw>(&answer, field).map_err(wrong)?;
        entries += listed.items.len();
        pages.push(page);
        let Some(cursor) = listed.next_cursor else { return Ok(pages) };
        if !cursors.insert(cursor.clone()) || pages.len() == PAGES || entries >= ENTRIES {
            connected.screen.warn("the list has no end; it was cut short");
            return Ok(pages);
        }
        params = Raw::from(switchboard::json!({ "cursor": cursor }));
    }
}

/// The entries of a list, after a warning about each that was left out.
pub(crate) fn entries<'a, T: ListEntry>(connected: &Connected, listing: &'a List<T>) -> &'a [T] {
    tell_faults(connected, listing);
    listing
}

/// Says what of a list is missing, and why.
pub(crate) fn tell_faults<T: ListEntry>(connected: &Connected, listing: &List<T>) {
    for rejected in &listing.rejected {
        let name =
            rejected.name.as_deref().map_or_else(|| format!("number {}", rejected.index + 1), one_line);
        let why = one_line(&rejected.error.to_string());
        connected.screen.warn(&format!("{name} is not valid and left out: {why}"));
    }
    for name in &listing.duplicates {
        connected.screen.warn(&format!("{} is listed more than once; the first is used", one_line(name)));
    }
    if let Some(cut) = &listing.cut {
        connected.screen.warn(&format!("the list was cut short: {}", one_line(&cut.to_string())));
    }
}
