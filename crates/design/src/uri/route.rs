//! [`Route`]: converts between the URI of a resource and its arguments.
//!
//! Invariant: [`Route::decode`] returns the values that were passed to [`Route::encode`]; values for which this would not
//! hold are rejected by `encode`.

use serde_json::{Map, Value};

use super::pattern::{PatternError, UriPattern};
use super::query::{coerce, decode_query, encode_query, encode_values};
use super::resource_uri::ResourceUri;
use crate::ir::{ParamDef, ResourceDef};
use crate::repair::Issue;

/// The mapping between the URIs of one resource and its arguments.
///
/// ```
/// use serde_json::json;
/// use switchboard::service::design::{ParamDef, ParamKind, ResourceDef, Route};
///
/// let history = ResourceDef::new("history", "conversation://{id}/history", "What was said").with_params([
///     ParamDef::new("id", ParamKind::Text).with_required(true),
///     ParamDef::new("limit", ParamKind::Integer),
/// ]);
/// let route = Route::new(&history)?;
/// let arguments = json!({"id": "a/b", "limit": 3});
/// let uri = route.encode(arguments.as_object().expect("an object")).expect("it fits");
/// assert_eq!(uri, "conversation://a%2Fb/history?limit=3");
/// let read = route.decode(&uri.parse().expect("a URI")).expect("it matches").expect("it is typed");
/// assert_eq!(json!(read), arguments);
/// # Ok::<(), switchboard::service::design::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    pattern: UriPattern,
    path: Vec<ParamDef>,
    query: Vec<ParamDef>,
}

/// The error of encoding arguments as a URI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A value is invalid for its parameter.
    #[error("{0}")]
    InvalidValue(Issue),
    /// A path variable has no value.
    #[error("the URI needs a value for `{0}`")]
    Missing(String),
    /// The URI would decode to other values: a variable is empty, `.` or `..`, or contains the text that follows it.
    #[error("no URI of `{0}` can represent these values")]
    Ambiguous(String),
}

impl ResourceDef {
    /// Returns the pattern of the URIs: the declared one, with a query for the parameters that it lacks.
    ///
    /// # Errors
    /// When the URI is not a valid pattern.
    pub fn pattern(&self) -> Result<UriPattern, PatternError> {
        let pattern: UriPattern = self.uri.parse()?;
        Ok(pattern.with_query(self.params.iter().map(|param| (param.name.as_str(), param.repeated))))
    }
}

impl Route {
    /// Creates the route of a resource.
    ///
    /// # Errors
    /// When its URI is not a valid pattern.
    pub fn new(resource: &ResourceDef) -> Result<Self, PatternError> {
        let pattern = resource.pattern()?;
        let in_path = |param: &ParamDef| pattern.path_variables().any(|name| name == param.name);
        let (path, query) = resource.params.iter().cloned().partition(in_path);
        Ok(Self { pattern, path, query })
    }

    /// Returns the pattern with its query.
    pub fn pattern(&self) -> &UriPattern {
        &self.pattern
    }

    /// Returns whether the resource can be read at a fixed URI without arguments.
    pub fn needs_no_arguments(&self) -> bool {
        let needed = |param: &ParamDef| param.required && !param.repeated && param.default.is_none();
        self.pattern.fixed_uri().is_some() && !self.query.iter().any(needed)
    }

    /// Decodes the arguments in a URI; `None` if the URI does not match the pattern.
    ///
    /// # Errors
    /// Returns all issues.
    pub fn decode(&self, uri: &ResourceUri) -> Option<Result<Map<String, Value>, Vec<Issue>>> {
        let captures = self.pattern.captures(uri)?;
        let (mut values, mut issues) = match decode_query(uri.query(), &self.query) {
            Ok(values) => (values, Vec::new()),
            Err(issues) => (Map::new(), issues),
        };
        for param in &self.path {
            let text = captures.iter().find(|(name, _)| *name == param.name).map(|(_, text)| text.as_str());
            match coerce(param, text.as_slice()) {
                Ok(value) => values.extend(value.map(|value| (param.name.clone(), value))),
                Err(issue) => issues.push(issue),
            }
        }
        Some(if issues.is_empty() { Ok(values) } else { Err(issues) })
    }

    /// Encodes arguments as a URI. Arguments that are not parameters are ignored.
    ///
    /// # Errors
    /// When no URI can represent them.
    pub fn encode(&self, values: &Map<String, Value>) -> Result<String, EncodeError> {
        let value = |name: &str| {
            let missing = || EncodeError::Missing(name.to_owned());
            let param = self.path.iter().find(|param| param.name == name).ok_or_else(missing)?;
            let mut texts = encode_values(param, values.get(name)).map_err(EncodeError::InvalidValue)?;
            if texts.len() > 1 {
                return Err(EncodeError::Ambiguous(self.pattern.to_string()));
            }
            texts.pop().ok_or_else(missing)
        };
        let base = self.pattern.write_base(value)?;
        let ambiguous = || EncodeError::Ambiguous(self.pattern.to_string());
        let uri: ResourceUri = base.parse().map_err(|_| ambiguous())?;
        let read = self.pattern.captures(&uri).ok_or_else(ambiguous)?;
        for (name, text) in read {
            if value(name)? != text {
                return Err(ambiguous());
            }
        }
        let query = encode_query(values, &self.query).map_err(EncodeError::InvalidValue)?;
        Ok(if query.is_empty() { base } else { format!("{base}?{query}") })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::ir::ParamKind;

    fn route(uri: &str, params: impl Into<Vec<ParamDef>>) -> Route {
        Route::new(&ResourceDef::new("r", uri, "A resource").with_params(params.into())).unwrap()
    }

    fn files() -> Route {
        route(
            "file:///{area}/{+path}",
            [
                ParamDef::new("area", ParamKind::Integer).with_required(true),
                ParamDef::new("path", ParamKind::Text).with_required(true),
                ParamDef::new("tag", ParamKind::Text).with_repeated(true).with_required(true),
            ],
        )
    }

    fn encode(route: &Route, values: Value) -> Result<String, EncodeError> {
        route.encode(values.as_object().unwrap())
    }

    #[test]
    fn path_variables_are_typed_too() {
        let read = files().decode(&"file:///7/a/b.md?tag=x".parse().unwrap()).unwrap().unwrap();
        assert_eq!(json!(read), json!({"area": 7, "path": "a/b.md", "tag": ["x"]}));
        let issues = files().decode(&"file:///x/a".parse().unwrap()).unwrap().unwrap_err();
        assert_eq!(issues[0].to_string(), "`area` must be a whole number; got \"x\"");
        assert_eq!(files().decode(&"file:///7".parse().unwrap()), None);
    }

    #[test]
    fn ambiguous_values_are_not_encoded() {
        let ambiguous = |values| matches!(encode(&files(), values), Err(EncodeError::Ambiguous(_)));
        assert!(ambiguous(json!({"area": 1, "path": "../2/secret"})));
        assert!(ambiguous(json!({"area": 1, "path": "a/./b"})));
        assert!(ambiguous(json!({"area": 1, "path": ""})));
        assert_eq!(encode(&files(), json!({"area": 1})), Err(EncodeError::Missing("path".into())));
        assert!(matches!(
            encode(&files(), json!({"area": "1", "path": "a"})),
            Err(EncodeError::InvalidValue(_))
        ));
        let named = route(
            "x://{name}.{kind}",
            [ParamDef::new("name", ParamKind::Text), ParamDef::new("kind", ParamKind::Text)],
        );
        assert!(encode(&named, json!({"name": "a", "kind": "tar.gz"})).is_ok());
        assert!(encode(&named, json!({"name": "a.tar", "kind": "gz"})).is_err());
    }

    #[test]
    fn a_fixed_uri_needs_no_arguments() {
        let limit = ParamDef::new("limit", ParamKind::Integer);
        assert!(route("doc://list", []).needs_no_arguments());
        assert!(route("doc://list", [limit.clone()]).needs_no_arguments());
        assert!(!route("doc://list", [limit.clone().with_required(true)]).needs_no_arguments());
        assert!(!route("doc://{limit}", [limit]).needs_no_arguments());
    }

    proptest! {
        #[test]
        fn encoded_values_decode_to_the_same_values(area in any::<i64>(), path in "(\\PC|/){1,12}", tag in proptest::collection::vec("\\PC*", 0..3)) {
            let values = json!({"area": area, "path": path, "tag": tag});
            if let Ok(uri) = encode(&files(), values.clone()) {
                let read = files().decode(&uri.parse().unwrap()).unwrap().unwrap();
                prop_assert_eq!(Value::Object(read), values);
            } else {
                prop_assert!(path.split('/').any(|segment| segment == "." || segment == ".."));
            }
        }
    }
}
