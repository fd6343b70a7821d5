//! The tool that reads kept results: a part, or the places where a text occurs.

use serde::Deserialize;
use serde_json::json;
use switchboard_protocol::{CallToolResult, Content, Raw, RpcError, Tool, ToolAnnotations};

use crate::error_reason::ErrorReason;
use crate::view::READ_RESULT;

/// The bytes of one part: by default, and at most.
const DEFAULT_LENGTH: usize = 8 * 1024;
const MAX_LENGTH: usize = 64 * 1024;
/// The places that one search returns, and the bytes that are shown around each.
const MAX_PLACES: usize = 20;
const AROUND: usize = 100;
/// The longest text to search for, in bytes.
const MAX_SEARCH: usize = 1_024;
/// The longest handle, in bytes. Longer ones are not ours.
const MAX_HANDLE: usize = 64;

/// Returns the definition of the tool.
pub(crate) fn read_result_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "handle": { "type": "string", "description": "The handle of the result." },
            "offset": { "type": "integer", "minimum": 0, "description": "The byte to begin at; 0 by default." },
            "length": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LENGTH,
                "description": "The bytes to read; 8192 by default.",
            },
            "search": {
                "type": "string",
                "minLength": 1,
                "description": "Returns the places where this text occurs, instead of a part of the result.",
            },
        },
        "required": ["handle"],
        "additionalProperties": false,
    });
    let description = "Reads a part of a large result of another tool, or searches it for a text. The result is named by the \
                       handle that the other tool returned.";
    Tool::new(READ_RESULT, schema)
        .with_title("Read a large result")
        .with_description(description)
        .with_annotations(ToolAnnotations::new().with_read_only_hint(true).with_open_world_hint(false))
}

/// A request to read a kept result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadRequest {
    pub(crate) handle: String,
    #[serde(default)]
    offset: usize,
    length: Option<usize>,
    search: Option<String>,
}

impl ReadRequest {
    /// Reads the arguments of the tool.
    ///
    /// # Errors
    /// When they are not valid.
    pub(crate) fn from_arguments(arguments: Option<&Raw>) -> Result<Self, RpcError> {
        let invalid = |why: String| {
            let data = Raw::from(json!({ "reason": ErrorReason::InvalidArguments.as_str() }));
            RpcError::invalid_params(format!("Invalid arguments of {READ_RESULT}: {why}")).with_data(data)
        };
        let arguments = arguments.cloned().unwrap_or_else(Raw::empty_object);
        let request: Self = arguments.decode().map_err(|error| invalid(error.to_string()))?;
        if request.handle.len() > MAX_HANDLE {
            return Err(invalid("this is not a handle".to_owned()));
        }
        if request.length.is_some_and(|length| !(1..=MAX_LENGTH).contains(&length)) {
            return Err(invalid(format!("`length` is from 1 to {MAX_LENGTH}")));
        }
        if request.search.as_ref().is_some_and(|text| text.is_empty() || text.len() > MAX_SEARCH) {
            return Err(invalid(format!("`search` has 1 to {MAX_SEARCH} bytes")));
        }
        Ok(request)
    }

    /// Returns the part, or the places, of a text.
    pub(crate) fn answer(&self, text: &str) -> CallToolResult {
        match &self.search {
            Some(search) => self.search(text, search),
            None => self.part(text),
        }
    }

    fn part(&self, text: &str) -> CallToolResult {
        let length = self.length.unwrap_or(DEFAULT_LENGTH);
        let start = text.floor_char_boundary(self.offset);
        let mut end = text.floor_char_boundary(start.saturating_add(length));
        if end == start && start < text.len() {
            // The length ends within the first character.
            end = text.ceil_char_boundary(start + 1);
        }
        let rest = match end < text.len() {
            true => format!("; read on at offset {end}"),
            false => "; this is the end".to_owned(),
        };
        let note = format!("[Bytes {start} to {end} of {}{rest}.]", text.len());
        CallToolResult::new([Content::text(&text[start..end]), Content::text(note)])
    }

    fn search(&self, text: &str, search: &str) -> CallToolResult {
        let start = text.floor_char_boundary(self.offset);
        let mut found = text[start..].match_indices(search).map(|(at, _)| start + at);
        let mut lines = Vec::new();
        for at in found.by_ref().take(MAX_PLACES) {
            let from = text.floor_char_boundary(at.saturating_sub(AROUND));
            let to = text.ceil_char_boundary((at + search.len() + AROUND).min(text.len()));
            lines.push(format!("offset {at}: {}", text[from..to].replace(['\n', '\r'], " ")));
        }
        let note = match (lines.len(), found.next()) {
            (0, _) => "[The text does not occur.]".to_owned(),
            (places, None) => format!("[{places} places; these are all.]"),
            (places, Some(next)) => format!("[{places} places; search on at offset {next}.]"),
        };
        lines.push(note);
        CallToolResult::new([Content::text(lines.join("\n"))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(arguments: serde_json::Value, text: &str) -> Result<String, String> {
        let request =
            ReadRequest::from_arguments(Some(&Raw::from(arguments))).map_err(|error| error.message)?;
        Ok(request.answer(text).text())
    }

    #[test]
    fn parts_are_read_at_character_boundaries_until_the_end() {
        let text = "äbc".repeat(3);
        let read = |offset: usize, length: usize| {
            answer(json!({ "handle": "h", "offset": offset, "length": length }), &text).unwrap()
        };
        assert_eq!(read(0, 3), "äb\n[Bytes 0 to 3 of 12; read on at offset 3.]");
        assert_eq!(read(1, 1), "ä\n[Bytes 0 to 2 of 12; read on at offset 2.]", "at least one character");
        assert_eq!(read(11, 99), "c\n[Bytes 11 to 12 of 12; this is the end.]");
        assert_eq!(read(usize::MAX, 99), "\n[Bytes 12 to 12 of 12; this is the end.]");
        // Reading on returns the whole.
        let (mut at, mut whole) = (0, String::new());
        while at < text.len() {
            let part = read(at, 2);
            let part = part.split('\n').next().unwrap();
            whole.push_str(part);
            at += part.len();
        }
        assert_eq!(whole, text);
    }

    #[test]
    fn a_search_returns_places_with_what_is_around_them() {
        let text = format!("{}needle\n{}", "a".repeat(200), "b needle ".repeat(25));
        let found = answer(json!({ "handle": "h", "search": "needle" }), &text).unwrap();
        assert!(found.starts_with(&format!("offset 200: {}needle b needle", "a".repeat(100))), "{found}");
        assert!(found.ends_with("[20 places; search on at offset 380.]"), "{found}");
        let rest = answer(json!({ "handle": "h", "search": "needle", "offset": 380 }), &text).unwrap();
        assert!(rest.ends_with("[6 places; these are all.]"), "{rest}");
        assert_eq!(
            answer(json!({ "handle": "h", "search": "no" }), "ab").unwrap(),
            "[The text does not occur.]"
        );
    }

    #[test]
    fn invalid_arguments_are_refused() {
        for arguments in [
            json!({}),
            json!({ "handle": 7 }),
            json!({ "handle": "h", "length": 0 }),
            json!({ "handle": "h", "length": MAX_LENGTH + 1 }),
            json!({ "handle": "h", "offset": -1 }),
            json!({ "handle": "h", "search": "" }),
            json!({ "handle": "h", "other": 1 }),
            json!({ "handle": "h".repeat(MAX_HANDLE + 1) }),
        ] {
            assert!(answer(arguments.clone(), "text").is_err(), "{arguments}");
        }
    }
}
