//! The `_meta` that was checked last: a peer says the same of itself in every message, and what was checked once need
//! not be checked again.

/// Texts beyond this are not kept.
const MAX_CACHED_BYTES: usize = 4 * 1024;

/// The text of one `_meta` that was found to be JSON, for the messages that follow on the same connection.
///
/// Invariant: whatever is recognised differs from a text that was checked at the same depth in the digits of one whole
/// number at most, so it is JSON of the same depth.
#[derive(Debug, Default)]
pub struct MetaCache {
    /// The text, up to the number of the progress token where there is one.
    before: Vec<u8>,
    /// What follows the number; `None` when there is none.
    after: Option<Vec<u8>>,
    /// In how many containers it stood.
    depth: usize,
}

impl MetaCache {
    /// Nothing was checked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes at the start of `bytes` are what is kept.
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

    /// Keeps an object that was checked.
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

/// Where the number of the progress token stands. An unescaped quote, a colon and digits behind the name are a member
/// and its value wherever they stand, so that another number can take their place.
fn progress_token_span(text: &[u8]) -> Option<(usize, usize)> {
    const NAME: &[u8] = br#"progressToken":"#;
    let start = memchr::memmem::find(text, NAME)? + NAME.len();
    let end = start + integer_len(&text[start..])?;
    // A fraction or an exponent would make it another kind of number.
    matches!(text.get(end), Some(b',' | b'}')).then_some((start, end))
}

/// How many bytes at the start are a whole number as JSON writes it.
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
    fn the_same_text_is_recognised_whatever_follows() {
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
    fn another_number_is_no_difference() {
        let meta_cache = cached(META);
        for number in ["0", "8", "123456789012345678901"] {
            let text = META.replace('7', number);
            assert_eq!(meta_cache.matching_prefix_len(text.as_bytes(), 2), Some(text.len()), "{number}");
        }
    }

    #[test]
    fn what_is_no_whole_number_is_a_difference() {
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
    fn the_depth_counts() {
        assert_eq!(cached(META).matching_prefix_len(META.as_bytes(), 3), None);
    }

    #[test]
    fn nothing_is_recognised_by_nothing() {
        assert_eq!(MetaCache::new().matching_prefix_len(b"{}", 0), None);
        // Too long, and no object.
        assert_eq!(
            cached(&format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_CACHED_BYTES))).matching_prefix_len(b"{", 2),
            None
        );
        assert_eq!(cached("7").matching_prefix_len(b"7", 2), None);
    }

    #[test]
    fn a_name_in_a_string_is_told_from_a_member() {
        let text = r#"{"a":"\"progressToken\":7","b":1}"#;
        let meta_cache = cached(text);
        assert_eq!(meta_cache.matching_prefix_len(text.as_bytes(), 2), Some(text.len()));
        assert_eq!(meta_cache.matching_prefix_len(text.replace('7', "8").as_bytes(), 2), None);
    }
}
