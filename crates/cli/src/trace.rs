//! Prints the messages of a session: one line per message, secrets masked, terminal escapes sanitized.
//!
//! Masks members by name, at any depth, and values of the variables and headers given to the server.

use std::sync::Arc;

use switchboard::transport::Direction;

use crate::output::Screen;
use crate::sanitize::one_line;

/// Parts of member names whose value is a secret. Compared without case, `-` and `_`.
const SECRET_NAMES: [&str; 8] =
    ["secret", "token", "password", "passwd", "apikey", "authorization", "cookie", "privatekey"];
/// Protocol members whose names look secret but are not.
const NOT_SECRET: [&str; 3] = ["progressToken", "maxTokens", "io.modelcontextprotocol/progressToken"];
/// Replacement of a secret.
const MASK: &str = "\"•••\"";
/// Shorter values are not masked: they would match everywhere.
const MIN_SECRET: usize = 6;
/// Maximum number of bytes printed per message.
const MAX_SHOWN: usize = 64 * 1024;

/// Prints messages to standard error.
#[derive(Debug)]
pub(crate) struct Trace {
    screen: Arc<Screen>,
    /// Name of the server, if there may be several.
    label: Option<String>,
    secrets: Vec<String>,
}

impl Trace {
    /// Creates a trace that masks these values.
    pub(crate) fn new(screen: Arc<Screen>, values: impl IntoIterator<Item = String>) -> Self {
        let secrets = values.into_iter().filter(|value| value.len() >= MIN_SECRET).collect();
        Self { screen, label: None, secrets }
    }

    /// Prints the name of the server before each message.
    #[must_use]
    pub(crate) fn with_label(mut self, server: &str) -> Self {
        self.label = Some(one_line(server));
        self
    }

    pub(crate) fn print(&self, direction: Direction, frame: &[u8]) {
        let out = &self.screen.out;
        let arrow = match direction {
            Direction::Out => out.green("→"),
            Direction::In => out.cyan("←"),
        };
        let mut text = mask(&String::from_utf8_lossy(frame));
        for value in &self.secrets {
            text = text.replace(value, "•••");
        }
        let shown = &text[..text.floor_char_boundary(MAX_SHOWN)];
        let more = text.len() - shown.len();
        let tail = if more > 0 { format!(" … {more} more bytes") } else { String::new() };
        let label = self.label.as_ref().map(|label| format!("{} ", out.dim(label))).unwrap_or_default();
        self.screen.say(&format!("{label}{arrow} {}{tail}", one_line(shown)));
    }
}

/// Masks the values of secret members in JSON text. Text that is not JSON is masked as far as it resembles JSON.
fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            let next = text[at..].find('"').map_or(bytes.len(), |found| at + found);
            out.push_str(&text[at..next]);
            at = next;
            continue;
        }
        let end = string_end(bytes, at);
        let word = &text[at..end];
        out.push_str(word);
        at = end;
        let value = skip_space(bytes, at);
        if bytes.get(value) == Some(&b':') && is_secret_name(word) {
            let start = skip_space(bytes, value + 1);
            out.push_str(&text[at..start]);
            out.push_str(MASK);
            at = value_end(bytes, start);
        }
    }
    out
}

fn is_secret_name(quoted: &str) -> bool {
    let name = serde_json::from_str::<String>(quoted).unwrap_or_else(|_| quoted.to_owned());
    if NOT_SECRET.contains(&name.as_str()) {
        return false;
    }
    let plain: String =
        name.chars().filter(|char| !matches!(char, '-' | '_')).flat_map(char::to_lowercase).collect();
    SECRET_NAMES.iter().any(|word| plain.contains(word))
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Returns the index after the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the index after the value that begins at `start`.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at.min(bytes.len());
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secret_members_are_masked_and_nothing_else_changes() {
        let cases = [
            (r#"{"a": 1, "apiKey":"s3" ,"b":[2]}"#, r#"{"a": 1, "apiKey":"•••" ,"b":[2]}"#),
            (r#"{"x":{"api_key" : {"n":["s3"]},"y":1}}"#, r#"{"x":{"api_key" : "•••","y":1}}"#),
            (r#"{"pass\u0077ord":12}"#, r#"{"pass\u0077ord":"•••"}"#),
            (r#"{"Set-Cookie":null,"Private-Key":"a\"b"}"#, r#"{"Set-Cookie":"•••","Private-Key":"•••"}"#),
            (r#"{"progressToken":7,"text":"my token: x"}"#, r#"{"progressToken":7,"text":"my token: x"}"#),
            (r#"not json "token": "abc"#, r#"not json "token": "•••""#),
        ];
        for (given, expected) in cases {
            assert_eq!(mask(given), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_handled(text in "\\PC{0,60}|[\"{}:,\\\\token ]{0,60}") {
            mask(&text);
        }

        #[test]
        fn a_secret_is_never_shown(key in "[a-z]{0,4}(token|Secret|API_KEY|password)[a-z]{0,3}", depth in 0usize..4) {
            let mut value = serde_json::json!({ key: ["hunter2", {"deep": "hunter2"}], "kept": "seen" });
            for _ in 0..depth {
                value = serde_json::json!({ "in": [value] });
            }
            let masked = mask(&value.to_string());
            prop_assert!(!masked.contains("hunter2"));
            prop_assert!(masked.contains("seen"));
            prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok());
        }
    }
}
