//! Queries, typed by the parameters.
//!
//! Reading follows the parameter and not the looks of a value, so `tag=007` is text and `nums=1` is a list. Only an
//! untyped parameter is read by its looks. What is not declared is ignored; what does not fit is an [`Issue`], never a
//! default.

use serde_json::{Map, Number, Value};

use crate::ir::{ParamDef, ParamKind};
use crate::percent;
use crate::repair::Issue;

/// Reads a query into one object. Keys that no parameter has are ignored.
///
/// # Errors
/// Everything that does not fit, all at once.
pub fn decode_query(query: &str, params: &[ParamDef]) -> Result<Map<String, Value>, Vec<Issue>> {
    let mut issues = Vec::new();
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // A space may be written as `+`, as forms do; a plus is always written as %2B.
        let decoded = |text: &str| percent::decode(&text.replace('+', " "));
        let Some(key) = decoded(key) else { continue };
        match decoded(value) {
            Some(value) => pairs.push((key, value)),
            None if params.iter().any(|param| param.name == key) => {
                issues.push(Issue::at(&key, "is not percent-encoded text"));
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

/// Writes the values of the parameters as a query, in order of declaration, without the `?`.
///
/// A value that is missing or null, and a list that is empty, is not written.
///
/// # Errors
/// When a value does not fit its parameter.
pub fn encode_query(values: &Map<String, Value>, params: &[ParamDef]) -> Result<String, Issue> {
    let mut query = String::new();
    for param in params {
        for text in texts(param, values.get(&param.name))? {
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

/// Reads the texts that were given for a parameter: its default when there is none, nothing when it has no default.
///
/// # Errors
/// When a text does not fit, a required parameter has none, or one that is no list has several.
pub fn coerce(param: &ParamDef, texts: &[&str]) -> Result<Option<Value>, Issue> {
    match texts {
        [] if param.default.is_some() => Ok(param.default.clone()),
        [] if param.required && param.repeated => Ok(Some(Value::Array(Vec::new()))),
        [] if param.required => Err(Issue::at(&param.name, "is required")),
        [] => Ok(None),
        [text] if !param.repeated => one(param, text).map(Some),
        texts if param.repeated || param.kind == ParamKind::Any => {
            Ok(Some(texts.iter().map(|text| one(param, text)).collect::<Result<_, _>>()?))
        }
        _ => Err(Issue::at(&param.name, "must be given once")),
    }
}

impl ParamDef {
    /// Whether a value is one that the parameter could have been read as.
    pub fn takes(&self, value: &Value) -> bool {
        !value.is_null() && texts(self, Some(value)).is_ok()
    }
}

fn one(param: &ParamDef, text: &str) -> Result<Value, Issue> {
    let value = match &param.kind {
        ParamKind::Boolean => boolean(text),
        ParamKind::Integer => integer(text),
        ParamKind::Number => number(text),
        ParamKind::Text => Some(text.into()),
        ParamKind::Choice { values } => values.iter().any(|value| value == text).then(|| text.into()),
        ParamKind::Any => Some(by_looks(text)),
    };
    value.ok_or_else(|| Issue::at(&param.name, format!("got {text:?}")).expecting(param.kind.expected()))
}

fn boolean(text: &str) -> Option<Value> {
    text.parse::<bool>().ok().map(Value::Bool)
}

fn integer(text: &str) -> Option<Value> {
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

fn number(text: &str) -> Option<Value> {
    // Rust also reads `inf` and `nan`, which are no numbers of JSON.
    Number::from_f64(text.parse().ok()?).map(Value::Number)
}

/// A boolean, a whole number or a number when the text is how one is written, else text: `007` and `+1` are text.
fn by_looks(text: &str) -> Value {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.starts_with(|first: char| first.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0') || digits.starts_with("0."));
    let numeric = || if plain { integer(text).or_else(|| number(text)) } else { None };
    boolean(text).or_else(numeric).unwrap_or_else(|| text.into())
}

/// The texts that stand for a value: none when there is nothing to write.
pub(super) fn texts(param: &ParamDef, value: Option<&Value>) -> Result<Vec<String>, Issue> {
    let unfit = || Issue::at(&param.name, format!("must be {}", param.kind.expected()));
    let values: &[Value] = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(values)) if param.repeated || param.kind == ParamKind::Any => values,
        Some(_) if param.repeated => return Err(unfit()),
        Some(value) => std::slice::from_ref(value),
    };
    let text = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(unfit()),
        };
        let fits = match &param.kind {
            ParamKind::Any => true,
            ParamKind::Text | ParamKind::Choice { .. } => value.is_string() && one(param, &text).is_ok(),
            ParamKind::Boolean | ParamKind::Integer | ParamKind::Number => {
                !value.is_string() && one(param, &text).is_ok()
            }
        };
        if fits { Ok(text) } else { Err(unfit()) }
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
    fn a_query_is_typed_by_its_parameters() {
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
    fn an_untyped_parameter_is_read_by_its_looks() {
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
    fn everything_that_does_not_fit_is_told_at_once() {
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
    fn values_that_do_not_fit_are_not_written() {
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
    fn keys_are_written_in_order_of_declaration() {
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
        fn what_is_written_is_read_back(values in values()) {
            let query = encode_query(values.as_object().unwrap(), &params()).unwrap();
            prop_assert_eq!(decode_query(&query, &params()).map(Value::Object), Ok(values));
        }

        #[test]
        fn reading_never_panics(query in "[ -~é]{0,40}") {
            let _ = decode_query(&query, &params());
        }
    }
}
