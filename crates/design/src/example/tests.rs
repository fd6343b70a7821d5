//! Synthesized examples, checked by the validator.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::{Validator, ValidatorOptions, normalize_input, normalize_output};
use crate::tests::is_valid;

#[track_caller]
fn check(schema: Value, expected: Value) {
    let made = example(&schema, None);
    assert_eq!(made.value, expected, "{schema:#}");
    let validator = Validator::with_options(&schema, &ValidatorOptions::new().assert_formats(true)).unwrap();
    assert!(validator.is_valid(&made.value).unwrap(), "{} in {schema:#}", made.value);
}

#[test]
fn authored_examples_win_over_those_of_the_schema() {
    let schema = json!({"type": "integer", "examples": [true, 7], "default": 3});
    let of = |schema: &Value, authored: Option<&Value>| {
        let found = example(schema, authored);
        (found.value, found.origin)
    };
    assert_eq!(of(&schema, Some(&json!(1))), (json!(1), ExampleOrigin::Authored));
    assert_eq!(of(&schema, None), (json!(7), ExampleOrigin::Schema));
    assert_eq!(of(&json!({"type": "integer", "default": 3}), None), (json!(3), ExampleOrigin::Schema));
    assert_eq!(
        of(&json!({"type": "integer", "default": null}), None),
        (json!(1), ExampleOrigin::Synthesized)
    );
}

#[test]
fn scalars_are_within_their_bounds() {
    check(json!({"type": "integer"}), json!(1));
    check(json!({"type": "integer", "minimum": 5}), json!(5));
    check(json!({"type": "integer", "maximum": -5}), json!(-5));
    check(json!({"type": "integer", "exclusiveMinimum": 5}), json!(6));
    check(json!({"type": "integer", "minimum": 5, "multipleOf": 4}), json!(8));
    check(json!({"type": "integer", "minimum": -3, "maximum": 3, "multipleOf": 5}), json!(0));
    check(
        json!({"type": "integer", "minimum": 9_223_372_036_854_775_808u64}),
        json!(9_223_372_036_854_775_808u64),
    );
    check(json!({"type": "number"}), json!(1));
    check(json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5));
    check(json!({"type": "number", "minimum": 0.25, "maximum": 0.25}), json!(0.25));
    check(json!({"type": "number", "multipleOf": 0.5, "exclusiveMinimum": 1, "maximum": 1.5}), json!(1.5));
    check(json!({"type": "string", "minLength": 6}), json!("texttext"));
    check(json!({"type": "string", "maxLength": 2}), json!("te"));
    check(json!({"type": "string", "format": "uuid"}), json!("123e4567-e89b-12d3-a456-426614174000"));
    check(json!({"type": "string", "pattern": "^[A-Z]{2}-\\d+$", "minLength": 6}), json!("AA-111"));
    check(json!({"type": "boolean"}), json!(true));
    check(json!({"enum": ["b", "a"]}), json!("b"));
    check(json!({"const": null}), Value::Null);
    check(json!({"type": ["null", "string"]}), Value::Null);
    check(json!({}), json!("text"));
    for format in [
        "date-time",
        "date",
        "time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "uuid",
        "json-pointer",
        "relative-json-pointer",
        "regex",
        "uri-template",
    ] {
        let schema = json!({"type": "string", "format": format});
        let validator =
            Validator::with_options(&schema, &ValidatorOptions::new().assert_formats(true)).unwrap();
        assert!(validator.is_valid(&example(&schema, None).value).unwrap(), "{format}");
    }
}

#[test]
fn objects_and_arrays_have_only_required_members() {
    check(
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}),
        json!({"a": "text"}),
    );
    check(
        json!({"type": "object", "minProperties": 2, "properties": {"a": {"type": "null"}}}),
        json!({"a": null, "key1": "text"}),
    );
    check(json!({"type": "array", "items": {"type": "integer"}}), json!([1]));
    check(
        json!({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": true}),
        json!([1, 2, 3]),
    );
    check(
        json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true}),
        json!(["text", "text2"]),
    );
    check(
        json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": true}),
        json!(["a", "b"]),
    );
    check(
        json!({"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "integer"}], "minItems": 2, "maxItems": 2}),
        json!([true, 1]),
    );
    check(json!({"type": "array", "items": false}), json!([]));
    check(json!({"anyOf": [false, {"type": "integer"}]}), json!(1));
    check(json!({"allOf": [{"type": "integer", "minimum": 2}, {"minimum": 4}]}), json!(4));
    check(
        json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
        ]}),
        json!({"kind": "a"}),
    );
}

#[test]
fn recursion_is_bounded() {
    check(
        json!({
            "$ref": "#/$defs/Tree",
            "$defs": {"Tree": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
                "required": ["name", "children"],
            }},
        }),
        json!({"name": "text", "children": [{"name": "text", "children": []}]}),
    );
    let endless = json!({"$ref": "#/$defs/A", "$defs": {"A": {
        "type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"],
    }}});
    assert_eq!(example(&endless, None).value, Value::Null);
}

#[test]
fn the_design_returns_repairs() {
    let design = crate::tests::sample::assistant();
    let repair = design.repair_tool("search_knowledge", "is wrong").unwrap();
    assert_eq!(repair.example, json!({"query": "text"}));
    assert!(repair.schema.unwrap()["$defs"].get("Filter").is_some());
    let repair = design.repair_prompt("contextual_prompts", "is wrong").unwrap();
    assert_eq!(repair.example, json!({"context": "text"}));
    assert_eq!(
        repair.prompt(),
        "\nOperation: prompts/get:contextual_prompts\n\
         Schema: {\"additionalProperties\":false,\"properties\":{\"context\":{\"description\":\"Where we are\",\
         \"type\":\"string\"},\"task\":{\"enum\":[\"write\",\"fix\"],\"type\":\"string\"}},\
         \"required\":[\"context\"],\"type\":\"object\"}\n\
         Error: is wrong\n\
         Redo the operation now with valid parameters.\n\
         Use only valid schema fields and ensure required fields and types/enums are valid.\n\
         Example params: {\"context\":\"text\"}"
    );
    assert_eq!(design.repair_tool("none", ""), None);
    for tool in &design.tools {
        let schema = design.types.bundle(&tool.args.schema);
        assert!(is_valid(&schema, &design.tool_example(tool).value), "{}", tool.name);
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0usize..6, 0usize..6).prop_map(|(min, extra)| {
            json!({"type": "string", "minLength": min, "maxLength": min + extra})
        }),
        (-9i64..9, 0i64..9).prop_map(|(min, extra)| {
            json!({"type": "integer", "minimum": min, "maximum": min + extra, "format": "int64"})
        }),
        (-9i64..9, 1i64..5)
            .prop_map(|(min, step)| json!({"type": "integer", "exclusiveMinimum": min, "multipleOf": step})),
        (-9.0f64..9.0, 0.1f64..3.0).prop_map(|(min, extra)| {
            json!({"type": "number", "exclusiveMinimum": min, "exclusiveMaximum": min + extra})
        }),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["string", "null"], "default": null})),
        Just(json!({"const": "fixed"})),
        Just(json!({"oneOf": [{"const": "a", "description": "A."}, {"const": "b"}]})),
        Just(json!(true)),
        proptest::collection::vec(any::<i8>(), 1..4).prop_map(|values| json!({"enum": values})),
    ]
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[a-d]", (inner, any::<bool>()), 0..4).prop_map(|members| {
        let required: Vec<&String> =
            members.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let properties: Map<String, Value> =
            members.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
        json!({"type": "object", "title": "T", "properties": properties, "required": required})
    })
}

fn schema() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            object(inner.clone()),
            (inner.clone(), 0usize..3, 0usize..3).prop_map(|(items, min, extra)| {
                json!({"type": "array", "items": items, "minItems": min, "maxItems": min + extra})
            }),
            inner.clone().prop_map(|schema| json!({"anyOf": [schema, {"type": "null"}]})),
            (inner.clone(), inner).prop_map(|(one, other)| json!({"anyOf": [one, other]})),
        ]
    })
}

/// A strategy for schemas of objects.
pub(crate) fn random_object() -> impl Strategy<Value = Value> {
    object(schema())
}

/// Whether a schema has a keyword that some clients reject, at any depth.
fn has_rejected_keywords(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let properties = map.get("properties").and_then(Value::as_object);
            map.contains_key("const")
                || map.get("type").is_some_and(Value::is_array)
                || properties.is_some_and(|properties| properties.values().any(Value::is_boolean))
                || map
                    .iter()
                    .any(|(key, value)| key != "enum" && key != "default" && has_rejected_keywords(value))
        }
        Value::Array(items) => items.iter().any(has_rejected_keywords),
        _ => false,
    }
}

proptest! {
    #[test]
    fn an_example_is_valid(schema in schema()) {
        let made = example(&schema, None);
        prop_assert!(is_valid(&schema, &made.value), "{} in {:#}", made.value, schema);
        prop_assert_eq!(example(&schema, None), made);
    }

    #[test]
    fn values_valid_for_a_normalized_input_are_valid_for_the_type(schema in object(schema())) {
        let listed = normalize_input(schema.clone()).unwrap();
        prop_assert!(Validator::new(&listed).is_ok(), "{:#}", listed);
        prop_assert_eq!(&listed["type"], "object");
        prop_assert!(listed["properties"].is_object());
        prop_assert!(!has_rejected_keywords(&listed), "{:#}", listed);
        prop_assert_eq!(normalize_input(listed.clone()).unwrap(), listed.clone());
        let made = example(&listed, None).value;
        prop_assert!(is_valid(&listed, &made), "{} in {:#}", made, listed);
        prop_assert!(is_valid(&schema, &made), "{} in {:#}", made, schema);
    }

    #[test]
    fn values_valid_for_a_type_are_valid_for_its_normalized_output(schema in schema()) {
        let listed = normalize_output(schema.clone());
        prop_assert!(Validator::new(&listed).is_ok(), "{:#}", listed);
        prop_assert!(!has_rejected_keywords(&listed), "{:#}", listed);
        prop_assert_eq!(normalize_output(listed.clone()), listed.clone());
        let made = example(&schema, None).value;
        prop_assert!(is_valid(&listed, &made), "{} in {:#}", made, listed);
    }

    #[test]
    fn issues_agree_with_the_validator(schema in schema(), other in schema()) {
        let value = example(&other, None).value;
        let found = crate::schema::validation_issues(&schema, &value);
        prop_assert_eq!(found.is_empty(), is_valid(&schema, &value), "{} {:#} {:?}", value, schema, found);
    }
}
