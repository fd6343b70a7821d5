//! Pages of lists, decoded entry by entry.
//!
//! Valid entries survive invalid ones: a tool with a broken schema must not hide the others.
//! Duplicates are left to the caller.

use switchboard_json::{DecodeError, FromRaw, MAX_NODES, Mismatch, Raw, RawReader};

use crate::types::cache::CacheHints;
use crate::types::meta::Meta;
use crate::wire::{LenientSlot, MemberSlot as _, OptionalSlot, WholeNumberSlot, wire};

/// The parameters of a request for one page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageParams {
    /// The cursor of the page: the `nextCursor` of the previous one. The empty string is a valid cursor.
    pub cursor: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(PageParams:
    optional cursor "cursor", with_cursor(String);
    optional meta "_meta", with_meta(Meta);
);

impl PageParams {
    /// Creates the parameters for the first page.
    pub const fn new() -> Self {
        Self { cursor: None, meta: None }
    }
}

/// One page of a list, with valid and rejected entries.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The valid entries, in order.
    pub items: Vec<T>,
    /// The entries that could not be decoded.
    pub rejected: Vec<Rejected>,
    /// The cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// The caching hints of the page.
    pub hints: CacheHints,
    /// Whether entries beyond the limit were dropped.
    pub is_cut: bool,
}

/// An entry of a list that was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// The index in the list.
    pub index: usize,
    /// The name, if it could be decoded.
    pub name: Option<String>,
    /// The reason; the path is relative to the result.
    pub error: DecodeError,
}

impl Rejected {
    /// Creates the rejection of an entry that could be decoded.
    pub fn new(index: usize, name: impl Into<String>, reason: impl Into<String>) -> Self {
        let name = name.into();
        let error = DecodeError::mismatch(name.as_str(), reason);
        Self { index, name: Some(name), error }
    }
}

/// Decodes the list in the member `field` of a result, entry by entry.
///
/// # Errors
/// When the result is not an object, or `field` is missing, duplicate or not an array. An invalid entry is not an
/// error.
pub fn decode_entries<T: FromRaw>(result: &Raw, field: &str) -> Result<Page<T>, DecodeError> {
    read_entries(result, field, MAX_NODES)
}

/// Decodes at most `limit` entries of a list. Parts of an entry that stay JSON are slices of the result.
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

/// Calls `read` for at most `limit` entries of a list. Not generic, so it is compiled once.
///
/// # Errors
/// As [`decode_entries`].
pub fn walk_entries(
    result: &Raw,
    field: &str,
    limit: usize,
    read: &mut dyn FnMut(&mut RawReader<'_>) -> Result<(), Mismatch>,
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
        RawReader::new(result).for_each_member("an object", &mut |reader, name| match name.as_bytes() {
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

/// Decodes the entries of the list into a page.
struct ListReader<'a> {
    text: &'a str,
    field: &'a str,
    limit: usize,
    page: &'a mut Page<()>,
}

impl ListReader<'_> {
    fn read(
        &mut self,
        reader: &mut RawReader<'_>,
        read: &mut dyn FnMut(&mut RawReader<'_>) -> Result<(), Mismatch>,
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

fn rejected_entry(field: &str, index: usize, entry: &RawReader<'_>, error: &DecodeError) -> Rejected {
    let path = match error.path() {
        "." => format!("{field}[{index}]"),
        inner => format!("{field}[{index}].{inner}"),
    };
    let name = entry.peek_string_member("name").ok().flatten().map(Into::into);
    Rejected { index, name, error: DecodeError::mismatch(path, error.kind().to_string()) }
}
