//! Excerpts of a document: single tables, without the rest, which may hold secrets.

use toml::{Table, Value};

/// Returns a document with one table of another document, in a form that does not depend on how it was written; `None` if
/// there is no such table.
pub(super) fn excerpt(text: &str, key: &str) -> Option<String> {
    let root: Table = toml::from_str(text).ok()?;
    let mut document = format!("{} = ", quoted(key));
    write_value(root.get(key)?, &mut document);
    Some(document)
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&quoted(text)),
        Value::Integer(number) => out.push_str(&number.to_string()),
        // With a point or an exponent, so that it stays a float.
        Value::Float(number) => out.push_str(&format!("{number:?}").replace("NaN", "nan")),
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Datetime(time) => out.push_str(&time.to_string()),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_value(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Table(members) => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&quoted(key));
                out.push('=');
                write_value(value, out);
            }
            out.push('}');
        }
    }
}

/// Returns a text as a basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control.is_control() => out.push_str(&format!("\\U{:08X}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::String),
            any::<i64>().prop_map(Value::Integer),
            any::<f64>().prop_filter("equal to itself", |number| !number.is_nan()).prop_map(Value::Float),
            any::<bool>().prop_map(Value::Boolean),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|members| Value::Table(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn an_excerpt_is_read_as_it_was_written(value in value()) {
            let mut text = String::from("a = ");
            write_value(&value, &mut text);
            let parsed: Table = toml::from_str(&text).unwrap();
            prop_assert_eq!(&parsed["a"], &value);
        }
    }

    #[test]
    fn the_rest_of_the_document_is_left_out() {
        let text = "[policy]\ndefault = \"deny\"\n[[policy.rule]]\neffect = \"allow\"\n[servers.a]\nenv = { T = \"s3cret\" }\n";
        let policy = excerpt(text, "policy").unwrap();
        assert_eq!(policy, r#""policy" = {"default"="deny","rule"=[{"effect"="allow",},]}"#);
        assert_eq!(excerpt(text, "views"), None);
    }
}
