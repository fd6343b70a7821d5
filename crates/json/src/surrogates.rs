//! Replaces lone surrogate escapes, which some peers write and `serde_json` rejects.

/// Returns the text with every lone surrogate escape replaced by `\ufffd`; `None` if it has no lone surrogate.
pub(crate) fn replace_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut replaced: Option<String> = None;
    let mut copied_up_to = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let escape = at + found;
        at = escape + 2;
        let Some(unit) = code_unit(bytes, escape) else { continue };
        at = escape + 6;
        let is_high = (0xd800..0xdc00).contains(&unit);
        let paired = is_high && code_unit(bytes, at).is_some_and(|low| (0xdc00..0xe000).contains(&low));
        if paired {
            at += 6;
        } else if (0xd800..0xe000).contains(&unit) {
            let out = replaced.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(&text[copied_up_to..escape]);
            out.push_str("\\ufffd");
            copied_up_to = at;
        }
    }
    replaced.map(|mut out| {
        out.push_str(&text[copied_up_to..]);
        out
    })
}

/// Returns the UTF-16 code unit of the `\uXXXX` escape at `at`.
fn code_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}
