//! Parsing, rejection and naming of flags.

use serde_json::json;

use super::*;
use crate::tests::sample::assistant;

fn flags(properties: Value, required: &[&str]) -> Vec<Flag> {
    let schema = json!({"type": "object", "properties": properties, "required": required,
        "$defs": {"Lang": {"type": "string", "enum": ["python", "javascript"]}}});
    let tool = ToolDef::new("t", "T").with_args(ArgsDef::new(schema).unwrap());
    let design = Design::new("d", "1").with_tools([tool]).with_pooled_types();
    design.tool_flags(&design.tools[0])
}

fn flag(schema: Value) -> Flag {
    flags(json!({ "x": schema }), &[]).remove(0)
}

#[test]
fn text_is_parsed_by_the_type_of_the_argument() {
    let cases = [
        (json!({"type": "string"}), "007", json!("007")),
        (json!({"type": "integer"}), "-3", json!(-3)),
        (json!({"type": "integer"}), "18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        (json!({"type": "number"}), "1.5", json!(1.5)),
        (json!({"type": "boolean"}), "no", json!(false)),
        (json!({"type": "string", "enum": ["a", "b"]}), "b", json!("b")),
        (json!({"enum": [1, 2]}), "2", json!(2)),
        (json!({"$ref": "#/$defs/Lang"}), "python", json!("python")),
        (json!({"type": "array", "items": {"$ref": "#/$defs/Lang"}}), "python", json!("python")),
        (json!({"type": "array", "items": {"type": "integer"}}), "4", json!(4)),
        (json!({"type": "object", "properties": {"a": {"type": "integer"}}}), r#"{"a":1}"#, json!({"a": 1})),
        (json!({}), "[1]", json!([1])),
        (json!({}), "words", json!("words")),
        (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), "5", json!(5)),
    ];
    for (schema, text, expected) in cases {
        assert_eq!(flag(schema.clone()).parse(text), Ok(expected), "{schema} {text}");
    }
}

#[test]
fn invalid_text_is_rejected_with_a_reason() {
    let cases = [
        (json!({"type": "integer"}), "1.5", "a whole number is needed"),
        (json!({"type": "integer", "minimum": 1}), "0", "must be at least 1; got 0"),
        (json!({"type": "number"}), "nan", "a number is needed"),
        (json!({"type": "boolean"}), "maybe", "true or false is needed"),
        (json!({"type": "string", "minLength": 2}), "a", "at least 2 characters"),
        (json!({"type": "string", "enum": ["a", "b"]}), "c", "one of a, b is needed"),
        (json!({"type": "object"}), "{", "not JSON"),
        (json!({"type": "object"}), "[]", "object"),
    ];
    for (schema, text, expected) in cases {
        let message = flag(schema.clone()).parse(text).unwrap_err();
        assert!(message.contains(expected), "{schema} {text}: {message}");
    }
}

#[test]
fn flags_are_in_order_of_declaration() {
    let design = assistant();
    let flags = design.tool_flags(&design.tools[1]);
    let listed: Vec<_> =
        flags.iter().map(|flag| (flag.long.as_str(), flag.required, flag.default().cloned())).collect();
    assert_eq!(listed, [("query", true, None), ("limit", false, Some(json!(10))), ("filter", false, None)]);
    assert_eq!(flags[2].kind, FlagKind::Json);
    let nums = &design.resources[2].flags()[2];
    assert_eq!((nums.repeated, nums.parse("1.5")), (true, Ok(json!(1.5))));
}

#[test]
fn command_names_of_tools_are_unique() {
    let tools = ["list", "getUser", "get_user", "get-user", "plain"].map(|name| ToolDef::new(name, "T"));
    let design = Design::new("d", "1").with_tools(tools);
    assert_eq!(
        design.tool_commands(),
        ["tool-list", "get-user", "tool-get-user", "tool-get-user-2", "plain"]
    );
}

#[test]
fn shell_lines_are_quoted() {
    let flags = flags(
        json!({"b": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"},
            "o": {"type": "object"}, "text": {"type": "string"}}),
        &[],
    );
    let arguments = json!({"b": true, "list": ["a b", "c"], "n": -1, "o": {"k": "it's"}, "text": ""});
    assert_eq!(
        shell_line("do", &flags, arguments.as_object().unwrap()),
        r#"do --b --list 'a b' --list c --n=-1 --o '{"k":"it'\''s"}' --text ''"#
    );
}
