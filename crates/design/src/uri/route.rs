//! From a URI to the arguments of a resource, and back.
//!
//! Invariant: what [`Route::encode`] writes, [`Route::decode`] reads back as the same values; what could not be read back
//! is not written.

use serde_json::{Map, Value};

use super::address::ResourceUri;
use super::pattern::{PatternError, UriPattern};
use super::query::{coerce, decode_query, encode_query, texts};
use crate::ir::{ParamDef, ResourceDef};
use crate::repair::Issue;

/// How the URIs of one resource carry its arguments.
///
/// ```
/// use serde_json::json;
/// use switchboard::design::{ParamDef, ParamKind, ResourceDef, Route};
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
/// # Ok::<(), switchboard::design::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    pattern: UriPattern,
    path: Vec<ParamDef>,
    query: Vec<ParamDef>,
}

/// Arguments that no URI of the resource can carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A value does not fit its parameter.
    #[error("{0}")]
    Unfit(Issue),
    /// A variable of the path has no value.
    #[error("the URI needs a value for `{0}`")]
    Missing(String),
    /// The URI would be read as something else: a variable is empty, `.` or `..`, or holds the text that should end it.
    #[error("no URI of `{0}` can carry these values")]
    Ambiguous(String),
}

impl ResourceDef {
    /// The pattern of its URIs: as written, and with a query for the parameters that are not in it.
    ///
    /// # Errors
    /// When the URI is not a pattern.
    pub fn pattern(&self) -> Result<UriPattern, PatternError> {
        let pattern: UriPattern = self.uri.parse()?;
        Ok(pattern.with_query(self.params.iter().map(|param| (param.name.as_str(), param.repeated))))
    }
}

impl Route {
    /// How the URIs of this resource carry its arguments.
    ///
    /// # Errors
    /// When its URI is not a pattern.
    pub fn new(resource: &ResourceDef) -> Result<Self, PatternError> {
        let pattern = resource.pattern()?;
        let in_path = |param: &ParamDef| pattern.path_variables().any(|name| name == param.name);
        let (path, query) = resource.params.iter().cloned().partition(in_path);
        Ok(Self { pattern, path, query })
    }

    /// The pattern, with its query.
    pub fn pattern(&self) -> &UriPattern {
        &self.pattern
    }

    /// Whether it can be read at its fixed URI, without arguments.
    pub fn is_plain(&self) -> bool {
        let needed = |param: &ParamDef| param.required && !param.repeated && param.default.is_none();
        self.pattern.fixed().is_some() && !self.query.iter().any(needed)
    }

    /// The arguments in a URI; nothing when it is not one of this resource.
    ///
    /// # Errors
    /// Everything that does not fit, all at once.
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

    /// The URI that carries these arguments; those that are no parameters are left out.
    ///
    /// # Errors
    /// When no URI can carry them.
    pub fn encode(&self, values: &Map<String, Value>) -> Result<String, EncodeError> {
        let given = |name: &str| {
            let missing = || EncodeError::Missing(name.to_owned());
            let param = self.path.iter().find(|param| param.name == name).ok_or_else(missing)?;
            let mut texts = texts(param, values.get(name)).map_err(EncodeError::Unfit)?;
            if texts.len() > 1 {
                return Err(EncodeError::Ambiguous(self.pattern.to_string()));
            }
            texts.pop().ok_or_else(missing)
        };
        let base = self.pattern.write_base(given)?;
        let ambiguous = || EncodeError::Ambiguous(self.pattern.to_string());
        let uri: ResourceUri = base.parse().map_err(|_| ambiguous())?;
        let read = self.pattern.captures(&uri).ok_or_else(ambiguous)?;
        for (name, text) in read {
            if given(name)? != text {
                return Err(ambiguous());
            }
        }
        let query = encode_query(values, &self.query).map_err(EncodeError::Unfit)?;
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
    fn what_would_be_read_as_something_else_is_not_written() {
        let ambiguous = |values| matches!(encode(&files(), values), Err(EncodeError::Ambiguous(_)));
        assert!(ambiguous(json!({"area": 1, "path": "../2/secret"})));
        assert!(ambiguous(json!({"area": 1, "path": "a/./b"})));
        assert!(ambiguous(json!({"area": 1, "path": ""})));
        assert_eq!(encode(&files(), json!({"area": 1})), Err(EncodeError::Missing("path".into())));
        assert!(matches!(encode(&files(), json!({"area": "1", "path": "a"})), Err(EncodeError::Unfit(_))));
        let named = route(
            "x://{name}.{kind}",
            [ParamDef::new("name", ParamKind::Text), ParamDef::new("kind", ParamKind::Text)],
        );
        assert!(encode(&named, json!({"name": "a", "kind": "tar.gz"})).is_ok());
        assert!(encode(&named, json!({"name": "a.tar", "kind": "gz"})).is_err());
    }

    #[test]
    fn plain_is_what_needs_no_arguments() {
        let limit = ParamDef::new("limit", ParamKind::Integer);
        assert!(route("doc://list", []).is_plain());
        assert!(route("doc://list", [limit.clone()]).is_plain());
        assert!(!route("doc://list", [limit.clone().with_required(true)]).is_plain());
        assert!(!route("doc://{limit}", [limit]).is_plain());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(area in any::<i64>(), path in "(\\PC|/){1,12}", tag in proptest::collection::vec("\\PC*", 0..3)) {
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
