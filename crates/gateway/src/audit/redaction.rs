//! Redaction: replaces the values of marked keys, and cuts what is too long.

use serde_json::json;
use switchboard_json::decode_string;
use switchboard_protocol::Raw;

/// Keys whose values are never recorded.
const DEFAULT_KEYS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "client_secret",
    "token",
    "access_token",
    "refresh_token",
    "id_token",
    "api_key",
    "apikey",
    "authorization",
    "cookie",
    "private_key",
    "credential",
    "credentials",
];

/// The keys whose values are replaced, at any depth. Compared without case, `_` and `-`: `apiKey` is `api_key`.
#[derive(Clone, Debug)]
pub(super) struct Redaction {
    keys: Vec<String>,
}

impl Redaction {
    /// Creates a redaction of the default keys and these.
    pub(super) fn new(further: impl IntoIterator<Item = String>) -> Self {
        let defaults = DEFAULT_KEYS.iter().map(|key| (*key).to_owned());
        Self { keys: defaults.chain(further).map(|key| normalize(&key)).collect() }
    }

    /// Returns the value with marked keys replaced. If it is longer than `limit` bytes, returns its beginning as a
    /// text, marked as cut.
    pub(super) fn apply(&self, value: &Raw, limit: usize) -> Raw {
        let mut text = String::new();
        let is_complete = self.append(value, limit, &mut text);
        if is_complete && let Ok(raw) = Raw::parse(text.clone()) {
            return raw;
        }
        let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        Raw::from(json!({ "cut": true, "bytes": value.len(), "beginning": &text[..end] }))
    }

    /// Appends until the text is longer than the limit; returns whether all was appended. Recurses as deep as JSON may
    /// nest.
    fn append(&self, value: &Raw, limit: usize, text: &mut String) -> bool {
        let mut is_first = true;
        if value.is_object() {
            text.push('{');
            for (name, member) in value.fields() {
                text.push_str(if is_first { "" } else { "," });
                is_first = false;
                let _ = Raw::write(text, name.as_str());
                text.push(':');
                if self.is_marked(name.as_str()) {
                    text.push_str("\"[redacted]\"");
                } else if !self.append(&member, limit, text) {
                    return false;
                }
            }
            text.push('}');
        } else if value.is_array() {
            text.push('[');
            for element in value.elements() {
                text.push_str(if is_first { "" } else { "," });
                is_first = false;
                if !self.append(&element, limit, text) {
                    return false;
                }
            }
            text.push(']');
        } else {
            self.append_scalar(value, text);
        }
        text.len() <= limit
    }

    /// A text that holds JSON may hold marked keys.
    fn append_scalar(&self, value: &Raw, text: &mut String) {
        let inner =
            decode_string(value.as_str()).filter(|string| string.trim_start().starts_with(['{', '[']));
        match inner.and_then(|string| Raw::parse(string.into_owned()).ok()) {
            Some(parsed) => {
                let mut redacted = String::new();
                self.append(&parsed, usize::MAX, &mut redacted);
                let _ = Raw::write(text, &redacted);
            }
            None => text.push_str(value.as_str()),
        }
    }

    fn is_marked(&self, name: &str) -> bool {
        let name = normalize(name);
        self.keys.contains(&name)
    }
}

fn normalize(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact(text: &str, limit: usize) -> String {
        let redaction = Redaction::new(["ssn".to_owned()]);
        redaction.apply(&Raw::parse(text.to_owned()).unwrap(), limit).as_str().to_owned()
    }

    #[test]
    fn marked_keys_are_replaced_at_any_depth() {
        assert_eq!(
            redact(
                r#"{"a":[{"Pass-Word":"x","b":1}],"API_KEY":{"k":1},"apiKey":"x","SSN":1,"\u0074oken":"x"}"#,
                1000
            ),
            r#"{"a":[{"Pass-Word":"[redacted]","b":1}],"API_KEY":"[redacted]","apiKey":"[redacted]","SSN":"[redacted]","token":"[redacted]"}"#
        );
        assert_eq!(
            redact(r#"{"body":"{\"token\":\"x\"}"}"#, 1000),
            r#"{"body":"{\"token\":\"[redacted]\"}"}"#
        );
        assert_eq!(
            redact(r#"{"token":1,"token":2}"#, 1000),
            r#"{"token":"[redacted]","token":"[redacted]"}"#
        );
    }

    #[test]
    fn a_long_value_is_cut_after_redaction() {
        let long = format!(r#"{{"password":"{}","a":"{}"}}"#, "s3cret".repeat(100), "x".repeat(1000));
        let cut = redact(&long, 50);
        assert!(cut.contains(r#""cut":true"#) && !cut.contains("s3cret") && cut.len() < 200, "{cut}");
        assert!(cut.contains(&format!("\"bytes\":{}", long.len())));
    }
}
