//! Marks taken and refused, values mirrored and compared.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn paths(schema: &Value) -> Result<Vec<(String, String)>, String> {
    let found = mirrored_parameters(&schema.to_string()).map_err(|invalid| invalid.reason)?;
    Ok(found.into_iter().map(|one| (one.header.as_str().to_owned(), one.path.join("/"))).collect())
}

fn one(property: Value) -> Value {
    json!({"type": "object", "properties": {"p": property}})
}

#[test]
fn marks_are_found_through_properties() {
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": ["integer", "null"], "x-mcp-header": "X-Count!"},
        "deep": {"type": "object", "properties": {"er": {"type": "boolean", "x-mcp-header": "er"}}},
        // A property that has the keyword's name, and data that look like marks.
        "x-mcp-header": {"type": "string", "default": {"x-mcp-header": "no"}},
        "e": {"enum": [{"x-mcp-header": "no"}], "const": {"x-mcp-header": 1}, "examples": [{"x-mcp-header": ""}]},
        "any": true,
    }});
    let expected =
        [("mcp-param-x-count!", "count"), ("mcp-param-er", "deep/er"), ("mcp-param-region", "region")];
    let found = paths(&schema).unwrap();
    assert_eq!(found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>(), expected);
    assert_eq!(mirrored_parameters("true"), Ok(Vec::new()));
    assert_eq!(mirrored_parameters("not json"), Ok(Vec::new()));
}

#[test]
fn a_mark_written_with_escapes_is_a_mark() {
    let schema = r#"{"properties":{"p":{"type":"string","x\u002dmcp-header":"P"}}}"#;
    assert_eq!(mirrored_parameters(schema).unwrap().len(), 1);
}

#[test]
fn wrong_marks_are_refused_with_their_place() {
    let types = [
        json!("number"),
        json!("object"),
        json!("array"),
        json!("null"),
        json!(["string", "integer"]),
        json!([]),
    ];
    for kind in types {
        let error = paths(&one(json!({"type": kind, "x-mcp-header": "N"}))).unwrap_err();
        assert_eq!(error, "x-mcp-header at `p`: the type must be string, integer or boolean");
    }
    assert!(paths(&one(json!({"x-mcp-header": "N"}))).is_err());
    for name in ["", "a b", "a:b", "ä", "a\r\nb", "a\0", "a/b", "(a)", "\"a\"", "a\tb"] {
        assert!(paths(&one(json!({"type": "string", "x-mcp-header": name}))).is_err(), "{name:?}");
    }
    assert!(paths(&one(json!({"type": "string", "x-mcp-header": "n".repeat(300)}))).is_err());
    for name in [json!(1), json!(null), json!(true), json!(["N"]), json!({})] {
        assert!(paths(&one(json!({"type": "string", "x-mcp-header": name}))).is_err(), "{name}");
    }
}

#[test]
fn a_name_is_used_once_cases_apart() {
    for second in ["Name", "NAME"] {
        let schema = json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "Name"},
            "b": {"properties": {"c": {"type": "string", "x-mcp-header": second}}},
        }});
        assert!(paths(&schema).is_err(), "{second}");
    }
}

#[test]
fn marks_elsewhere_are_refused() {
    let mark = json!({"type": "string", "x-mcp-header": "N"});
    let object = json!({"properties": {"q": mark}});
    for keyword in SINGLE_SCHEMA {
        assert!(paths(&one(json!({keyword: object}))).is_err(), "{keyword}");
        assert!(paths(&json!({keyword: mark})).is_err(), "{keyword}");
    }
    for keyword in SCHEMA_LIST {
        assert!(paths(&json!({keyword: [true, object]})).is_err(), "{keyword}");
    }
    for keyword in SCHEMA_MAP {
        assert!(
            paths(&json!({keyword: {"k": object}, "properties": {"p": {"$ref": "#/$defs/k"}}})).is_err(),
            "{keyword}"
        );
    }
    assert!(paths(&mark).is_err(), "at the top");
}

#[test]
fn values_are_mirrored_as_text() {
    let names = ["s", "i", "b", "empty", "null", "absent", "float", "list", "deep"];
    let mut marks: Vec<MirroredParameter> = names
        .iter()
        .map(|name| MirroredParameter {
            header: HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).unwrap(),
            path: vec![(*name).to_owned()],
        })
        .collect();
    marks[8].path.push("er".into());
    let arguments = json!({
        "s": "a\r\nb", "i": -42.0, "b": true, "empty": "", "null": null, "float": 1.5, "list": [1], "deep": {"er": "x"}
    })
    .to_string();
    let headers = mirror(&marks, &arguments);
    let rows: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (&name.as_str()[10..], value.to_str().unwrap())).collect();
    let expected = [("s", "=?base64?YQ0KYg==?="), ("i", "-42"), ("b", "true"), ("empty", ""), ("deep", "x")];
    assert_eq!(rows, expected);
    let sent: HeaderMap = headers.into_iter().collect();
    assert_eq!(check_parameters(&marks, &sent, &arguments), Ok(()));
}

#[test]
fn the_server_compares_each_parameter() {
    let marks = mirrored_parameters(r#"{"properties":{"v":{"type":"string","x-mcp-header":"V"}}}"#).unwrap();
    let number =
        mirrored_parameters(r#"{"properties":{"v":{"type":"integer","x-mcp-header":"V"}}}"#).unwrap();
    type Case<'a> = (&'a [MirroredParameter], &'a str, &'a [&'a str], Option<HeaderFault>);
    let cases: &[Case<'_>] = &[
        (&marks, r#"{"v":"Hello"}"#, &["=?base64?SGVsbG8=?="], None),
        (&marks, r#"{"v":"Hello"}"#, &["Hello"], None),
        (
            &marks,
            r#"{"v":"Hello"}"#,
            &["=?base64?SGVsbG8?="],
            Some(HeaderFault::Unreadable(super::super::HeaderDecodeError::Base64)),
        ),
        (&marks, r#"{"v":"SGVsbG8="}"#, &["SGVsbG8="], None),
        (&marks, r#"{"v":"=?base64?SGVsbG8="}"#, &["=?base64?SGVsbG8="], None),
        (&marks, r#"{"v":"test-value"}"#, &[], Some(HeaderFault::Missing)),
        (&marks, r#"{"v":""}"#, &[], Some(HeaderFault::Missing)),
        (&marks, r#"{"v":""}"#, &[""], None),
        (&marks, r#"{"v":"a"}"#, &["A"], Some(HeaderFault::Different)),
        (&marks, r#"{"v":"a"}"#, &["a", "a"], Some(HeaderFault::Repeated)),
        (&marks, r#"{"v":null}"#, &[], None),
        (&marks, "{}", &[], None),
        (&marks, "{}", &["a"], Some(HeaderFault::Unexpected)),
        (&marks, r#"{"v":["a"]}"#, &["a"], Some(HeaderFault::Different)),
        (&marks, r#"{"v":["a"]}"#, &[], None),
        (&number, r#"{"v":42}"#, &["42.0"], None),
        (&number, r#"{"v":42.0}"#, &["42"], None),
        (&number, r#"{"v":42}"#, &["43"], Some(HeaderFault::Different)),
    ];
    for (marks, arguments, values, fault) in cases {
        let mut headers = HeaderMap::new();
        headers.append("mcp-param-other", HeaderValue::from_static("ignored"));
        for value in *values {
            headers.append("mcp-param-v", HeaderValue::from_str(value).unwrap());
        }
        let got = check_parameters(marks, &headers, arguments).err().map(|error| error.fault);
        assert_eq!(got, *fault, "{arguments} {values:?}");
    }
}

#[test]
fn s3_arguments_that_readers_read_differently_never_pass() {
    let marks = mirrored_parameters(
        r#"{"properties":{"v":{"type":"string","x-mcp-header":"V"},"o":{"properties":{"w":{"type":"string","x-mcp-header":"W"}}}}}"#,
    )
    .unwrap();
    for arguments in [
        r#"{"v":"\ud800"}"#,
        r#"{"v":"a","v":"b"}"#,
        r#"{"v":null,"\u0076":"b"}"#,
        r#"{"o":{"w":"a","w":"b"}}"#,
        r#"{"o":{},"o":{"w":"a"}}"#,
        "{",
    ] {
        for value in [None, Some("a"), Some("b"), Some("=?base64?77+9?=")] {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.append("mcp-param-v", HeaderValue::from_static(value));
            }
            assert!(check_parameters(&marks, &headers, arguments).is_err(), "{arguments} {value:?}");
        }
    }
    // What another member is called does not hide this one.
    let arguments = r#"{"\ud800":1,"v":"a"}"#;
    assert!(check_parameters(&marks, &HeaderMap::new(), arguments).is_err());
    let headers: HeaderMap = mirror(&marks, arguments).into_iter().collect();
    assert_eq!(check_parameters(&marks, &headers, arguments), Ok(()));
}

proptest! {
    #[test]
    fn what_a_client_mirrors_a_server_accepts(text in any::<String>(), number in any::<i64>(), flag in any::<bool>()) {
        let schema = json!({"properties": {
            "t": {"type": "string", "x-mcp-header": "T"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "o": {"properties": {"f": {"type": "boolean", "x-mcp-header": "F"}}},
        }});
        let marks = mirrored_parameters(&schema.to_string()).unwrap();
        let arguments = json!({"t": text, "n": number, "o": {"f": flag}}).to_string();
        let headers: HeaderMap = mirror(&marks, &arguments).into_iter().collect();
        prop_assert_eq!(headers.len(), 3);
        prop_assert_eq!(check_parameters(&marks, &headers, &arguments), Ok(()));
        let other = json!({"t": format!("{text}!"), "n": number, "o": {"f": flag}}).to_string();
        prop_assert!(check_parameters(&marks, &headers, &other).is_err());
    }

    #[test]
    fn no_name_gets_past_the_rules(name in any::<String>()) {
        let schema = one(json!({"type": "string", "x-mcp-header": name})).to_string();
        if let Ok(found) = mirrored_parameters(&schema) {
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(found[0].header.as_str(), format!("mcp-param-{}", name.to_ascii_lowercase()));
        }
    }
}
