//! Lists that come in pages, and lists of which some entries are bad.
//!
//! Keeps the good entries: one tool with a broken schema must not hide the others.
//! Duplicates are left to the caller, who knows what to prefer.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cache::CacheHints;
use crate::map::OrderedMap;
use crate::meta::Meta;
use crate::raw::{DecodeError, MAX_NODES, Raw};
use crate::setter::setters;

/// The parameters of a request for one page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageParams {
    /// Where the page starts: the `nextCursor` of the page before. The empty string is a cursor like any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl PageParams {
    /// The first page.
    pub const fn new() -> Self {
        Self { cursor: None, meta: None }
    }
}

setters!(PageParams: some with_cursor cursor String; some with_meta meta Meta;);

/// One page of a list, good entries apart from bad ones.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The entries that could be read, in order.
    pub items: Vec<T>,
    /// The entries that could not.
    pub rejected: Vec<Rejected>,
    /// Where the next page starts; `None` at the end.
    pub next_cursor: Option<String>,
    /// How long this page stays fresh.
    pub hints: CacheHints,
    /// Whether there are more entries than were wanted.
    pub is_cut: bool,
}

/// An entry of a list that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// Its place in the list.
    pub index: usize,
    /// Its name, when that much could be read.
    pub name: Option<String>,
    /// What is wrong with it; the path starts at the result.
    pub error: DecodeError,
}

impl Rejected {
    /// An entry that is left out for a reason of our own.
    pub fn new(index: usize, name: impl Into<String>, reason: impl Into<String>) -> Self {
        let name = name.into();
        let error = DecodeError::mismatch(name.as_str(), reason);
        Self { index, name: Some(name), error }
    }
}

/// Reads the list under `field` of a result, entry by entry.
///
/// # Errors
/// When the result is no object, or `field` is missing, `null` or no array. A bad entry is no error.
pub fn decode_entries<T: DeserializeOwned>(result: &Raw, field: &str) -> Result<Page<T>, DecodeError> {
    read_entries(result, field, MAX_NODES, Raw::decode)
}

/// As [`decode_entries`], with a way to read an entry, for at most so many entries. The entries are slices of the result.
///
/// # Errors
/// As [`decode_entries`].
pub fn read_entries<T>(
    result: &Raw,
    field: &str,
    most: usize,
    read: impl Fn(&Raw) -> Result<T, DecodeError>,
) -> Result<Page<T>, DecodeError> {
    if !result.is_object() {
        return Err(DecodeError::mismatch(".", "expected an object"));
    }
    let (mut list, mut cursor, mut hints) = (None, None, OrderedMap::new());
    for (name, value) in result.fields() {
        match name.as_str() {
            name if name == field => list = Some(value),
            "nextCursor" => cursor = Some(value),
            name @ ("ttlMs" | "cacheScope") => _ = hints.insert(name, value),
            _ => {}
        }
    }
    let list = list.ok_or_else(|| DecodeError::mismatch(field, "the list is missing"))?;
    if !list.is_array() {
        let found = if list.is_null() { "null" } else { "something else" };
        return Err(DecodeError::mismatch(field, format!("expected an array, found {found}")));
    }
    let hints = Raw::encode(&hints).ok().and_then(|hints| hints.decode().ok()).unwrap_or_default();
    let next_cursor = decode_cursor(cursor.as_ref())?;
    let mut page = Page { items: Vec::new(), rejected: Vec::new(), next_cursor, hints, is_cut: false };
    for (index, entry) in list.elements().enumerate() {
        if index == most {
            page.is_cut = true;
            break;
        }
        match read(&entry) {
            Ok(item) => page.items.push(item),
            Err(error) => page.rejected.push(reject(field, index, &entry, &error)),
        }
    }
    Ok(page)
}

fn decode_cursor(written: Option<&Raw>) -> Result<Option<String>, DecodeError> {
    let Some(written) = written else { return Ok(None) };
    written
        .decode()
        .map_err(|error: DecodeError| DecodeError::mismatch("nextCursor", error.kind().to_string()))
}

fn reject(field: &str, index: usize, entry: &Raw, error: &DecodeError) -> Rejected {
    let path = match error.path() {
        "." => format!("{field}[{index}]"),
        inner => format!("{field}[{index}].{inner}"),
    };
    let name = entry.fields().find(|(name, _)| *name == "name").and_then(|(_, name)| name.decode().ok());
    Rejected { index, name, error: DecodeError::mismatch(path, error.kind().to_string()) }
}
