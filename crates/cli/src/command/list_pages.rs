//! Fetches complete lists as the server wrote them, and prints warnings about invalid entries.

use std::collections::HashSet;
use std::time::Duration;

use switchboard::CallError;
use switchboard::client::{List, ListEntry, TimeoutKind};
use switchboard::protocol::{ErrorCode, OrderedMap, Raw};

use crate::connect::CommandSession;
use crate::error::CommandError;
use crate::output::merge_pages;
use crate::sanitize::one_line;

/// The limits of the session's own lists.
const MAX_PAGES: usize = 64;
const MAX_ENTRIES: usize = 10_000;
const TIMEOUT: Duration = Duration::from_secs(60);

/// Fetches all pages of a list, merged into one result of the protocol.
///
/// # Errors
/// Returns an error if the request fails.
pub(crate) async fn fetch_all(
    connection: &CommandSession,
    method: &str,
    field: &str,
) -> Result<OrderedMap<Raw>, CallError> {
    match tokio::time::timeout(TIMEOUT, fetch_pages(connection, method, field)).await {
        Ok(pages) => Ok(merge_pages(pages?, field)),
        Err(_) => Err(CallError::TimedOut { kind: TimeoutKind::List, after: TIMEOUT, hint: None }),
    }
}

/// Returns `None` for an error that says the server does not support the method.
///
/// # Errors
/// Returns any other error.
pub(crate) fn optional<T>(listed: Result<T, CallError>) -> Result<Option<T>, CommandError> {
    match listed {
        Ok(listed) => Ok(Some(listed)),
        Err(error) if is_unsupported(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether an error says that the server does not support the method.
pub(crate) fn is_unsupported(error: &CallError) -> bool {
    match error {
        CallError::Unsupported { .. } => true,
        CallError::Remote(error) => error.code == ErrorCode::METHOD_NOT_FOUND,
        _ => false,
    }
}

async fn fetch_pages(
    connection: &CommandSession,
    method: &str,
    field: &str,
) -> Result<Vec<OrderedMap<Raw>>, CallError> {
    let (mut pages, mut cursors, mut entries) = (Vec::new(), HashSet::new(), 0);
    let mut params = Raw::empty_object();
    loop {
        let answer = connection.session.request_raw(method, params).await?;
        let protocol_error = |error| CallError::Protocol { method: method.to_owned(), error };
        let page: OrderedMap<Raw> = answer.decode().map_err(protocol_error)?;
        let listed = switchboard::protocol::decode_entries::<Raw>(&answer, field).map_err(protocol_error)?;
        entries += listed.items.len();
        pages.push(page);
        let Some(cursor) = listed.next_cursor else { return Ok(pages) };
        if !cursors.insert(cursor.clone()) || pages.len() == MAX_PAGES || entries >= MAX_ENTRIES {
            connection.screen.warn("the list does not end; it was truncated");
            return Ok(pages);
        }
        params = Raw::from(switchboard::json!({ "cursor": cursor }));
    }
}

/// Returns the entries of a list, after warnings about rejected ones.
pub(crate) fn entries<'a, T: ListEntry>(connection: &CommandSession, list: &'a List<T>) -> &'a [T] {
    warn_rejected(connection, list);
    list
}

/// Prints warnings about rejected and duplicate entries and a truncated list.
pub(crate) fn warn_rejected<T: ListEntry>(connection: &CommandSession, list: &List<T>) {
    for rejected in &list.rejected {
        let name =
            rejected.name.as_deref().map_or_else(|| format!("number {}", rejected.index + 1), one_line);
        let why = one_line(&rejected.error.to_string());
        connection.screen.warn(&format!("{name} is not valid and ignored: {why}"));
    }
    for name in &list.duplicates {
        connection.screen.warn(&format!("{} is listed more than once; the first is used", one_line(name)));
    }
    if let Some(cut) = &list.cut {
        connection.screen.warn(&format!("the list was truncated: {}", one_line(&cut.to_string())));
    }
}
