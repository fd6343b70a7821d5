//! Output of results: text for humans, JSON for programs.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;
use switchboard_protocol::{
    CallToolResult, Content, PromptMessage, Raw, ResourceBody, ResourceContents, Role,
};

use super::error::CliError;
use super::sanitize::{self, one_line, sanitize};

/// Writes text, ending with a newline.
///
/// # Errors
/// When stdout is closed.
pub(super) fn text(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Writes a value as one line of JSON.
///
/// # Errors
/// When stdout is closed.
pub(super) fn json(value: &impl Serialize) -> Result<(), CliError> {
    let written = serde_json::to_string(value).map_err(|error| CliError::Other(error.to_string()))?;
    text(&sanitize::json(&written))
}

/// Formats JSON with indentation.
pub(super) fn pretty(raw: &Raw) -> String {
    let indented = raw.decode::<Value>().map(|value| format!("{value:#}"));
    let text = indented.unwrap_or_else(|_| raw.as_str().to_owned());
    sanitize::json(&text).into_owned()
}

/// Formats a tool result.
pub(super) fn result(result: &CallToolResult) -> String {
    let Some(structured) = &result.structured_content else { return blocks(&result.content) };
    // Skips text blocks that repeat the structured content for older clients.
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let data = read(structured.as_str());
    let same =
        |block: &&Content| !block.as_text().is_some_and(|text| read(text).is_some() && read(text) == data);
    let rest: Vec<Content> = result.content.iter().filter(same).cloned().collect();
    format!("{}{}\n", blocks(&rest), pretty(structured))
}

/// Formats content blocks, each starting on a new line.
pub(super) fn blocks(blocks: &[Content]) -> String {
    blocks.iter().map(|content| line_end(block(content))).collect()
}

/// Formats the contents of a resource.
pub(super) fn contents(contents: &[ResourceContents]) -> String {
    contents.iter().map(|part| line_end(body(part))).collect()
}

/// Formats the messages of a prompt.
pub(super) fn messages(messages: &[PromptMessage]) -> String {
    let one = |message: &PromptMessage| {
        let who = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        format!("{who}:\n{}", line_end(block(&message.content)))
    };
    messages.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn line_end(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn block(content: &Content) -> String {
    match content {
        Content::Text(text) => sanitize(&text.text).into_owned(),
        Content::Image(media) => format!("[image {}; --json has it as base64]", one_line(&media.mime_type)),
        Content::Audio(media) => format!("[audio {}; --json has it as base64]", one_line(&media.mime_type)),
        Content::ResourceLink(resource) => {
            let name = one_line(resource.title.as_deref().unwrap_or(&resource.name));
            format!("→ {name} <{}>", one_line(&resource.uri))
        }
        Content::Resource(embedded) => body(&embedded.resource),
        other => Raw::encode(other).map(|raw| pretty(&raw)).unwrap_or_default(),
    }
}

fn body(part: &ResourceContents) -> String {
    match &part.body {
        ResourceBody::Text(text) => {
            let is_json = part.mime_type.as_deref() == Some("application/json");
            let data = Raw::parse(text.clone()).ok().filter(|_| is_json);
            data.map_or_else(|| sanitize(text).into_owned(), |raw| pretty(&raw))
        }
        ResourceBody::Blob(_) => {
            let kind = one_line(part.mime_type.as_deref().unwrap_or("data of no named type"));
            format!("[{kind}; --json has it as base64]")
        }
    }
}
