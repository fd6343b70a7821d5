//! Renders content blocks and resources: as text for a terminal, unchanged for a pipe.

use switchboard::protocol::{CallToolResult, Content, MediaContent, Raw, ResourceBody, ResourceContents};

use crate::output::{OutputStream, format_size, pretty};
use crate::sanitize::one_line;

/// Renders the result of a tool: its blocks, and its structured content if no block is text.
pub(crate) fn render_result(result: &CallToolResult, out: &OutputStream) -> String {
    let texts: Vec<&str> = result.content.iter().filter_map(Content::as_text).collect();
    match (&result.structured_content, &texts[..]) {
        (None, _) => render_blocks(&result.content, out),
        (Some(structured), []) => render_blocks(&result.content, out) + &render_structured(structured, out),
        // Text and structured content are the same data: show the indented form only.
        (Some(structured), [text]) if out.is_terminal && is_same(text, structured) => {
            let rest: Vec<Content> =
                result.content.iter().filter(|block| block.as_text().is_none()).cloned().collect();
            render_structured(structured, out) + &render_blocks(&rest, out)
        }
        (Some(_), _) => render_blocks(&result.content, out),
    }
}

/// Renders structured content.
pub(crate) fn render_structured(structured: &Raw, out: &OutputStream) -> String {
    format!("{}\n", indented_for(structured, out))
}

fn indented_for(value: &Raw, out: &OutputStream) -> String {
    if out.is_terminal { pretty(value) } else { crate::output::indent_json(value) }
}

fn is_same(text: &str, structured: &Raw) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    read(text).is_some_and(|value| Some(value) == read(structured.as_str()))
}

/// Renders blocks, each starting on a new line.
pub(crate) fn render_blocks(blocks: &[Content], out: &OutputStream) -> String {
    blocks.iter().map(|content| ensure_newline(render_block(content, out))).collect()
}

/// Renders the contents of a resource for a terminal; with URIs if there are several parts.
pub(crate) fn render_contents(contents: &[ResourceContents], out: &OutputStream) -> String {
    let one = |part: &ResourceContents| {
        let name =
            if contents.len() > 1 { format!("{}\n", out.dim(&one_line(&part.uri))) } else { String::new() };
        name + &ensure_newline(render_body(part, out))
    };
    contents.iter().map(one).collect()
}

fn ensure_newline(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn render_block(content: &Content, out: &OutputStream) -> String {
    match content {
        Content::Text(text) => out.text(&text.text).into_owned(),
        Content::Image(media) => out.yellow(&format!("[image {}]", media_text(media))),
        Content::Audio(media) => out.yellow(&format!("[audio {}]", media_text(media))),
        Content::ResourceLink(resource) => {
            let name = one_line(resource.title.as_deref().unwrap_or(&resource.name));
            let kind = resource.mime_type.as_deref().map(|kind| format!(" ({})", one_line(kind)));
            format!("{} {name} <{}>{}", out.cyan("→"), one_line(&resource.uri), kind.unwrap_or_default())
        }
        Content::Resource(embedded) => {
            let uri = out.dim(&format!("[resource {}]", one_line(&embedded.resource.uri)));
            format!("{uri}\n{}", render_body(&embedded.resource, out))
        }
        other => Raw::encode(other).map(|raw| indented_for(&raw, out)).unwrap_or_default(),
    }
}

fn render_body(part: &ResourceContents, out: &OutputStream) -> String {
    match &part.body {
        ResourceBody::Text(text) => out.text(text).into_owned(),
        ResourceBody::Blob(base64) => {
            let kind = one_line(part.mime_type.as_deref().unwrap_or("binary data"));
            out.yellow(&format!("[{kind}, {}; {SAVE_HINT}]", format_size(decoded_len(base64))))
        }
    }
}

/// Hint for binary data.
const SAVE_HINT: &str = "--save-dir DIR saves it";

fn media_text(media: &MediaContent) -> String {
    format!("{}, {}; {SAVE_HINT}", one_line(&media.mime_type), format_size(decoded_len(&media.data)))
}

fn decoded_len(base64: &str) -> u64 {
    let digits = base64.bytes().filter(|byte| !matches!(byte, b'=' | b'\n' | b'\r')).count() as u64;
    digits * 3 / 4
}

#[cfg(test)]
mod tests {
    use switchboard::json;
    use switchboard::protocol::Resource;

    use super::*;

    #[test]
    fn c2_a_result_is_printed_once() {
        let out = OutputStream::plain(80);
        let answer =
            CallToolResult::new([Content::text("{\"sum\": 3}")]).with_structured_content(json!({"sum": 3}));
        assert_eq!(render_result(&answer, &out), "{\"sum\": 3}\n");
        let answer = CallToolResult::new([Content::text("three")]).with_structured_content(json!({"sum": 3}));
        assert_eq!(render_result(&answer, &out), "three\n");
        let answer = CallToolResult::new([]).with_structured_content(json!({"sum": 3}));
        assert_eq!(render_result(&answer, &out), "{\"sum\": 3}\n");
    }

    #[test]
    fn blocks_that_are_not_text_are_described() {
        let out = OutputStream::plain(80);
        let all = [
            Content::image("AAAA", "image/png"),
            Content::link(Resource::new("demo://\u{1b}a", "A")),
            Content::resource(ResourceContents::blob("demo://b", "A".repeat(4096))),
        ];
        assert_eq!(
            render_blocks(&all, &out),
            "[image image/png, 3 bytes; --save-dir DIR saves it]\n→ A <demo://\\x1ba>\n[resource demo://b]\n\
             [binary data, 3.0 KiB; --save-dir DIR saves it]\n"
        );
    }
}
