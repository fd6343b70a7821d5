//! Lists that come in pages, and lists of which some entries are bad.
//!
//! Keeps the good entries: one tool with a broken schema must not hide the others.
//! Duplicates are left to the caller, who knows what to prefer.

use crate::cache::CacheHints;
use crate::meta::Meta;
use crate::raw::{DecodeError, MAX_NODES, Raw};
use crate::setter::setters;
use crate::wire::{Fit, FromRaw, May, Mismatch, Reader, Slot as _, Whole, wire};

/// The parameters of a request for one page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageParams {
    /// Where the page starts: the `nextCursor` of the page before. The empty string is a cursor like any other.
    pub cursor: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(PageParams: may cursor "cursor"; may meta "_meta";);

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
pub fn decode_entries<T: FromRaw>(result: &Raw, field: &str) -> Result<Page<T>, DecodeError> {
    read_entries(result, field, MAX_NODES)
}

/// As [`decode_entries`], for at most so many entries. What the entries keep as JSON are slices of the result.
///
/// # Errors
/// As [`decode_entries`].
pub fn read_entries<T: FromRaw>(result: &Raw, field: &str, most: usize) -> Result<Page<T>, DecodeError> {
    let text = result.as_str();
    let mut list = None;
    let (mut cursor, mut ttl_ms, mut cache_scope) = (May(None), Whole(None), Fit(None));
    let walked = Reader::new(result).each_member("an object", |reader, name| match name.as_bytes() {
        name if name == field.as_bytes() => {
            list = Some(entries(reader, text, field, most)?);
            Ok(())
        }
        b"nextCursor" => cursor.fill(reader),
        b"ttlMs" => ttl_ms.fill(reader),
        b"cacheScope" => cache_scope.fill(reader),
        _ => {
            reader.pass();
            Ok(())
        }
    });
    walked.map_err(|mismatch| mismatch.explain(text, 0))?;
    let mut page: Page<T> = list.ok_or_else(|| DecodeError::mismatch(field, "the list is missing"))?;
    page.next_cursor = cursor.0;
    (page.hints.ttl_ms, page.hints.cache_scope) = (ttl_ms.0, cache_scope.0);
    Ok(page)
}

/// The list alone, at which the reader is.
fn entries<T: FromRaw>(
    reader: &mut Reader<'_>,
    text: &str,
    field: &str,
    most: usize,
) -> Result<Page<T>, Mismatch> {
    if reader.first() != b'[' {
        let found = if reader.first() == b'n' { "null" } else { "something else" };
        return Err(Mismatch::new(reader.at(), format!("expected an array, found {found}")));
    }
    let mut page = Page {
        items: Vec::new(),
        rejected: Vec::new(),
        next_cursor: None,
        hints: CacheHints::default(),
        is_cut: false,
    };
    reader.each_element(|entry| {
        let index = page.items.len() + page.rejected.len();
        if index >= most {
            page.is_cut = true;
            entry.pass();
            return Ok(());
        }
        let mut again = entry.clone();
        match T::read(entry) {
            Ok(item) => page.items.push(item),
            Err(mismatch) => {
                let error = mismatch.explain(text, again.at());
                page.rejected.push(reject(field, index, &again, &error));
                again.pass();
                *entry = again;
            }
        }
        Ok(())
    })?;
    Ok(page)
}

fn reject(field: &str, index: usize, entry: &Reader<'_>, error: &DecodeError) -> Rejected {
    let path = match error.path() {
        "." => format!("{field}[{index}]"),
        inner => format!("{field}[{index}].{inner}"),
    };
    let name = entry.look_for("name").ok().flatten().map(Into::into);
    Rejected { index, name, error: DecodeError::mismatch(path, error.kind().to_string()) }
}
