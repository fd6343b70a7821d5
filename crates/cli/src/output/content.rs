//! Content blocks and resources: for people at a terminal, and byte for byte for whatever reads a pipe.

use switchboard::protocol::{Content, MediaContent, ResourceBody, ResourceContents};
use switchboard::{CallToolResult, Raw};

use crate::output::{Paper, pretty, size};
use crate::sanitize::one_line;

/// The result of a tool: its blocks, and its structured content where no block is text.
pub(crate) fn result(result: &CallToolResult, paper: &Paper) -> String {
    let texts: Vec<&str> = result.content.iter().filter_map(Content::as_text).collect();
    match (&result.structured_content, &texts[..]) {
        (None, _) => blocks(&result.content, paper),
        (Some(structured), []) => blocks(&result.content, paper) + &structured_text(structured, paper),
        // The same data twice, for clients of either kind. Indented, it reads better.
        (Some(structured), [text]) if paper.is_terminal && is_same(text, structured) => {
            let rest: Vec<Content> =
                result.content.iter().filter(|block| block.as_text().is_none()).cloned().collect();
            structured_text(structured, paper) + &blocks(&rest, paper)
        }
        (Some(_), _) => blocks(&result.content, paper),
    }
}

/// Structured content on lines of its own.
pub(crate) fn structured_text(structured: &Raw, paper: &Paper) -> String {
    format!("{}\n", pretty_on(structured, paper))
}

fn pretty_on(value: &Raw, paper: &Paper) -> String {
    if paper.is_terminal { pretty(value) } else { crate::output::indent_json(value) }
}

fn is_same(text: &str, structured: &Raw) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    read(text).is_some_and(|value| Some(value) == read(structured.as_str()))
}

/// Blocks, each from the start of a line.
pub(crate) fn blocks(blocks: &[Content], paper: &Paper) -> String {
    blocks.iter().map(|content| line_end(block(content, paper))).collect()
}

/// The contents of a resource for a terminal; with names where there are several.
pub(crate) fn contents(contents: &[ResourceContents], paper: &Paper) -> String {
    let one = |part: &ResourceContents| {
        let name =
            if contents.len() > 1 { format!("{}\n", paper.dim(&one_line(&part.uri))) } else { String::new() };
        name + &line_end(body(part, paper))
    };
    contents.iter().map(one).collect()
}

fn line_end(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn block(content: &Content, paper: &Paper) -> String {
    match content {
        Content::Text(text) => paper.text(&text.text).into_owned(),
        Content::Image(media) => paper.yellow(&format!("[image {}]", media_text(media))),
        Content::Audio(media) => paper.yellow(&format!("[audio {}]", media_text(media))),
        Content::ResourceLink(resource) => {
            let name = one_line(resource.title.as_deref().unwrap_or(&resource.name));
            let kind = resource.mime_type.as_deref().map(|kind| format!(" ({})", one_line(kind)));
            format!("{} {name} <{}>{}", paper.cyan("→"), one_line(&resource.uri), kind.unwrap_or_default())
        }
        Content::Resource(embedded) => {
            let uri = paper.dim(&format!("[resource {}]", one_line(&embedded.resource.uri)));
            format!("{uri}\n{}", body(&embedded.resource, paper))
        }
        other => Raw::encode(other).map(|raw| pretty_on(&raw, paper)).unwrap_or_default(),
    }
}

fn body(part: &ResourceContents, paper: &Paper) -> String {
    match &part.body {
        ResourceBody::Text(text) => paper.text(text).into_owned(),
        ResourceBody::Blob(base64) => {
            let kind = one_line(part.mime_type.as_deref().unwrap_or("binary data"));
            paper.yellow(&format!("[{kind}, {}; {SAVE}]", size(decoded_len(base64))))
        }
    }
}

/// What to do with data that is not text.
const SAVE: &str = "--save-dir DIR saves it";

fn media_text(media: &MediaContent) -> String {
    format!("{}, {}; {SAVE}", one_line(&media.mime_type), size(decoded_len(&media.data)))
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
    fn c2_a_result_is_shown_once() {
        let paper = Paper::plain(80);
        let answer =
            CallToolResult::new([Content::text("{\"sum\": 3}")]).with_structured_content(json!({"sum": 3}));
        assert_eq!(result(&answer, &paper), "{\"sum\": 3}\n");
        let answer = CallToolResult::new([Content::text("three")]).with_structured_content(json!({"sum": 3}));
        assert_eq!(result(&answer, &paper), "three\n");
        let answer = CallToolResult::new([]).with_structured_content(json!({"sum": 3}));
        assert_eq!(result(&answer, &paper), "{\"sum\": 3}\n");
    }

    #[test]
    fn blocks_that_are_not_text_are_described() {
        let paper = Paper::plain(80);
        let all = [
            Content::image("AAAA", "image/png"),
            Content::link(Resource::new("demo://\u{1b}a", "A")),
            Content::resource(ResourceContents::blob("demo://b", "A".repeat(4096))),
        ];
        assert_eq!(
            blocks(&all, &paper),
            "[image image/png, 3 bytes; --save-dir DIR saves it]\n→ A <demo://\\x1ba>\n[resource demo://b]\n\
             [binary data, 3.0 KiB; --save-dir DIR saves it]\n"
        );
    }
}
