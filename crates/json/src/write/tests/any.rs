//! Property tests: random values give the same bytes as `serde_json`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::{Shown, ours, theirs};

fn any_text() -> impl Strategy<Value = String> {
    let mixed = prop_oneof![
        4 => prop::char::range(' ', '~'),
        1 => prop::char::range('\0', '\u{1f}'),
        1 => prop_oneof![Just('"'), Just('\\'), Just('/'), Just('\u{7f}')],
        1 => any::<char>(),
    ];
    prop_oneof![
        prop::collection::vec(mixed, 0..200).prop_map(String::from_iter),
        "[a-z\n\"é]{0,200}",
        "[a-z]{0,12}",
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any_text().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::hash_map(any_text(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_gives_the_same_bytes(value in any_json()) {
        prop_assert_eq!(ours(&value), theirs(&value));
    }

    #[test]
    fn any_text_gives_the_same_bytes(parts in prop::collection::vec(any_text(), 0..4)) {
        let shown: Vec<&str> = parts.iter().map(String::as_str).collect();
        prop_assert_eq!(ours(&Shown(&shown)), theirs(&Shown(&shown)));
        let keyed: BTreeMap<_, _> = parts.iter().map(|part| (part, part)).collect();
        prop_assert_eq!(ours(&keyed), theirs(&keyed));
    }

    #[test]
    fn any_number_gives_the_same_bytes(double: f64, single: f32, bits: u64, long: i128) {
        let numbers = (double, single, f64::from_bits(bits), bits as i64, bits as u16, bits as i8, long);
        prop_assert_eq!(ours(&numbers), theirs(&numbers));
    }
}
