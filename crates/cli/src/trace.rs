//! The traffic of a session for a person to read: one line a frame, secrets masked, nothing a terminal would obey.
//!
//! Masking goes by the name of a member, at any depth, and by the values the user gave the server as variables.

use std::sync::Arc;

use switchboard::Direction;

use crate::output::Screen;
use crate::sanitize::one_line;

/// What a name has in it when its value is a secret. Compared without case, `-` and `_`.
const TELLING: [&str; 8] =
    ["secret", "token", "password", "passwd", "apikey", "authorization", "cookie", "privatekey"];
/// Words of the protocol that look like one and are not.
const HARMLESS: [&str; 3] = ["progressToken", "maxTokens", "io.modelcontextprotocol/progressToken"];
/// What stands for a secret.
const MASK: &str = "\"•••\"";
/// Values shorter than this are no secrets, and would be found everywhere.
const SHORTEST: usize = 6;
/// What is shown of one frame.
const FRAME: usize = 64 * 1024;

/// Shows frames as they go by.
#[derive(Debug)]
pub(crate) struct Trace {
    screen: Arc<Screen>,
    /// The server, where there may be several.
    label: Option<String>,
    hidden: Vec<String>,
}

impl Trace {
    /// On this screen, without these values.
    pub(crate) fn new(screen: Arc<Screen>, values: impl IntoIterator<Item = String>) -> Self {
        let hidden = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        Self { screen, label: None, hidden }
    }

    /// With the name of the server before each frame.
    #[must_use]
    pub(crate) fn of(mut self, server: &str) -> Self {
        self.label = Some(one_line(server));
        self
    }

    pub(crate) fn show(&self, way: Direction, frame: &[u8]) {
        let paper = &self.screen.paper;
        let arrow = match way {
            Direction::Out => paper.green("→"),
            Direction::In => paper.cyan("←"),
        };
        let mut text = mask(&String::from_utf8_lossy(frame));
        for value in &self.hidden {
            text = text.replace(value, "•••");
        }
        let shown = &text[..text.floor_char_boundary(FRAME)];
        let more = text.len() - shown.len();
        let tail = if more > 0 { format!(" … {more} more bytes") } else { String::new() };
        let label = self.label.as_ref().map(|label| format!("{} ", paper.dim(label))).unwrap_or_default();
        self.screen.say(&format!("{label}{arrow} {}{tail}", one_line(shown)));
    }
}

/// JSON text with the values of telling members replaced. Text that is no JSON is treated as far as it looks like it.
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
        if bytes.get(value) == Some(&b':') && is_telling(word) {
            let start = skip_space(bytes, value + 1);
            out.push_str(&text[at..start]);
            out.push_str(MASK);
            at = value_end(bytes, start);
        }
    }
    out
}

fn is_telling(quoted: &str) -> bool {
    let name = serde_json::from_str::<String>(quoted).unwrap_or_else(|_| quoted.to_owned());
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    let plain: String =
        name.chars().filter(|char| !matches!(char, '-' | '_')).flat_map(char::to_lowercase).collect();
    TELLING.iter().any(|word| plain.contains(word))
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Behind the string that begins here.
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

/// Behind the value that begins here.
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
    fn telling_members_lose_their_value_and_nothing_else_changes() {
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
        fn any_text_is_survived(text in "\\PC{0,60}|[\"{}:,\\\\token ]{0,60}") {
            mask(&text);
        }

        #[test]
        fn a_secret_never_shows(key in "[a-z]{0,4}(token|Secret|API_KEY|password)[a-z]{0,3}", depth in 0usize..4) {
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
