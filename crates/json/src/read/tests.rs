//! Compares decoding with `serde_json`.

use proptest::prelude::*;

use super::*;
use crate::unescape::unescape;

fn read<T: FromRaw>(text: &str) -> Option<T> {
    T::from_raw(&Raw::parse(text.to_owned()).unwrap()).ok()
}

/// Generates the inside of a string literal: plain text, escapes, surrogate pairs and lone surrogates.
fn string_body() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z \u{80}-\u{7ff}\u{1f600}-\u{1f64f}]{0,40}",
        Just(r"\n".to_owned()),
        Just(r"\/".to_owned()),
        Just(r#"\""#.to_owned()),
        Just(r"\\".to_owned()),
        any::<u16>().prop_map(|unit| format!(r"\u{unit:04x}")),
        any::<char>().prop_map(|one| {
            let mut units = [0; 2];
            one.encode_utf16(&mut units).iter().map(|unit| format!(r"\u{unit:04X}")).collect::<String>()
        }),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn strings_decode_as_in_serde_json(inner in string_body()) {
        let text = format!("\"{inner}\"");
        let replaced = crate::surrogates::replace_lone_surrogates(&text).unwrap_or(text.clone());
        let decoded: String = serde_json::from_str(&replaced).unwrap();
        prop_assert_eq!(&unescape(&inner), &decoded);
        prop_assert_eq!(read::<String>(&text), Some(decoded));
    }

    #[test]
    fn numbers_decode_as_in_serde_json(number in prop_oneof![
        any::<f64>().prop_filter("JSON has finite numbers only", |number| number.is_finite()).prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
    ]) {
        prop_assert_eq!(read::<u64>(&number), serde_json::from_str(&number).ok());
        // `serde_json` reads `-0` as a float.
        prop_assume!(number != "-0");
        prop_assert_eq!(read::<i32>(&number), serde_json::from_str(&number).ok());
        let (ours, theirs) = (read::<f64>(&number), serde_json::from_str::<f64>(&number).ok());
        // `serde_json` rounds the last digit of some numbers differently.
        let close = |(a, b): (f64, f64)| (a - b).abs() <= 4.0 * f64::EPSILON * a.abs();
        prop_assert!(ours == theirs || ours.zip(theirs).is_some_and(close), "{:?} {:?}", ours, theirs);
    }
}

#[test]
fn a_lone_surrogate_decodes_to_the_replacement_character() {
    for (inner, decoded) in [
        (r"\ud83d\ude00", "\u{1f600}"),
        (r"\ud83d", "\u{fffd}"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (r"\ud83dx", "\u{fffd}x"),
        (r"\ud83d\n", "\u{fffd}\n"),
    ] {
        assert_eq!(unescape(inner), decoded, "{inner}");
    }
}

#[test]
fn a_value_of_another_type_is_rejected() {
    assert_eq!((read("true"), read("false")), (Some(true), Some(false)));
    for text in ["null", "1", "\"true\"", "{}"] {
        assert_eq!(read::<bool>(text), None, "{text}");
    }
    for text in ["\"1\"", "true", "null", "[1]", "1e999"] {
        assert_eq!((read::<u64>(text), read::<f64>(text)), (None, None), "{text}");
    }
    assert_eq!(read::<Vec<Option<u64>>>(" [1, null ,2] "), Some(vec![Some(1), None, Some(2)]));
    assert_eq!(read::<Vec<u64>>("{}"), None);
}

#[test]
fn an_error_quotes_a_long_value_shortened() {
    let text = format!("[\"{}\"]", "ä".repeat(1000));
    let error = Vec::<u64>::from_raw(&Raw::parse(text).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("invalid type: string \"ää") && error.len() < 200, "{error}");
    assert!(error.ends_with("…, expected u64 (at [0])"), "{error}");
}

#[test]
fn a_node_bomb_is_kept_as_text_but_not_decoded() {
    let bomb = format!("[{}0]", "0,".repeat(crate::MAX_NODES));
    let kind = |error: DecodeError| error.kind().clone();
    let too_many = crate::DecodeKind::TooManyNodes { nodes: crate::MAX_NODES + 2 };
    let raw = Raw::parse(bomb.clone()).unwrap();
    assert_eq!(kind(Vec::<u64>::from_raw(&raw).unwrap_err()), too_many);
    assert!(Raw::from_raw(&raw).is_ok());
}

#[test]
fn deserializing_a_raw_bounds_its_depth() {
    let deep = "[".repeat(crate::MAX_DEPTH + 1) + &"]".repeat(crate::MAX_DEPTH + 1);
    assert!(serde_json::from_str::<Raw>(&deep).is_err());
}

#[test]
fn a_lone_surrogate_in_a_key_decodes_to_the_replacement_character() {
    let text = r#"{"\ud800":1,"\\ud800":2}"#;
    let map = crate::OrderedMap::<u64>::from_raw(&Raw::parse(text).unwrap()).unwrap();
    assert_eq!(map.iter().collect::<Vec<_>>(), [("\u{fffd}", &1), ("\\ud800", &2)]);
}
