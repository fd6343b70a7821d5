//! One pass over a frame that checks it and notes where the members of a message are.
//!
//! Types are decoded later, from the spans it found. Allocates nothing but the list of a batch, and never recurses.

use std::ops::Range;

use switchboard_json::{Cursor, Key, SyntaxError, SyntaxErrorKind};

use crate::jsonrpc::fault::{Fault, FaultKind};
use crate::jsonrpc::meta_cache::MetaCache;
use crate::jsonrpc::outline::Outline;

/// The member in which peers say the same again and again.
const META: &[u8] = b"_meta";

/// The most messages in one batch: each costs far more than its bytes.
pub const MAX_BATCH: usize = 1024;

/// Where the members of a message stand. MessageMembers it does not know are checked and passed over.
#[derive(Debug, Default, Clone)]
pub(crate) struct MessageMembers {
    pub(crate) jsonrpc: Option<Range<usize>>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) method: Option<Range<usize>>,
    pub(crate) params: Option<Range<usize>>,
    pub(crate) result: Option<Range<usize>>,
    pub(crate) error: Option<Range<usize>>,
    /// Where the members of `params` stand, when that is an object.
    pub(crate) outline: Outline,
    /// Where `_meta` stands in `result`, counted from where that begins.
    pub(crate) meta: Option<Range<usize>>,
}

impl MessageMembers {
    fn slot_for(&mut self, key: &[u8]) -> Option<(&'static str, &mut Option<Range<usize>>)> {
        Some(match key {
            b"jsonrpc" => ("jsonrpc", &mut self.jsonrpc),
            b"id" => ("id", &mut self.id),
            b"method" => ("method", &mut self.method),
            b"params" => ("params", &mut self.params),
            b"result" => ("result", &mut self.result),
            b"error" => ("error", &mut self.error),
            _ => return None,
        })
    }

    /// Finds the members of the message that begins at the cursor, inside `depth` containers, and passes it.
    fn scan(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        meta_cache: &mut MetaCache,
    ) -> Result<(), Fault> {
        let mut more = cursor.enter_object()?;
        while more {
            let key = cursor.member_name()?;
            let is_object = cursor.rest().first() == Some(&b'{');
            let span = match key.as_bytes() {
                b"params" if is_object => {
                    let outline = &mut self.outline;
                    outline.reset();
                    scan_members(cursor, depth + 1, meta_cache, |name, value| match name {
                        MemberName::Meta(name) => {
                            outline.push(name, value);
                            outline.mark_last_as_meta();
                        }
                        MemberName::Plain(name) => outline.push(name, value),
                        MemberName::Escaped => outline.invalidate(),
                    })?
                }
                b"result" if is_object => {
                    let meta = &mut self.meta;
                    scan_members(cursor, depth + 1, meta_cache, |name, value| {
                        if let MemberName::Meta(_) = name {
                            *meta = Some(value);
                        }
                    })?
                }
                _ => cursor.skip_value(depth + 1)?,
            };
            if let Some((name, slot)) = self.slot_for(key.as_bytes())
                && slot.replace(span).is_some()
            {
                return Err(Fault::new(FaultKind::Duplicate(name), cursor.position()));
            }
            more = cursor.next_member()?;
        }
        Ok(())
    }
}

/// What a frame holds at its top.
#[derive(Debug)]
pub(crate) enum FrameShape {
    /// An object: its members are in what was handed over for them.
    Object,
    /// The elements of a batch.
    Array(Vec<Range<usize>>),
}

/// Finds the members of an object, or the elements of an array, checking everything on the way.
pub(crate) fn scan_frame(
    bytes: &[u8],
    depth: usize,
    members: &mut MessageMembers,
    meta_cache: &mut MetaCache,
) -> Result<FrameShape, Fault> {
    let mut cursor = Cursor::new(bytes);
    let found = match cursor.peek()? {
        b'{' => {
            members.scan(&mut cursor, depth, meta_cache)?;
            FrameShape::Object
        }
        b'[' => FrameShape::Array(scan_batch(&mut cursor, depth)?),
        other => return Err(SyntaxError::new(SyntaxErrorKind::Unexpected(other), cursor.position()).into()),
    };
    cursor.finish()?;
    Ok(found)
}

/// Where the name of a member stands.
enum MemberName {
    /// It is `_meta`.
    Meta(Range<usize>),
    Plain(Range<usize>),
    /// It was written with escapes, and has to be looked at again.
    Escaped,
}

/// As [`Cursor::skip_value`] for an object, and tells where its members stand, counted from where the object begins.
#[inline]
fn scan_members(
    cursor: &mut Cursor<'_>,
    depth: usize,
    meta_cache: &mut MetaCache,
    mut report: impl FnMut(MemberName, Range<usize>),
) -> Result<Range<usize>, SyntaxError> {
    let start = cursor.position();
    let mut more = cursor.enter_object()?;
    while more {
        cursor.peek()?;
        let name_start = cursor.position() + 1 - start;
        let key = cursor.member_name()?;
        let value_start = cursor.position();
        let name = match key {
            Key::Plain(META) => {
                skip_meta(cursor, depth + 1, meta_cache)?;
                MemberName::Meta(name_start..name_start + META.len())
            }
            Key::Plain(name) => {
                cursor.skip_value(depth + 1)?;
                MemberName::Plain(name_start..name_start + name.len())
            }
            Key::Unescaped(_) => {
                cursor.skip_value(depth + 1)?;
                MemberName::Escaped
            }
        };
        report(name, value_start - start..cursor.position() - start);
        more = cursor.next_member()?;
    }
    Ok(start..cursor.position())
}

/// Passes over a `_meta`. What was checked at the same depth before is not checked again.
#[inline]
fn skip_meta(cursor: &mut Cursor<'_>, depth: usize, meta_cache: &mut MetaCache) -> Result<(), SyntaxError> {
    let rest = cursor.rest();
    if let Some(len) = meta_cache.matching_prefix_len(rest, depth) {
        cursor.skip_to(cursor.position() + len);
        return Ok(());
    }
    let span = cursor.skip_value(depth)?;
    meta_cache.store(&rest[..span.len()], depth);
    Ok(())
}

fn scan_batch(cursor: &mut Cursor<'_>, depth: usize) -> Result<Vec<Range<usize>>, Fault> {
    let mut elements = Vec::new();
    let mut more = cursor.enter_array()?;
    while more {
        let span = cursor.skip_value(depth + 1)?;
        if elements.len() == MAX_BATCH {
            return Err(Fault::new(FaultKind::BatchTooLong, cursor.position()));
        }
        elements.push(span);
        more = cursor.next_element()?;
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn never_panics_on_junk(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = scan_frame(&bytes, 0, &mut MessageMembers::default(), &mut MetaCache::new());
        }
    }
}
