//! Masks secrets in messages: members by name, at any depth, and known values wherever they are.
//!
//! Works on text, so that frames which are not JSON are masked as far as they resemble JSON, and nothing else changes.

use std::borrow::Cow;

/// Parts of member names whose value is a secret. Compared without case, `-` and `_`.
const SECRET_NAMES: [&str; 8] =
    ["secret", "token", "password", "passwd", "apikey", "authorization", "cookie", "privatekey"];
/// Protocol members whose names look secret but are not.
const NOT_SECRET: [&str; 3] = ["progressToken", "maxTokens", "io.modelcontextprotocol/progressToken"];
/// Members that hold a JSON Schema.
const SCHEMA_NAMES: [&str; 5] = ["inputSchema", "outputSchema", "requestedSchema", "schema", "parameters"];
/// Members of a schema whose members are schemas, named by what they describe.
const DEFINITION_NAMES: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
/// How often a value may be written as JSON inside of a JSON string: JSON in the text of a result has two levels.
const MAX_NESTING: usize = 4;
/// Shorter values are not masked: they would match everywhere.
const MIN_SECRET: usize = 6;

/// The text in place of a secret.
pub const MASK: &str = "•••";

/// Masks the values of secret members, and values that are known to be secret.
///
/// ```
/// use switchboard_recording::SecretMask;
///
/// let mask = SecretMask::new(["hunter2"]);
/// let masked = mask.mask(r#"{"apiKey":"abc","text":"it is hunter2"}"#);
/// assert_eq!(masked, r#"{"apiKey":"•••","text":"it is •••"}"#);
/// ```
#[derive(Clone, Default)]
pub struct SecretMask {
    /// Known values, and how JSON writes them, and JSON in JSON, if that differs. Longest first: one may be part of another.
    values: Vec<String>,
}

impl SecretMask {
    /// Creates a mask for these values and for all secret members. Values of less than six bytes are ignored.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut mask = Self::default();
        mask.extend(values);
        mask
    }

    /// Adds known values.
    pub fn extend(&mut self, values: impl IntoIterator<Item = impl Into<String>>) {
        let known = self.values.len();
        for value in values.into_iter().map(Into::into).filter(|value: &String| value.len() >= MIN_SECRET) {
            // The console adds the same values again and again.
            if self.values[..known].binary_search_by(|known| longest_first(known, &value)).is_ok() {
                continue;
            }
            let mut written = value;
            for _ in 0..MAX_NESTING {
                let quoted = serde_json::Value::from(written.as_str()).to_string();
                let escaped = quoted[1..quoted.len() - 1].to_owned();
                let is_last = escaped == written;
                self.values.push(std::mem::replace(&mut written, escaped));
                if is_last {
                    break;
                }
            }
        }
        if self.values.len() > known {
            self.values.sort_by(|a, b| longest_first(a, b));
            self.values.dedup();
        }
    }

    /// Returns the text with secrets replaced by `•••`. JSON stays JSON.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replace_values(mask_members(text))
    }

    /// Returns the text with known values replaced by `•••`, whatever the names of its members.
    pub fn mask_values<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replace_values(Cow::Borrowed(text))
    }

    fn replace_values<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        if !self.has_value(&text) {
            return text;
        }
        let masked = self.replace_in(&text);
        // A value of digits is a part of numbers, and one with quotes a part of objects.
        let is_broken = !is_json(&masked) && is_json(&text);
        Cow::Owned(if is_broken { self.replace_in_tokens(&text) } else { masked })
    }

    fn has_value(&self, text: &str) -> bool {
        self.values.iter().any(|value| text.contains(value.as_str()))
    }

    fn replace_in(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, value| match text.contains(value.as_str()) {
            true => text.replace(value.as_str(), MASK),
            false => text,
        })
    }

    /// Masks inside of the strings of JSON, and numbers that have a value in them as a whole.
    fn replace_in_tokens(&self, json: &str) -> String {
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(first) = rest.chars().next() {
            let end = match first {
                '"' => string_end(rest.as_bytes(), 0),
                '{' | '}' | '[' | ']' | ':' | ',' => 1,
                _ => rest.find(['"', '{', '}', '[', ']', ':', ',']).unwrap_or(rest.len()),
            };
            let (token, more) = rest.split_at(end);
            rest = more;
            if !self.has_value(token) {
                out.push_str(token);
                continue;
            }
            // An escape sequence may be cut in two.
            let masked = self.replace_in(token);
            match is_json(&masked) {
                true => out.push_str(&masked),
                false => {
                    out.push('"');
                    out.push_str(MASK);
                    out.push('"');
                }
            }
        }
        out
    }
}

/// Prints no value.
impl std::fmt::Debug for SecretMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretMask").field("values", &self.values.len()).finish()
    }
}

/// Masks the values of secret members in JSON text. A schema that describes such a member is not its value.
fn mask_members(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    // The text up to here is in `out`.
    let mut copied = 0;
    let mut at = 0;
    let mut path = MemberPath::default();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at);
                let colon = skip_space(bytes, end);
                if bytes.get(colon) != Some(&b':') {
                    at = end;
                    continue;
                }
                let name = unquote(&text[at..end]);
                let start = skip_space(bytes, colon + 1);
                at = start;
                let describes = bytes.get(start) == Some(&b'{') && path.is_in_definitions();
                if !describes && is_secret_name(&name) {
                    out.push_str(&text[copied..start]);
                    out.push('"');
                    out.push_str(MASK);
                    out.push('"');
                    at = value_end(bytes, start);
                    copied = at;
                } else {
                    path.name = Some(name);
                }
                continue;
            }
            b'{' | b'[' => path.open(),
            b'}' | b']' => path.close(),
            b',' => path.name = None,
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The members around the current position.
#[derive(Default)]
struct MemberPath<'a> {
    /// The member whose value begins here.
    name: Option<Cow<'a, str>>,
    containers: Vec<Container>,
}

/// An object or array, by the name of the member that holds it.
#[derive(Clone, Copy)]
struct Container {
    is_in_schema: bool,
    holds_definitions: bool,
}

impl MemberPath<'_> {
    fn open(&mut self) {
        let name = self.name.take();
        let is = |names: &[&str]| name.as_deref().is_some_and(|name| names.contains(&name));
        let outer = self.containers.last().is_some_and(|outer| outer.is_in_schema);
        self.containers.push(Container {
            is_in_schema: outer || is(&SCHEMA_NAMES),
            holds_definitions: outer && is(&DEFINITION_NAMES),
        });
    }

    fn close(&mut self) {
        self.containers.pop();
    }

    fn is_in_definitions(&self) -> bool {
        self.containers.last().is_some_and(|container| container.holds_definitions)
    }
}

fn unquote(quoted: &str) -> Cow<'_, str> {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str(quoted).map_or(Cow::Borrowed(inner), Cow::Owned)
}

fn longest_first(one: &str, other: &str) -> std::cmp::Ordering {
    other.len().cmp(&one.len()).then_with(|| one.cmp(other))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn is_secret_name(name: &str) -> bool {
    if NOT_SECRET.contains(&name) {
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

    fn mask(text: &str) -> Cow<'_, str> {
        SecretMask::default().mask(text)
    }

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

    #[test]
    fn a_schema_that_describes_a_secret_is_kept() {
        let schema = r#"{"tools":[{"inputSchema":{"type":"object","properties":{"token":{"type":"string"},
            "deep":{"type":"object","properties":{"password":{"type":"string"}}}},"required":["token"]}}]}"#;
        assert_eq!(mask(schema), schema);
        // A value in the place of a schema, and properties that are not a schema's.
        for leaking in [
            r#"{"inputSchema":{"properties":{"token":"hunter2"}}}"#,
            r#"{"inputSchema":{"token":{"type":"hunter2"}}}"#,
            r#"{"result":{"properties":{"token":{"value":"hunter2"}}}}"#,
            r#"{"inputSchema":{},"properties":{"token":{"value":"hunter2"}}}"#,
        ] {
            assert!(!mask(leaking).contains("hunter2"), "{leaking}");
        }
    }

    #[test]
    fn known_values_are_masked_as_text_and_as_json_writes_them() {
        let mask = SecretMask::new(["pa\"ss\\word", "tiny", "abcdef", "abcdefgh"]);
        assert_eq!(mask.mask(r#"{"a":"pa\"ss\\word","b":"tiny"}"#), r#"{"a":"•••","b":"tiny"}"#);
        assert_eq!(mask.mask("raw pa\"ss\\word, abcdefgh"), "raw •••, •••");
        let mut again = mask.clone();
        again.extend(["abcdef", "pa\"ss\\word"]);
        assert_eq!(again.values, mask.values);
        assert_eq!(mask.mask_values(r#"{"token":"pa\\\"ss\\\\word"}"#), r#"{"token":"•••"}"#, "JSON in JSON");
        assert_eq!(format!("{mask:?}"), "SecretMask { values: 6 }");
        assert!(matches!(mask.mask(r#"{"a":1}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_json_whatever_the_values_are() {
        let mask = SecretMask::new(["123456", r#"{"a":1}"#, "nAdaLovelace"]);
        for (given, expected) in [
            (r#"{"port":1234567,"text":"at 123456"}"#, r#"{"port":"•••","text":"at •••"}"#),
            (r#"{"list":[{"a":1},"{\"a\":1}"]}"#, r#"{"list":[{"a":1},"•••"]}"#),
            (r#"["\nAdaLovelace", 7]"#, r#"["•••", 7]"#),
            ("port 123456", "port •••"),
        ] {
            assert_eq!(mask.mask(given), expected);
        }
    }

    proptest! {
        #[test]
        fn masked_json_is_json(value in "[0-9a-n\"\\\\{}:,]{6,8}", parts in proptest::collection::vec("[0-9a-n\"\\\\{}:,]{0,9}", 0..4), number: u64) {
            let json = serde_json::json!({ "parts": parts, "value": value, "number": number, "list": [{"a": 1}] });
            let masked = SecretMask::new([value.as_str(), &number.to_string()]).mask(&json.to_string()).into_owned();
            let read: serde_json::Value = serde_json::from_str(&masked).expect("JSON");
            prop_assert_ne!(&read["value"], &json["value"]);
        }

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
            let text = value.to_string();
            let masked = mask(&text);
            prop_assert!(!masked.contains("hunter2"));
            prop_assert!(masked.contains("seen"));
            prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok());
        }
    }
}
