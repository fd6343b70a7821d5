//! Compares the writer with `serde_json`, the reference.

mod any;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::Raw;

fn ours<T: Serialize + ?Sized>(value: &T) -> Result<String, String> {
    let mut out = String::new();
    write(&mut out, value).map(|()| out).map_err(|error| error.to_string())
}

fn theirs<T: Serialize + ?Sized>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

#[track_caller]
fn same<T: Serialize + ?Sized>(value: &T) {
    assert_eq!(ours(value), theirs(value));
}

#[track_caller]
fn same_text<T: Serialize + ?Sized>(value: &T, text: &str) {
    assert_eq!(ours(value).as_deref(), Ok(text));
    same(value);
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Wrapped<T>(T);

#[derive(Serialize)]
struct Pair(u8, String);

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Point,
    #[serde(rename = "a \"b\"\n")]
    Odd,
    Circle(u32),
    Line(u32, u32),
    Empty(),
    Box {
        #[serde(rename = "w\\")]
        width: u32,
        height: Option<u32>,
    },
    Void {},
}

fn shapes() -> Vec<Shape> {
    use Shape::*;
    vec![Point, Odd, Circle(1), Line(2, 3), Empty(), Box { width: 4, height: None }, Void {}]
}

#[derive(Serialize)]
struct Zoo<'a> {
    unit: (),
    unit_struct: Unit,
    newtype: Wrapped<&'a str>,
    pair: Pair,
    nothing: Nothing,
    shapes: Vec<Shape>,
    some: Option<i8>,
    none: Option<i8>,
    tuple: (bool, char, f32),
    array: [u16; 3],
    empty: [u16; 0],
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u8>,
    #[serde(flatten)]
    flat: BTreeMap<&'a str, Value>,
    floats: [f64; 9],
    large: (i128, u128, i64, u64),
    bytes: Bytes<'a>,
    shown: Shown<'a>,
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shown<'a>(&'a [&'a str]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| f.write_str(part))
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn zoo() -> Zoo<'static> {
    Zoo {
        unit: (),
        unit_struct: Unit,
        newtype: Wrapped("in \u{1f600}"),
        pair: Pair(255, "\u{7f}\u{80}".into()),
        nothing: Nothing {},
        shapes: shapes(),
        some: Some(i8::MIN),
        none: None,
        tuple: (true, '"', 0.1),
        array: [0, 1, u16::MAX],
        empty: [],
        left_out: None,
        flat: BTreeMap::from([("\t", json!({"a": [null, false]})), ("", json!(1.5))]),
        floats: [0.0, -0.0, 1.0, 1e16, 1e-7, f64::MAX, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY],
        large: (i128::MIN, u128::MAX, i64::MIN, u64::MAX),
        bytes: Bytes(&[0, 10, 255]),
        shown: Shown(&["a\"", "", "\n\u{1}", "é"]),
    }
}

#[test]
fn every_kind_of_value_gives_the_same_text_as_serde_json() {
    same(&zoo());
    same_text(&shapes()[5], r#"{"Box":{"w\\":4,"height":null}}"#);
    same_text(&Bytes(&[]), "[]");
    same_text(&f32::NAN, "null");
    same_text(&'\u{0}', r#""\u0000""#);
    same_text(&None::<()>, "null");
}

#[test]
fn characters_are_escaped_as_in_serde_json_at_every_offset() {
    for character in (0..0x180).filter_map(char::from_u32) {
        for before in [0, 1, 7, 8, 9, 23, 24, 25, 56, 70] {
            same(&format!("{}{character}{character}é", "x".repeat(before)));
        }
    }
}

#[test]
fn scalar_keys_become_strings() {
    macro_rules! same_keys {
        ($($key:expr),* $(,)?) => {$( same(&BTreeMap::from([($key, 1)])); )*};
    }
    same_keys!["a\"", String::new(), 'c', '\n', true, Some("some"), Wrapped("new"), Wrapped(Wrapped(1_u8))];
    same_keys![i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN];
    same_keys![u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX];
    same_keys![Shape::Point, Shape::Odd, Shown(&["x", "\\"])];
    same(&Entry(0.5_f32));
    same(&Entry(1e300_f64));
}

#[test]
fn other_keys_are_rejected_with_the_same_message() {
    macro_rules! refused_keys {
        ($($key:expr),* $(,)?) => {$(
            assert_eq!(ours(&Entry($key)).unwrap_err(), "key must be a string");
            same(&Entry($key));
        )*};
    }
    refused_keys![vec![1], (), (1, 2), None::<u8>, Unit, Pair(1, String::new()), Bytes(b"a"), Nothing {}];
    refused_keys![Shape::Circle(1), Shape::Line(1, 2), Shape::Void {}, json!({}), Raw::null()];
    for float in [f64::NAN, f64::INFINITY] {
        assert!(ours(&Entry(float)).is_err());
        same(&Entry(float));
        same(&Entry(float as f32));
    }
}

/// A map with one key, of any type.
struct Entry<T>(T);

impl<T: Serialize> Serialize for Entry<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(&self.0, 1)])
    }
}

#[test]
fn an_error_of_a_serialize_implementation_is_returned() {
    struct Fails;
    impl Serialize for Fails {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("not today"))
        }
    }
    assert_eq!(ours(&[Some(Fails)]).unwrap_err(), "not today");
    struct Unshown;
    impl Serialize for Unshown {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(self)
        }
    }
    impl fmt::Display for Unshown {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }
    assert!(ours(&Unshown).is_err());
}

#[derive(Serialize)]
struct Holder<'a, T> {
    before: u8,
    held: &'a T,
    after: &'a str,
}

#[test]
fn raw_text_is_embedded_byte_for_byte() {
    let text = r#"{ "a" : 1e999, "b":"\ud800\/" }"#;
    let expected = format!(r#"{{"k":[{{"before":1,"held":{text},"after":"\n"}}]}}"#);
    // Fails when `serde_json` no longer announces a `RawValue` by the name under which it asks for one.
    let theirs: &RawValue = serde_json::from_str(text).unwrap();
    same_text(&BTreeMap::from([("k", [Holder { before: 1, held: &theirs, after: "\n" }])]), &expected);
    let raw = Raw::parse(text).unwrap();
    same_text(&BTreeMap::from([("k", [Holder { before: 1, held: &raw, after: "\n" }])]), &expected);
    same_text(&raw, text);
}

/// A `RawValue` as a later `serde_json` may write it.
struct Renamed(&'static str);

impl Serialize for Renamed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("RenamedRawValue", 1)?;
        fields.serialize_field("renamed", self.0)?;
        fields.end()
    }
}

#[test]
fn s11_raw_text_does_not_depend_on_the_token_of_serde_json() {
    struct Later(&'static str);
    impl Serialize for Later {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_newtype_struct(crate::write::OWN_TOKEN, &Renamed(self.0))
        }
    }
    let text = r#"{ "a" : 1e999 }"#;
    assert_eq!(ours(&[Later(text)]).unwrap(), format!("[{text}]"));
    // Should it become something else than one text, writing fails; nothing wrong is written.
    struct Changed;
    impl Serialize for Changed {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_newtype_struct(crate::write::OWN_TOKEN, &[1, 2])
        }
    }
    assert!(ours(&Changed).is_err());
    // These fail when `serde_json` no longer writes its own as one field, or no longer passes a newtype by.
    let raw = Raw::parse(text).unwrap();
    assert_eq!(ours(&[&raw]).unwrap(), format!("[{text}]"));
    assert_eq!(serde_json::to_string(&[&raw]).unwrap(), format!("[{text}]"));
}

#[test]
fn the_token_of_serde_json_is_learned() {
    assert!(!serde_json_raw_token().is_empty());
}

#[test]
fn raw_text_is_not_parsed_again() {
    // Fails when `serde_json` no longer takes checked text as it is; then `Raw` parses it, which is slow but right.
    assert_eq!(as_raw_value("{ not even JSON }").map(RawValue::get), Some("{ not even JSON }"));
}

#[test]
fn raw_text_reaches_other_serializers() {
    let raw = Raw::parse(r#"{"a": [1, "x"]}"#).unwrap();
    assert_eq!(serde_json::to_value(&raw).unwrap(), json!({"a": [1, "x"]}));
    assert_eq!(serde_json::to_string_pretty(&[&raw]).unwrap(), "[\n  {\"a\": [1, \"x\"]}\n]");
}

/// A struct with a name that `serde_json` may take for one of its own, and one field of that name.
struct Named<T>(&'static str, T);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct(self.0, 1)?;
        fields.serialize_field(self.0, &self.1)?;
        fields.end()
    }
}

#[test]
fn structs_with_private_names_are_written_as_by_serde_json() {
    // With its feature `arbitrary_precision` this is a number, without it an object.
    same(&Named("$serde_json::private::Number", "1.50"));
    same(&Named(serde_json_raw_token(), "[1, 2]"));
    same(&Named(serde_json_raw_token(), 1));
    same(&Named(serde_json_raw_token(), vec![1]));
    same(&Named("$serde_json::private::Else", "1"));
    same(&Named("$", Some("1")));
    same(&serde_json::from_str::<Value>("[1.50, 123456789012345678901234567890, -0, 1e3]").unwrap());
}
