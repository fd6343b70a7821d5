//! Encodes and decodes query strings by the declared parameters.
//!
//! The type of a value is that of its parameter, so `tag=007` is a string and `nums=1` is a list; it is inferred only for
//! untyped parameters. Unknown keys are ignored. An invalid value is an [`Issue`], never replaced by a default.

use serde_json::{Map, Number, Value};

use crate::ir::{ParamDef, ParamKind};
use crate::percent;
use crate::repair::Issue;

/// Decodes a query to an object. Unknown keys are ignored.
///
/// # Errors
/// Returns all issues.
pub fn decode_query(query: &str, params: &[ParamDef]) -> Result<Map<String, Value>, Vec<Issue>> {
    let mut issues = Vec::new();
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // Forms encode a space as `+` and a plus as `%2B`.
        let decoded = |text: &str| percent::decode(&text.replace('+', " "));
        let Some(key) = decoded(key) else { continue };
        match decoded(value) {
            Some(value) => pairs.push((key, value)),
            None if params.iter().any(|param| param.name == key) => {
                issues.push(Issue::for_member(&key, "is not percent-encoded text"));
            }
            None => {}
        }
    }
    let mut values = Map::new();
    for param in params {
        let texts: Vec<&str> =
            pairs.iter().filter(|(key, _)| *key == param.name).map(|(_, value)| value.as_str()).collect();
        if issues.iter().any(|issue| issue.pointer == format!("/{}", param.name)) {
            continue;
        }
        match coerce(param, &texts) {
            Ok(Some(value)) => drop(values.insert(param.name.clone(), value)),
            Ok(None) => {}
            Err(issue) => issues.push(issue),
        }
    }
    if issues.is_empty() { Ok(values) } else { Err(issues) }
}

/// Encodes values as a query in order of declaration, without the `?`.
///
/// Absent values, nulls and empty lists are omitted.
///
/// # Errors
/// When a value is invalid for its parameter.
pub fn encode_query(values: &Map<String, Value>, params: &[ParamDef]) -> Result<String, Issue> {
    let mut query = String::new();
    for param in params {
        for text in encode_values(param, values.get(&param.name))? {
            if !query.is_empty() {
                query.push('&');
            }
            percent::encode(&param.name, &mut query);
            query.push('=');
            percent::encode(&text, &mut query);
        }
    }
    Ok(query)
}

/// Converts the texts of a parameter to its value. Without texts, returns the default or `None`.
///
/// # Errors
/// When a text is invalid, a required parameter is absent, or a parameter that is not a list has several texts.
pub fn coerce(param: &ParamDef, texts: &[&str]) -> Result<Option<Value>, Issue> {
    match texts {
        [] if param.default.is_some() => Ok(param.default.clone()),
        [] if param.required && param.repeated => Ok(Some(Value::Array(Vec::new()))),
        [] if param.required => Err(Issue::for_member(&param.name, "is required")),
        [] => Ok(None),
        [text] if !param.repeated => coerce_one(param, text).map(Some),
        texts if param.repeated || param.kind == ParamKind::Any => {
            Ok(Some(texts.iter().map(|text| coerce_one(param, text)).collect::<Result<_, _>>()?))
        }
        _ => Err(Issue::for_member(&param.name, "must be given once")),
    }
}

impl ParamDef {
    /// Returns whether a value is valid for the parameter.
    pub fn accepts(&self, value: &Value) -> bool {
        !value.is_null() && encode_values(self, Some(value)).is_ok()
    }
}

fn coerce_one(param: &ParamDef, text: &str) -> Result<Value, Issue> {
    let value = match &param.kind {
        ParamKind::Boolean => parse_boolean(text),
        ParamKind::Integer => parse_integer(text),
        ParamKind::Number => parse_number(text),
        ParamKind::Text => Some(text.into()),
        ParamKind::Choice { values } => values.iter().any(|value| value == text).then(|| text.into()),
        ParamKind::Any => Some(infer(text)),
    };
    value.ok_or_else(|| {
        Issue::for_member(&param.name, format!("got {text:?}")).with_expected(param.kind.expected())
    })
}

fn parse_boolean(text: &str) -> Option<Value> {
    text.parse::<bool>().ok().map(Value::Bool)
}

pub(crate) fn parse_integer(text: &str) -> Option<Value> {
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

pub(crate) fn parse_number(text: &str) -> Option<Value> {
    // Rust also parses `inf` and `nan`, which JSON does not have.
    Number::from_f64(text.parse().ok()?).map(Value::Number)
}

/// Infers a boolean, an integer or a number if the text is its JSON form; a string otherwise: `007` and `+1` are strings.
fn infer(text: &str) -> Value {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.starts_with(|first: char| first.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0') || digits.starts_with("0."));
    let numeric = || if plain { parse_integer(text).or_else(|| parse_number(text)) } else { None };
    parse_boolean(text).or_else(numeric).unwrap_or_else(|| text.into())
}

/// Returns the texts of a value; empty for an absent value or null.
pub(super) fn encode_values(param: &ParamDef, value: Option<&Value>) -> Result<Vec<String>, Issue> {
    let invalid = || Issue::for_member(&param.name, format!("must be {}", param.kind.expected()));
    let values: &[Value] = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(values)) if param.repeated || param.kind == ParamKind::Any => values,
        Some(_) if param.repeated => return Err(invalid()),
        Some(value) => std::slice::from_ref(value),
    };
    let text = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(invalid()),
        };
        let fits = match &param.kind {
            ParamKind::Any => true,
            ParamKind::Text | ParamKind::Choice { .. } => {
                value.is_string() && coerce_one(param, &text).is_ok()
            }
            ParamKind::Boolean | ParamKind::Integer | ParamKind::Number => {
                !value.is_string() && coerce_one(param, &text).is_ok()
            }
        };
        if fits { Ok(text) } else { Err(invalid()) }
    };
    values.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn param(name: &str, kind: ParamKind) -> ParamDef {
        ParamDef::new(name, kind)
    }

    fn params() -> Vec<ParamDef> {
        vec![
            param("limit", ParamKind::Integer).with_default(20),
            param("flag", ParamKind::Boolean),
            param("nums", ParamKind::Number).with_repeated(true).with_required(true),
            param("q", ParamKind::Text),
            param("tag", ParamKind::Text).with_repeated(true),
            param("sort", ParamKind::Choice { values: vec!["up".into(), "down".into()] }),
            param("any", ParamKind::Any),
        ]
    }

    #[test]
    fn query_values_have_the_types_of_the_parameters() {
        for (query, expected) in [
            ("", json!({"limit": 20, "nums": []})),
            ("limit=3", json!({"limit": 3, "nums": []})),
            ("limit=007", json!({"limit": 7, "nums": []})),
            ("nums=1", json!({"limit": 20, "nums": [1.0]})),
            ("nums=1&nums=2.5", json!({"limit": 20, "nums": [1.0, 2.5]})),
            ("q=007", json!({"limit": 20, "nums": [], "q": "007"})),
            ("q=true", json!({"limit": 20, "nums": [], "q": "true"})),
            ("q=", json!({"limit": 20, "nums": [], "q": ""})),
            ("q", json!({"limit": 20, "nums": [], "q": ""})),
            ("q=a+b%2Bc%2Fd", json!({"limit": 20, "nums": [], "q": "a b+c/d"})),
            ("q=a=b", json!({"limit": 20, "nums": [], "q": "a=b"})),
            ("tag=", json!({"limit": 20, "nums": [], "tag": [""]})),
            ("flag=true&sort=up&other=%zz&&", json!({"limit": 20, "nums": [], "flag": true, "sort": "up"})),
            ("%66lag=false", json!({"limit": 20, "nums": [], "flag": false})),
        ] {
            assert_eq!(decode_query(query, &params()).map(Value::Object), Ok(expected), "{query}");
        }
    }

    #[test]
    fn the_type_of_an_untyped_parameter_is_inferred() {
        for (text, expected) in [
            ("true", json!(true)),
            ("false", json!(false)),
            ("True", json!("True")),
            ("0", json!(0)),
            ("-5", json!(-5)),
            ("18446744073709551615", json!(u64::MAX)),
            ("007", json!("007")),
            ("+1", json!(" 1")),
            ("%2B1", json!("+1")),
            ("1.5", json!(1.5)),
            ("0.5", json!(0.5)),
            ("1e3", json!(1000.0)),
            ("1e999", json!("1e999")),
            ("inf", json!("inf")),
            (".5", json!(".5")),
            ("", json!("")),
            ("1&any=x&any=true", json!([1, "x", true])),
        ] {
            let read = decode_query(&format!("any={text}"), &[param("any", ParamKind::Any)]).unwrap();
            assert_eq!(read["any"], expected, "{text}");
        }
    }

    #[test]
    fn all_issues_are_reported_at_once() {
        let mut params = params();
        params.push(param("id", ParamKind::Text).with_required(true));
        let query = "limit=x&limit=2&flag=1&nums=nan&sort=left&q=%zz&tag=a";
        let issues = decode_query(query, &params).unwrap_err();
        let lines: Vec<String> = issues.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "`q` is not percent-encoded text",
                "`limit` must be given once",
                "`flag` must be true or false; got \"1\"",
                "`nums` must be a number; got \"nan\"",
                "`sort` must be one of up, down; got \"left\"",
                "`id` is required",
            ]
        );
        assert!(decode_query("limit=", &params).unwrap_err()[0].message.contains("\"\""));
    }

    #[test]
    fn invalid_values_are_not_encoded() {
        for (name, value) in [
            ("limit", json!("3")),
            ("limit", json!(1.5)),
            ("q", json!(7)),
            ("nums", json!(1)),
            ("sort", json!("left")),
            ("any", json!({"a": 1})),
        ] {
            let values = Map::from_iter([(name.to_owned(), value)]);
            assert_eq!(encode_query(&values, &params()).unwrap_err().pointer, format!("/{name}"));
        }
    }

    #[test]
    fn keys_are_encoded_in_order_of_declaration() {
        let values = json!({"tag": ["b", "a"], "q": "a b+/&=é", "flag": true, "limit": 3, "nums": [1.0]});
        let query = encode_query(values.as_object().unwrap(), &params()).unwrap();
        assert_eq!(query, "limit=3&flag=true&nums=1.0&q=a%20b%2B%2F%26%3D%C3%A9&tag=b&tag=a");
    }

    fn values() -> impl Strategy<Value = Value> {
        let number = any::<f64>().prop_filter("a number of JSON", |number| number.is_finite());
        (
            any::<i64>(),
            proptest::option::of(any::<bool>()),
            proptest::collection::vec(number, 0..4),
            proptest::option::of(any::<String>()),
            proptest::collection::vec(any::<String>(), 1..4),
            proptest::option::of(prop_oneof![Just("up"), Just("down")]),
        )
            .prop_map(|(limit, flag, nums, q, tag, sort)| {
                let mut value = json!({"limit": limit, "nums": nums, "tag": tag});
                let optional = [
                    ("flag", flag.map(Value::from)),
                    ("q", q.map(Into::into)),
                    ("sort", sort.map(Into::into)),
                ];
                for (name, given) in optional {
                    if let Some(given) = given {
                        value[name] = given;
                    }
                }
                value
            })
    }

    proptest! {
        #[test]
        fn encoded_values_decode_to_the_same_values(values in values()) {
            let query = encode_query(values.as_object().unwrap(), &params()).unwrap();
            prop_assert_eq!(decode_query(&query, &params()).map(Value::Object), Ok(values));
        }

        #[test]
        fn decoding_never_panics(query in "[ -~é]{0,40}") {
            let _ = decode_query(&query, &params());
        }
    }
}
