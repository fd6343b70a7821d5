//! Compares the scanner with `serde_json`.

use proptest::prelude::*;

use super::*;

#[test]
fn agrees_with_serde_json_on_edges() {
    let cases = [
        "0",
        "-0",
        "01",
        "1.",
        ".5",
        "1e5",
        "1e",
        "-",
        "--1",
        "NaN",
        "Infinity",
        "true",
        "tru",
        "truee",
        "null",
        "\"\"",
        "\"a\nb\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12G4\"",
        "\"\u{0}\"",
        "[]",
        "[1,]",
        "[,1]",
        "{}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{'a':1}",
        "{\"a\":1}//",
        "[1 2]",
        "[[[[]]]]",
        "{\"a\":[{}]}",
        " 1 ",
        "",
        " ",
        "]",
        "[}",
        "{]",
        "[1}",
        "{\"a\":1]",
        "1 2",
        "\"abc",
        "\u{feff}1",
    ];
    for case in cases {
        let ours = check(case.as_bytes());
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(case);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{case:?}: {ours:?} and {theirs:?}");
    }
}

#[test]
fn depth_is_bounded_without_recursion() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert_eq!(check(nested(MAX_DEPTH).as_bytes()), Ok(()));
    for n in [MAX_DEPTH + 1, 10_000, 1_000_000] {
        assert_eq!(check(nested(n).as_bytes()).unwrap_err().kind(), SyntaxErrorKind::TooDeep);
    }
}

#[test]
fn nodes_are_counted() {
    for (text, nodes) in
        [("1", 1), ("[]", 1), ("[[]]", 2), ("[1,\"a,b\",{}]", 4), (r#"{"a":[1,2],"b":"c"}"#, 5)]
    {
        assert_eq!(count_nodes(text.as_bytes()), nodes, "{text}");
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::hash_map(".*", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn accepts_whatever_serde_writes(value in json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert_eq!(check(text.as_bytes()), Ok(()));
    }

    #[test]
    fn agrees_with_serde_json_on_damaged_text(value in json(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        text[at] = byte;
        // Bytes that are not UTF-8 are rejected before the scan; the range of numbers is not checked.
        prop_assume!(std::str::from_utf8(&text).is_ok());
        let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(&text).is_ok();
        prop_assert_eq!(check(&text).is_ok(), theirs, "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn never_panics_on_junk(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = check(&bytes);
        let _ = count_nodes(&bytes);
    }
}
