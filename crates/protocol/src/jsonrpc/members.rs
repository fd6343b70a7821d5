//! Scans a frame in one pass: validates it and records the spans of the members of a message.
//!
//! Types are decoded later, from these spans. Allocates only the list of a batch, and never recurses.

use std::ops::Range;

use switchboard_json::{Cursor, MemberKey, SyntaxError, SyntaxErrorKind};

use crate::jsonrpc::message_error::{MessageError, MessageErrorKind};
use crate::jsonrpc::meta_cache::MetaCache;
use crate::jsonrpc::outline::Outline;

/// The member whose value a peer repeats in every message; see [`MetaCache`].
const META: &[u8] = b"_meta";

/// The maximum number of messages in one batch: handling a message costs far more than its bytes.
pub const MAX_BATCH: usize = 1024;

/// The spans of the members of a JSON-RPC message. Other members are validated and skipped.
#[derive(Debug, Default, Clone)]
pub(crate) struct MessageMembers {
    pub(crate) jsonrpc: Option<Range<usize>>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) method: Option<Range<usize>>,
    pub(crate) params: Option<Range<usize>>,
    pub(crate) result: Option<Range<usize>>,
    pub(crate) error: Option<Range<usize>>,
    /// The outline of `params`, if it is an object.
    pub(crate) outline: Outline,
    /// The span of `_meta` in `result`, relative to the start of the result.
    pub(crate) meta: Option<Range<usize>>,
}

impl MessageMembers {
    /// Returns the place for the span of a JSON-RPC member.
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

    /// Records the members of the message at the cursor, which is inside `depth` containers, and moves behind it.
    fn scan(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        meta_cache: &mut MetaCache,
    ) -> Result<(), MessageError> {
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
                return Err(MessageError::new(MessageErrorKind::Duplicate(name), cursor.position()));
            }
            more = cursor.next_member()?;
        }
        Ok(())
    }
}

/// The outermost value of a frame.
#[derive(Debug)]
pub(crate) enum FrameShape {
    /// One message; its members have been recorded.
    Object,
    /// A batch, with the spans of its elements.
    Array(Vec<Range<usize>>),
}

/// Validates a frame and records the members of its message, or the spans of the elements of a batch.
pub(crate) fn scan_frame(
    bytes: &[u8],
    depth: usize,
    members: &mut MessageMembers,
    meta_cache: &mut MetaCache,
) -> Result<FrameShape, MessageError> {
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

/// The span of a member name.
enum MemberName {
    /// The name is `_meta`.
    Meta(Range<usize>),
    /// Any other name without escapes.
    Plain(Range<usize>),
    /// The name contains escapes, so its span is not the name.
    Escaped,
}

/// Skips an object like [`Cursor::skip_value`] and reports the spans of its members, relative to the start of the
/// object.
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
            MemberKey::Plain(META) => {
                skip_meta(cursor, depth + 1, meta_cache)?;
                MemberName::Meta(name_start..name_start + META.len())
            }
            MemberKey::Plain(name) => {
                cursor.skip_value(depth + 1)?;
                MemberName::Plain(name_start..name_start + name.len())
            }
            MemberKey::Unescaped(_) => {
                cursor.skip_value(depth + 1)?;
                MemberName::Escaped
            }
        };
        report(name, value_start - start..cursor.position() - start);
        more = cursor.next_member()?;
    }
    Ok(start..cursor.position())
}

/// Skips the value of `_meta`, without validation if it equals the cached one.
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

/// Validates the elements of a batch and returns their spans.
fn scan_batch(cursor: &mut Cursor<'_>, depth: usize) -> Result<Vec<Range<usize>>, MessageError> {
    let mut elements = Vec::new();
    let mut more = cursor.enter_array()?;
    while more {
        let span = cursor.skip_value(depth + 1)?;
        if elements.len() == MAX_BATCH {
            return Err(MessageError::new(MessageErrorKind::BatchTooLong, cursor.position()));
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
