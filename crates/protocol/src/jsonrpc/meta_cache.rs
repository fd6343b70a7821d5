//! Cache of the last `_meta` that was validated: a peer sends the same `_meta` in every message except for its progress
//! token, so an equal text need not be scanned again.

/// The size of the largest `_meta` that is cached.
const MAX_CACHED_BYTES: usize = 4 * 1024;

/// The last validated `_meta` text of a connection.
///
/// Invariant: a matching text differs from one that was validated at the same depth at most in the digits of one
/// integer, so it is valid JSON of the same depth.
#[derive(Debug, Default)]
pub struct MetaCache {
    /// The text up to the numeric progress token, or the whole text.
    before: Vec<u8>,
    /// The text after the numeric progress token; `None` if there is no such token.
    after: Option<Vec<u8>>,
    /// The number of containers around the `_meta`.
    depth: usize,
}

impl MetaCache {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the length of the prefix of `bytes` that equals the cached text, whatever the progress token.
    #[inline]
    pub(crate) fn matching_prefix_len(&self, bytes: &[u8], depth: usize) -> Option<usize> {
        if self.before.is_empty() || self.depth != depth {
            return None;
        }
        let rest = bytes.strip_prefix(self.before.as_slice())?;
        let Some(after) = &self.after else { return Some(self.before.len()) };
        let digits = integer_len(rest)?;
        rest[digits..].starts_with(after).then(|| self.before.len() + digits + after.len())
    }

    /// Replaces the cached text by an object that has been validated.
    pub(crate) fn store(&mut self, text: &[u8], depth: usize) {
        self.before.clear();
        self.after = None;
        if text.len() > MAX_CACHED_BYTES || text.first() != Some(&b'{') {
            return;
        }
        self.depth = depth;
        match progress_token_span(text) {
            Some((start, end)) => {
                self.before.extend_from_slice(&text[..start]);
                self.after = Some(text[end..].to_vec());
            }
            None => self.before.extend_from_slice(text),
        }
    }
}

/// Returns the span of the numeric progress token. The name followed by an unescaped quote, a colon and digits is a
/// member at any level, so another number can replace the digits.
fn progress_token_span(text: &[u8]) -> Option<(usize, usize)> {
    const NAME: &[u8] = br#"progressToken":"#;
    let start = memchr::memmem::find(text, NAME)? + NAME.len();
    let end = start + integer_len(&text[start..])?;
    // Excludes a fraction or an exponent.
    matches!(text.get(end), Some(b',' | b'}')).then_some((start, end))
}

/// Returns the length of the non-negative JSON integer at the start.
#[inline]
fn integer_len(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_plain = digits == 1 || digits > 1 && bytes[0] != b'0';
    is_plain.then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = r#"{"progressToken":7,"who":{"name":"a"}}"#;

    fn cached(text: &str) -> MetaCache {
        let mut meta_cache = MetaCache::new();
        meta_cache.store(text.as_bytes(), 2);
        meta_cache
    }

    #[test]
    fn an_equal_text_matches_whatever_follows() {
        let text = r#"{"who":{"name":"a"}}"#;
        let meta_cache = cached(text);
        assert_eq!(
            meta_cache.matching_prefix_len(format!("{text},\"x\":1}}").as_bytes(), 2),
            Some(text.len())
        );
        assert_eq!(meta_cache.matching_prefix_len(&text.as_bytes()[..text.len() - 1], 2), None);
        assert_eq!(meta_cache.matching_prefix_len(text.replace('a', "b").as_bytes(), 2), None);
    }

    #[test]
    fn another_progress_token_matches() {
        let meta_cache = cached(META);
        for number in ["0", "8", "123456789012345678901"] {
            let text = META.replace('7', number);
            assert_eq!(meta_cache.matching_prefix_len(text.as_bytes(), 2), Some(text.len()), "{number}");
        }
    }

    #[test]
    fn a_progress_token_that_is_not_an_integer_does_not_match() {
        let meta_cache = cached(META);
        for other in ["", "07", "-7", "7.5", "7e1", "\"7\"", "7 ", "x"] {
            assert_eq!(
                meta_cache.matching_prefix_len(META.replace('7', other).as_bytes(), 2),
                None,
                "{other}"
            );
        }
    }

    #[test]
    fn another_depth_does_not_match() {
        assert_eq!(cached(META).matching_prefix_len(META.as_bytes(), 3), None);
    }

    #[test]
    fn an_empty_cache_matches_nothing() {
        assert_eq!(MetaCache::new().matching_prefix_len(b"{}", 0), None);
        // Not cached: too long, or not an object.
        assert_eq!(
            cached(&format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_CACHED_BYTES))).matching_prefix_len(b"{", 2),
            None
        );
        assert_eq!(cached("7").matching_prefix_len(b"7", 2), None);
    }

    #[test]
    fn a_progress_token_inside_a_string_is_not_replaced() {
        let text = r#"{"a":"\"progressToken\":7","b":1}"#;
        let meta_cache = cached(text);
        assert_eq!(meta_cache.matching_prefix_len(text.as_bytes(), 2), Some(text.len()));
        assert_eq!(meta_cache.matching_prefix_len(text.replace('7', "8").as_bytes(), 2), None);
    }
}
