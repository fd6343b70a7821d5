//! The headers that mirror a message: their names, how values are written, and how both sides use them.
//!
//! A value that is not plain visible ASCII is wrapped as `=?base64?…?=`. Policy never rests on a mirror: what counts is
//! the message, and a mirror that differs from it is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use switchboard_protocol::{ErrorCode, Raw, RpcError};

/// The protocol version of a message.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The session of a message (legacy era).
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The last event that was seen (legacy era).
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The method of a message.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What a message is about.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The beginning of the names of mirrored arguments.
pub const PARAM_PREFIX: &str = "mcp-param-";
/// The key of a property schema that asks for its value to be mirrored.
const MARK: &str = "x-mcp-header";

/// Writes a value for a header.
pub fn encode(text: &str) -> HeaderValue {
    let is_plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !looks_wrapped(text);
    let written = if is_plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::from_str(&written).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn looks_wrapped(text: &str) -> bool {
    text.starts_with("=?base64?") && text.ends_with("?=") && text.len() >= "=?base64??=".len()
}

/// Reads the value of a header; `None` when it is wrapped and what is inside is no text.
pub fn decode(value: &str) -> Option<String> {
    let value = value.trim_matches([' ', '\t']);
    if !looks_wrapped(value) {
        return Some(value.to_owned());
    }
    let inside = value.strip_prefix("=?base64?")?.strip_suffix("?=")?;
    String::from_utf8(STANDARD.decode(inside).ok()?).ok()
}

/// An argument of a tool that is mirrored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The name of its header.
    pub header: HeaderName,
    /// Where its value stands in the arguments.
    pub path: Vec<String>,
}

/// The arguments of a tool that are to be mirrored.
///
/// # Errors
/// Says what is wrong with a mark; such a tool must not be called over HTTP.
pub fn marked(schema: &Raw) -> Result<Vec<Marked>, String> {
    // Most schemas have no mark, and finding that out is one fast search.
    if memchr::memmem::find(schema.as_str().as_bytes(), MARK.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let schema: Value = schema.decode().map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    walk(&schema, &mut Vec::new(), Reach::Properties, &mut found)?;
    for (at, one) in found.iter().enumerate() {
        if found[..at].iter().any(|other| other.header == one.header) {
            return Err(format!("two properties are marked {:?}", one.header.as_str()));
        }
    }
    Ok(found)
}

/// Whether a place in a schema is reached through `properties` alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Properties,
    Otherwise,
}

fn walk(schema: &Value, path: &mut Vec<String>, reach: Reach, found: &mut Vec<Marked>) -> Result<(), String> {
    let Some(members) = schema.as_object() else {
        return schema
            .as_array()
            .into_iter()
            .flatten()
            .try_for_each(|inner| walk(inner, path, Reach::Otherwise, found));
    };
    if let Some(mark) = members.get(MARK) {
        if reach == Reach::Otherwise || path.is_empty() {
            return Err(format!("a mark stands where no single property is: {mark}"));
        }
        found.push(read_mark(mark, members, path)?);
    }
    for (key, inner) in members {
        match (key.as_str(), inner.as_object()) {
            ("properties", Some(properties)) if reach == Reach::Properties => {
                for (name, property) in properties {
                    path.push(name.clone());
                    walk(property, path, Reach::Properties, found)?;
                    path.pop();
                }
            }
            // What stands in data is no mark.
            (MARK | "default" | "const" | "enum" | "examples", _) => {}
            _ => walk(inner, path, Reach::Otherwise, found)?,
        }
    }
    Ok(())
}

fn read_mark(mark: &Value, property: &Map<String, Value>, path: &[String]) -> Result<Marked, String> {
    let name = mark.as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| format!("a mark must be a name, not {mark}"))?;
    let is_token =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    let header = HeaderName::from_bytes(format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase()).as_bytes());
    let (true, Ok(header)) = (is_token, header) else {
        return Err(format!("{name:?} is no name of a header"));
    };
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(Marked { header, path: path.to_vec() }),
        other => Err(format!(
            "the property marked {name:?} is of type {other:?}; only string, integer and boolean can be"
        )),
    }
}

/// The text of an argument for its header; `None` when it is absent, null, or cannot be one.
fn mirrored(arguments: &Value, path: &[String]) -> Option<String> {
    let value = path.iter().try_fold(arguments, |value, key| value.get(key))?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => {
            Some(whole(number).map_or_else(|| number.to_string(), |whole| whole.to_string()))
        }
        _ => None,
    }
}

fn whole(number: &serde_json::Number) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and within 2^53")]
    let of_float = |float: f64| (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64);
    number.as_i64().or_else(|| number.as_f64().and_then(of_float))
}

/// The headers that mirror the arguments of a call.
pub fn mirror(schema: &Raw, arguments: &Raw) -> Vec<(HeaderName, HeaderValue)> {
    let Ok(marks) = marked(schema) else { return Vec::new() };
    if marks.is_empty() {
        return Vec::new();
    }
    let arguments: Value = arguments.decode().unwrap_or_default();
    let value = |mark: &Marked| mirrored(&arguments, &mark.path).map(|text| encode(&text));
    marks.iter().filter_map(|mark| Some((mark.header.clone(), value(mark)?))).collect()
}

/// The member of the parameters that says what a request is about.
pub fn subject(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Checks that the headers of a request say what the request says.
///
/// # Errors
/// -32020, naming the header that is missing or differs.
pub fn check(
    headers: &HeaderMap,
    version: &str,
    method: &str,
    params: Option<&Raw>,
    schema: impl FnOnce(&str) -> Option<Raw>,
) -> Result<(), RpcError> {
    same(headers, &PROTOCOL_VERSION, version)?;
    same(headers, &METHOD, method)?;
    let Some(member) = subject(method) else { return Ok(()) };
    let params: Value = params.map(|params| params.decode().unwrap_or_default()).unwrap_or_default();
    let Some(name) = params.get(member).and_then(Value::as_str) else { return Ok(()) };
    same(headers, &NAME, name)?;
    if method != "tools/call" {
        return Ok(());
    }
    let Some(schema) = schema(name) else { return Ok(()) };
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    for mark in marked(&schema).unwrap_or_default() {
        if let Some(text) = mirrored(&arguments, &mark.path) {
            same(headers, &mark.header, &text)?;
        }
    }
    Ok(())
}

fn same(headers: &HeaderMap, name: &HeaderName, expected: &str) -> Result<(), RpcError> {
    let mismatch =
        |what: String| RpcError::new(ErrorCode::HEADER_MISMATCH, format!("Header mismatch: {what}"));
    let mut values = headers.get_all(name).iter();
    let value = values.next().ok_or_else(|| mismatch(format!("{name} is missing")))?;
    if values.next().is_some() {
        return Err(mismatch(format!("{name} stands twice")));
    }
    let found =
        value.to_str().ok().and_then(decode).ok_or_else(|| mismatch(format!("{name} is not readable")))?;
    let numbers = || Some(found.parse::<f64>().ok()? == expected.parse::<f64>().ok()?);
    let is_number = expected.parse::<i64>().is_ok();
    if found == expected || (is_number && numbers() == Some(true)) {
        return Ok(());
    }
    Err(mismatch(format!("{name} is {found:?}, and the message says {expected:?}")))
}
