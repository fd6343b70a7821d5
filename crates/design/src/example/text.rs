//! A text made from what a schema says of it.

use serde_json::{Map, Value};

use super::pattern;

/// A text with the pattern, format and length that are asked for; `nth` makes it another one.
pub(super) fn value(map: &Map<String, Value>, nth: usize) -> String {
    let count = |key: &str| map.get(key).and_then(Value::as_f64).map(|count| count as usize);
    let (least, most) = (count("minLength").unwrap_or(0), count("maxLength").unwrap_or(usize::MAX));
    let pattern = map.get("pattern").and_then(Value::as_str);
    let fitting = |text: &String| (least..=most).contains(&text.chars().count());
    // Where a pattern can be longer, it is, until it is long enough.
    let matching = |pattern| [0, 1, 2, 4, 8, 16, 32, least].map(|more| pattern::matching(pattern, more, nth));
    if let Some(text) = pattern.and_then(|pattern| matching(pattern).into_iter().flatten().find(fitting)) {
        return text;
    }
    let format = map.get("format").and_then(Value::as_str).and_then(formatted);
    let base64 =
        map.get("contentEncoding").is_some_and(|encoding| encoding == "base64").then_some("dGV4dA==");
    if let Some(text) = format.or(base64)
        && nth == 0
        && (least..=most).contains(&text.len())
    {
        return text.to_owned();
    }
    let number = if nth == 0 { String::new() } else { (nth + 1).to_string() };
    let mut text = format!("text{number}");
    while text.len() < least {
        text.push_str("text");
    }
    // The number is at the end; what is cut off is before it.
    let length = text.len().min(most).max(least.min(most));
    if text.len() > length {
        text = format!("{}{number}", &"text".repeat(length / 4 + 1)[..length.saturating_sub(number.len())]);
    }
    text
}

fn formatted(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2026-01-31T12:00:00Z",
        "date" => "2026-01-31",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "someone@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" => "https://example.com/",
        "uri-reference" | "iri-reference" => "/path",
        "uri-template" => "https://example.com/{id}",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "json-pointer" => "/member",
        "relative-json-pointer" => "1/member",
        "regex" => "^text$",
        _ => return None,
    })
}
