//! Lists that come in pages, and lists of which some entries are bad.
//!
//! Keeps the good entries: one tool with a broken schema must not hide the others.
//! Duplicates are left to the caller, who knows what to prefer.

use switchboard_json::{DecodeError, FromRaw, MAX_NODES, Mismatch, Raw, Reader};

use crate::setter::setters;
use crate::types::cache::CacheHints;
use crate::types::meta::Meta;
use crate::wire::{LenientSlot, MemberSlot as _, OptionalSlot, WholeNumberSlot, wire};

/// The parameters of a request for one page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageParams {
    /// Where the page starts: the `nextCursor` of the page before. The empty string is a cursor like any other.
    pub cursor: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(PageParams: optional cursor "cursor"; optional meta "_meta";);

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
/// When the result is no object, or `field` is missing, `null`, no array, or stands twice. A bad entry is no error.
pub fn decode_entries<T: FromRaw>(result: &Raw, field: &str) -> Result<Page<T>, DecodeError> {
    read_entries(result, field, MAX_NODES)
}

/// As [`decode_entries`], for at most so many entries. What the entries keep as JSON are slices of the result.
///
/// # Errors
/// As [`decode_entries`].
pub fn read_entries<T: FromRaw>(result: &Raw, field: &str, limit: usize) -> Result<Page<T>, DecodeError> {
    let mut items = Vec::new();
    let page = walk_entries(result, field, limit, &mut |entry| {
        items.push(T::read(entry)?);
        Ok(())
    })?;
    let Page { rejected, next_cursor, hints, is_cut, .. } = page;
    Ok(Page { items, rejected, next_cursor, hints, is_cut })
}

/// As [`read_entries`], for who reads and keeps the entries themselves. Not generic, and so there once.
///
/// # Errors
/// As [`decode_entries`].
pub fn walk_entries(
    result: &Raw,
    field: &str,
    limit: usize,
    read: &mut dyn FnMut(&mut Reader<'_>) -> Result<(), Mismatch>,
) -> Result<Page<()>, DecodeError> {
    let text = result.as_str();
    let mut page = Page {
        items: Vec::new(),
        rejected: Vec::new(),
        next_cursor: None,
        hints: CacheHints::default(),
        is_cut: false,
    };
    let mut has_list = false;
    let (mut cursor, mut ttl_ms, mut cache_scope) =
        (OptionalSlot(None), WholeNumberSlot(None), LenientSlot(None));
    let outcome =
        Reader::new(result).for_each_member("an object", &mut |reader, name| match name.as_bytes() {
            name if name == field.as_bytes() => {
                if std::mem::replace(&mut has_list, true) {
                    return Err(Mismatch::new(reader.offset(), "duplicate member"));
                }
                let mut list = ListReader { text, field, limit, page: &mut page };
                list.read(reader, read)
            }
            b"nextCursor" => cursor.fill(reader),
            b"ttlMs" => ttl_ms.fill(reader),
            b"cacheScope" => cache_scope.fill(reader),
            _ => {
                reader.skip();
                Ok(())
            }
        });
    outcome.map_err(|mismatch| mismatch.into_decode_error(text, 0))?;
    if !has_list {
        return Err(DecodeError::mismatch(field, "the list is missing"));
    }
    page.next_cursor = cursor.0;
    (page.hints.ttl_ms, page.hints.cache_scope) = (ttl_ms.0, cache_scope.0);
    Ok(page)
}

/// The list alone.
struct ListReader<'a> {
    text: &'a str,
    field: &'a str,
    limit: usize,
    page: &'a mut Page<()>,
}

impl ListReader<'_> {
    fn read(
        &mut self,
        reader: &mut Reader<'_>,
        read: &mut dyn FnMut(&mut Reader<'_>) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        if reader.first_byte() != b'[' {
            let found = if reader.first_byte() == b'n' { "null" } else { "something else" };
            return Err(Mismatch::new(reader.offset(), format!("expected an array, found {found}")));
        }
        reader.for_each_element(&mut |entry| {
            let index = self.page.items.len() + self.page.rejected.len();
            if index >= self.limit {
                self.page.is_cut = true;
                entry.reset_node_budget();
                entry.skip();
                return Ok(());
            }
            let mut again = entry.clone();
            entry.reset_node_budget();
            match read(entry) {
                Ok(()) => self.page.items.push(()),
                Err(mismatch) => {
                    let error = mismatch.into_decode_error(self.text, again.offset());
                    self.page.rejected.push(rejected_entry(self.field, index, &again, &error));
                    again.skip();
                    *entry = again;
                }
            }
            Ok(())
        })
    }
}

fn rejected_entry(field: &str, index: usize, entry: &Reader<'_>, error: &DecodeError) -> Rejected {
    let path = match error.path() {
        "." => format!("{field}[{index}]"),
        inner => format!("{field}[{index}].{inner}"),
    };
    let name = entry.peek_string_member("name").ok().flatten().map(Into::into);
    Rejected { index, name, error: DecodeError::mismatch(path, error.kind().to_string()) }
}
