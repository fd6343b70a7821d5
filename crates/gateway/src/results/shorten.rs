//! Puts a handle in place of a large text.
//!
//! Only text is shortened: text blocks and, unless the tool has an output schema, structured content. Clients check structured
//! content against an output schema, and a part of it would not fit; it passes whole then. Images, audio, links and embedded
//! resources pass as they are, because no text stands for them.

use switchboard_protocol::{CallToolResult, Content, FromRaw, Raw};

use crate::view::{LargeResults, READ_RESULT};

/// Returns the result with a handle if its text is too large; `None` if it passes as it is. `keep` keeps the text and returns
/// its handle.
pub(crate) fn shorten(
    raw: &Raw,
    large: LargeResults,
    has_output_schema: bool,
    keep: impl FnOnce(String) -> Option<String>,
) -> Option<CallToolResult> {
    // The text is never larger than its JSON.
    if raw.len() <= large.above || !is_complete(raw) {
        return None;
    }
    let mut result = CallToolResult::from_raw(raw).ok()?;
    let mut text = result.text();
    if !has_output_schema && let Some(structured) = &result.structured_content {
        // Servers repeat structured content as a text block.
        if !result.content.iter().filter_map(Content::as_text).any(|block| is_same(block, structured)) {
            text = if text.is_empty() {
                structured.as_str().to_owned()
            } else {
                format!("{text}\n{}", structured.as_str())
            };
        }
    }
    if text.len() <= large.above {
        return None;
    }
    let bytes = text.len();
    let head = text[..text.floor_char_boundary(large.head)].to_owned();
    let handle = keep(text)?;
    let note = format!(
        "{head}\n\n[The first {} of {bytes} bytes. Call {READ_RESULT} with handle \"{handle}\" and an offset to read on, or \
         with a text to search for.]",
        head.len()
    );
    result.content.retain(|block| block.as_text().is_none());
    result.content.insert(0, Content::text(note));
    if !has_output_schema {
        result.structured_content = None;
    }
    Some(result)
}

/// Returns whether a result is one, not a question.
fn is_complete(raw: &Raw) -> bool {
    raw.field_texts().all(|(name, value)| name.as_str() != "resultType" || value == "\"complete\"")
}

fn is_same(block: &str, structured: &Raw) -> bool {
    let block = Raw::parse(block.to_owned()).ok();
    let canonical = block.and_then(|block| block.canonical().ok());
    canonical.is_some() && canonical == structured.canonical().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(raw: &str, has_output_schema: bool) -> Option<(CallToolResult, String)> {
        let large = LargeResults { above: 20, head: 5 };
        let mut kept = String::new();
        let keep = |text: String| {
            kept = text;
            Some("h1".to_owned())
        };
        let raw = Raw::parse(raw.to_owned()).unwrap();
        shorten(&raw, large, has_output_schema, keep).map(|result| (result, kept))
    }

    #[test]
    fn a_large_text_becomes_its_head_and_a_handle() {
        let long = "äöüß".repeat(10);
        let raw = format!(
            r#"{{"content":[{{"type":"text","text":"{long}"}},{{"type":"image","data":"AA==","mimeType":"image/png"}}],"isError":true,"_meta":{{"x":1}}}}"#
        );
        let (result, kept) = shortened(&raw, false).unwrap();
        assert_eq!(kept, long);
        assert!(result.text().starts_with("äö\n\n[The first 4 of 80 bytes."), "{}", result.text());
        assert!(result.text().contains(r#"handle "h1""#));
        assert!(result.is_error && result.meta.is_some() && result.content.len() == 2);
    }

    #[test]
    fn small_texts_and_questions_pass() {
        let data = "A".repeat(100);
        for raw in [
            r#"{"content":[{"type":"text","text":"short"}]}"#,
            &format!(r#"{{"content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}"#),
            &format!(r#"{{"resultType":"input_required","content":[{{"type":"text","text":"{data}"}}]}}"#),
        ] {
            assert!(shortened(raw, false).is_none(), "{raw}");
        }
    }

    #[test]
    fn structured_content_keeps_its_shape_where_a_schema_demands_it() {
        let raw = r#"{"content":[{"type":"text","text":"{\"a\":\"0123456789\",  \"b\":1}"}],"structuredContent":{"b":1,"a":"0123456789"}}"#;
        let (result, kept) = shortened(raw, true).unwrap();
        assert_eq!(result.structured_content.unwrap().as_str(), r#"{"b":1,"a":"0123456789"}"#);
        assert_eq!(kept, r#"{"a":"0123456789",  "b":1}"#);
        let (result, kept) = shortened(raw, false).unwrap();
        assert!(result.structured_content.is_none());
        assert_eq!(kept, r#"{"a":"0123456789",  "b":1}"#, "the same value is kept once");
        let only = r#"{"content":[],"structuredContent":{"a":"01234567890123456789"}}"#;
        assert_eq!(shortened(only, false).unwrap().1, r#"{"a":"01234567890123456789"}"#);
        assert!(shortened(only, true).is_none());
    }
}
