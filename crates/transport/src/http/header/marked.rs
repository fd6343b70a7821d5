//! Parameters of a tool that its schema marks to be mirrored in headers.
//!
//! Invariants: a schema with one wrong mark has no valid marks; a mark counts only where `properties` alone lead to it,
//! so that its place in the arguments is certain. See spec 2026-07-28, basic/transports/streamable-http.

use std::collections::HashSet;
use std::fmt;

use ::http::HeaderMap;
use ::http::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::scalar::{Found, find};
use super::{Fault, Mismatch, PARAMETER_PREFIX, check_value, encode};

/// The keyword that marks a property.
pub const ANNOTATION: &str = "x-mcp-header";

/// The longest name of a mark.
const MAX_NAME: usize = 256;

/// Keywords whose value is one schema.
const ONE: [&str; 12] = [
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
const LIST: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords, besides `properties`, whose value is an object of schemas.
const OBJECT: [&str; 5] = ["patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// A parameter that is mirrored in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Marked {
    /// The header.
    pub header: HeaderName,
    /// The keys that lead to it in the arguments.
    pub path: Vec<String>,
}

/// Why the marks of a schema cannot be used. A client leaves out such a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invalid {
    /// What is wrong and where.
    pub reason: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Invalid {}

/// The parameters a tool's `inputSchema` marks.
///
/// ```
/// use switchboard::transport::http::header::{marked, mirror};
///
/// let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
/// let marked = marked(schema)?;
/// let headers = mirror(&marked, r#"{"region":"us-west1","query":"…"}"#);
/// assert_eq!((headers[0].0.as_str(), headers[0].1.as_bytes()), ("mcp-param-region", &b"us-west1"[..]));
/// # Ok::<(), switchboard::transport::http::header::Invalid>(())
/// ```
///
/// # Errors
/// When a mark is not a token, is used twice, stands at a property that is not a text, an integer or a boolean, or
/// stands where it cannot be certain which argument is meant.
pub fn marked(schema: &str) -> Result<Vec<Marked>, Invalid> {
    // Most tools mark nothing, and then the schema need not be read.
    if !schema.contains(ANNOTATION) && !schema.contains('\\') {
        return Ok(Vec::new());
    }
    let schema: Value = serde_json::from_str(schema)
        .map_err(|error| Invalid { reason: format!("the schema cannot be read: {error}") })?;
    let mut found = Vec::new();
    let mut names = HashSet::new();
    let root = Place { path: Vec::new(), certain: true };
    let mut rest = vec![(&schema, root)];
    while let Some((schema, place)) = rest.pop() {
        let Value::Object(schema) = schema else { continue };
        if let Some(mark) = schema.get(ANNOTATION) {
            let header = place.admit(schema, mark)?;
            if !names.insert(header.clone()) {
                return Err(place.invalid("the name is used twice, cases apart"));
            }
            found.push(Marked { header, path: place.path.clone() });
        }
        push_children(schema, &place, &mut rest);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Where a schema stands.
struct Place {
    path: Vec<String>,
    /// Whether `properties` alone lead here.
    certain: bool,
}

impl Place {
    fn invalid(&self, what: &str) -> Invalid {
        let place =
            if self.path.is_empty() { "the top".to_owned() } else { format!("`{}`", self.path.join(".")) };
        let reason: String = format!("{ANNOTATION} at {place}: {what}");
        Invalid {
            reason: reason.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(300).collect(),
        }
    }

    /// The header for a mark here.
    fn admit(&self, schema: &Map<String, Value>, mark: &Value) -> Result<HeaderName, Invalid> {
        if !self.certain || self.path.is_empty() {
            return Err(self.invalid("only properties within properties can be marked"));
        }
        if !is_simple(schema.get("type")) {
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

    fn elsewhere(&self) -> Self {
        Self { path: self.path.clone(), certain: false }
    }
}

/// One of the three types, also where `null` is allowed besides: that is what an optional argument often looks like.
fn is_simple(types: Option<&Value>) -> bool {
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

fn push_children<'a>(schema: &'a Map<String, Value>, place: &Place, rest: &mut Vec<(&'a Value, Place)>) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        rest.extend(properties.iter().map(|(name, schema)| (schema, place.property(name))));
    }
    let one = ONE.into_iter().filter_map(|keyword| schema.get(keyword));
    let list = LIST.into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
    let object =
        OBJECT.into_iter().filter_map(|keyword| schema.get(keyword)?.as_object()).flat_map(Map::values);
    rest.extend(one.chain(list).chain(object).map(|schema| (schema, place.elsewhere())));
}

/// The headers for these arguments, a JSON object. What is absent, `null` or not a simple value has none.
pub fn mirror(marked: &[Marked], arguments: &str) -> Vec<(HeaderName, HeaderValue)> {
    let header = |one: &Marked| match find(arguments, &one.path) {
        Found::Scalar(scalar) => Some((one.header.clone(), encode(&scalar.text()))),
        Found::Nothing | Found::Other | Found::Unreadable => None,
    };
    marked.iter().filter_map(header).collect()
}

/// Compares the headers of marked parameters with the arguments, a JSON object. Other headers are not looked at.
///
/// # Errors
/// When one does not agree; the text of the error can be sent to the client.
pub fn check_parameters(marked: &[Marked], headers: &HeaderMap, arguments: &str) -> Result<(), Mismatch> {
    for one in marked {
        match find(arguments, &one.path) {
            Found::Nothing => check_value(headers, &one.header, false, |_| false)?,
            Found::Scalar(scalar) => {
                check_value(headers, &one.header, true, |text| scalar.is_meant_by(text))?
            }
            // The schema refuses such an argument; a header that claims to say it is refused here.
            // Nothing that a header says could be held against it.
            Found::Unreadable => {
                return Err(Mismatch { header: one.header.clone(), fault: Fault::Different });
            }
            Found::Other if headers.contains_key(&one.header) => {
                return Err(Mismatch { header: one.header.clone(), fault: Fault::Different });
            }
            Found::Other => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
