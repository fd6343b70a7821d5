//! Synthesizes a string from a schema.

use serde_json::{Map, Value};

use super::regex_sample;

/// Returns a string with the pattern, format and length of a schema. Different values of `nth` give different strings.
pub(super) fn value(map: &Map<String, Value>, nth: usize) -> String {
    let count = |key: &str| map.get(key).and_then(Value::as_f64).map(|count| count as usize);
    let (min, max) = (count("minLength").unwrap_or(0), count("maxLength").unwrap_or(usize::MAX));
    let pattern = map.get("pattern").and_then(Value::as_str);
    let has_valid_length = |text: &String| (min..=max).contains(&text.chars().count());
    // Repeats quantifiers more often until the string is long enough.
    let matching = |pattern| {
        [0, 1, 2, 4, 8, 16, 32, min].map(|extra| regex_sample::matching_string(pattern, extra, nth))
    };
    if let Some(text) =
        pattern.and_then(|pattern| matching(pattern).into_iter().flatten().find(has_valid_length))
    {
        return text;
    }
    let format = map.get("format").and_then(Value::as_str).and_then(format_sample);
    let base64 =
        map.get("contentEncoding").is_some_and(|encoding| encoding == "base64").then_some("dGV4dA==");
    if let Some(text) = format.or(base64)
        && nth == 0
        && (min..=max).contains(&text.len())
    {
        return text.to_owned();
    }
    let number = if nth == 0 { String::new() } else { (nth + 1).to_string() };
    let mut text = format!("text{number}");
    while text.len() < min {
        text.push_str("text");
    }
    // Truncates the text before the number, so that strings stay distinct.
    let length = text.len().min(max).max(min.min(max));
    if text.len() > length {
        text = format!("{}{number}", &"text".repeat(length / 4 + 1)[..length.saturating_sub(number.len())]);
    }
    text
}

fn format_sample(format: &str) -> Option<&'static str> {
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
