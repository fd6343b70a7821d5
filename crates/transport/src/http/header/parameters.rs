//! Tool parameters that the input schema annotates to be mirrored in headers.
//!
//! Invariants: a schema with one invalid annotation has no valid ones; an annotation is valid only if its path consists
//! of `properties`, so that its position in the arguments is certain.
//! See spec 2026-07-28, basic/transports/streamable-http.

use std::collections::HashSet;
use std::fmt;

use ::http::HeaderMap;
use ::http::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::scalar::{Lookup, find};
use super::{HeaderFault, HeaderMismatch, PARAMETER_PREFIX, check_value, encode};

/// The annotation keyword.
pub const ANNOTATION: &str = "x-mcp-header";

/// The longest name in an annotation.
const MAX_NAME: usize = 256;

/// Keywords whose value is one schema.
const SINGLE_SCHEMA: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords whose value is a list of schemas.
const SCHEMA_LIST: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords, besides `properties`, whose value is an object of schemas.
const SCHEMA_MAP: [&str; 5] =
    ["patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// A parameter that is mirrored in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirroredParameter {
    /// The header.
    pub header: HeaderName,
    /// The path of keys in the arguments.
    pub path: Vec<String>,
}

/// The error of invalid header annotations in a schema. Clients leave out tools with such a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidAnnotation {
    /// The error and its place in the schema, for display.
    pub reason: String,
}

impl fmt::Display for InvalidAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for InvalidAnnotation {}

/// Returns the parameters that an `inputSchema` annotates.
///
/// ```
/// use switchboard::transport::http::header::{mirror, mirrored_parameters};
///
/// let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
/// let marked = mirrored_parameters(schema)?;
/// let headers = mirror(&marked, r#"{"region":"us-west1","query":"…"}"#);
/// assert_eq!((headers[0].0.as_str(), headers[0].1.as_bytes()), ("mcp-param-region", &b"us-west1"[..]));
/// # Ok::<(), switchboard::transport::http::header::InvalidAnnotation>(())
/// ```
///
/// # Errors
/// When an annotation is not a token, is a duplicate, is on a property that is not a string, integer or boolean, or is in
/// a subschema whose position in the arguments is not certain.
pub fn mirrored_parameters(schema: &str) -> Result<Vec<MirroredParameter>, InvalidAnnotation> {
    // Most schemas have no annotation and need not be parsed.
    if !schema.contains(ANNOTATION) && !schema.contains('\\') {
        return Ok(Vec::new());
    }
    let schema: Value = serde_json::from_str(schema)
        .map_err(|error| InvalidAnnotation { reason: format!("the schema cannot be read: {error}") })?;
    let mut found = Vec::new();
    let mut names = HashSet::new();
    let root = SchemaPosition { path: Vec::new(), certain: true };
    let mut rest = vec![(&schema, root)];
    while let Some((schema, position)) = rest.pop() {
        let Value::Object(schema) = schema else { continue };
        if let Some(mark) = schema.get(ANNOTATION) {
            let header = position.header_name(schema, mark)?;
            if !names.insert(header.clone()) {
                return Err(position.invalid("the name is used twice, cases apart"));
            }
            found.push(MirroredParameter { header, path: position.path.clone() });
        }
        push_children(schema, &position, &mut rest);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The position of a subschema.
struct SchemaPosition {
    path: Vec<String>,
    /// Whether the path consists of `properties` only.
    certain: bool,
}

impl SchemaPosition {
    fn invalid(&self, what: &str) -> InvalidAnnotation {
        let position =
            if self.path.is_empty() { "the top".to_owned() } else { format!("`{}`", self.path.join(".")) };
        let reason: String = format!("{ANNOTATION} at {position}: {what}");
        InvalidAnnotation {
            reason: reason.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(300).collect(),
        }
    }

    /// Returns the header name of an annotation at this position.
    fn header_name(
        &self,
        schema: &Map<String, Value>,
        mark: &Value,
    ) -> Result<HeaderName, InvalidAnnotation> {
        if !self.certain || self.path.is_empty() {
            return Err(self.invalid("only properties within properties can be marked"));
        }
        if !is_mirrored_type(schema.get("type")) {
            return Err(self.invalid("the type must be string, integer or boolean"));
        }
        let name = mark.as_str().ok_or_else(|| self.invalid("the name is not a string"))?;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fits) {
            return Err(self.invalid("the name is empty, too long, or holds a character no header name has"));
        }
        let header = format!("{PARAMETER_PREFIX}{}", name.to_ascii_lowercase());
        HeaderName::from_bytes(header.as_bytes()).map_err(|_| self.invalid("the name is not a header name"))
    }

    fn property(&self, name: &str) -> Self {
        let path = self.path.iter().cloned().chain([name.to_owned()]).collect();
        Self { path, certain: self.certain }
    }

    fn uncertain(&self) -> Self {
        Self { path: self.path.clone(), certain: false }
    }
}

/// Returns whether the type is string, integer or boolean, optionally with `null`.
fn is_mirrored_type(types: Option<&Value>) -> bool {
    let simple = |name: &Value| matches!(name.as_str(), Some("string" | "integer" | "boolean"));
    match types {
        Some(Value::Array(types)) => {
            let mut others = types.iter().filter(|name| name.as_str() != Some("null"));
            others.next().is_some_and(simple) && others.next().is_none()
        }
        Some(name) => simple(name),
        None => false,
    }
}

fn push_children<'a>(
    schema: &'a Map<String, Value>,
    position: &SchemaPosition,
    rest: &mut Vec<(&'a Value, SchemaPosition)>,
) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        rest.extend(properties.iter().map(|(name, schema)| (schema, position.property(name))));
    }
    let one = SINGLE_SCHEMA.into_iter().filter_map(|keyword| schema.get(keyword));
    let list = SCHEMA_LIST.into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
    let object =
        SCHEMA_MAP.into_iter().filter_map(|keyword| schema.get(keyword)?.as_object()).flat_map(Map::values);
    rest.extend(one.chain(list).chain(object).map(|schema| (schema, position.uncertain())));
}

/// Returns the headers for these arguments, a JSON object. Absent, `null` and compound values have none.
pub fn mirror(marked: &[MirroredParameter], arguments: &str) -> Vec<(HeaderName, HeaderValue)> {
    let header = |one: &MirroredParameter| match find(arguments, &one.path) {
        Lookup::Scalar(scalar) => Some((one.header.clone(), encode(&scalar.text()))),
        Lookup::Nothing | Lookup::Other | Lookup::Unreadable => None,
    };
    marked.iter().filter_map(header).collect()
}

/// Compares the headers of mirrored parameters with the arguments, a JSON object. Other headers are ignored.
///
/// # Errors
/// When one differs; the text of the error can be sent to the client.
pub fn check_parameters(
    marked: &[MirroredParameter],
    headers: &HeaderMap,
    arguments: &str,
) -> Result<(), HeaderMismatch> {
    for one in marked {
        match find(arguments, &one.path) {
            Lookup::Nothing => check_value(headers, &one.header, false, |_| false)?,
            Lookup::Scalar(scalar) => {
                check_value(headers, &one.header, true, |text| scalar.matches_text(text))?
            }
            // The argument is ambiguous, so no header can match it.
            Lookup::Other if !headers.contains_key(&one.header) => {}
            Lookup::Other | Lookup::Unreadable => {
                return Err(HeaderMismatch { header: one.header.clone(), fault: HeaderFault::Different });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
