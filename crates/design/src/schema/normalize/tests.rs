//! Schemas before and after normalization.

use schemars::JsonSchema;
use serde_json::json;

use super::*;

#[track_caller]
fn check(schema: Value, expected: Value) {
    let listed = normalize_input(schema).unwrap();
    assert_eq!(listed, expected, "{listed:#}");
    assert_eq!(normalize_input(listed.clone()).unwrap(), listed, "a second pass changes nothing");
}

/// Like `check`, for one optional property.
#[track_caller]
fn check_property(schema: Value, expected: Value) {
    let around =
        |inner: Value| json!({"type": "object", "properties": {"p": inner}, "additionalProperties": false});
    check(around(schema), around(expected));
}

#[test]
fn the_root_is_a_plain_object() {
    let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    check(json!({"$schema": "x", "title": "Args", "type": "object"}), empty.clone());
    check(json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}, "B": {}}}), empty.clone());
    check(json!({"type": ["object", "null"]}), empty.clone());
    check(json!({"allOf": [{"type": "object"}]}), empty);
    check(json!(true), json!({"type": "object", "properties": {}, "additionalProperties": true}));
    let kept = json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}});
    check(kept.clone(), kept);
    for schema in
        [json!({"type": "string"}), json!({"enum": ["a"]}), json!(false), json!({"type": ["array", "null"]})]
    {
        assert!(normalize_input(schema.clone()).is_err(), "{schema}");
    }
}

#[test]
fn the_branches_of_a_choice_at_the_root_are_merged() {
    check(
        json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]},
        ]}),
        json!({
            "type": "object",
            "properties": {
                "kind": {"enum": ["a", "b"], "type": "string"},
                "x": {"type": "string"},
                "y": {"type": "integer"},
            },
            "required": ["kind"],
            "additionalProperties": false,
        }),
    );
}

#[test]
fn null_is_removed_from_optional_properties() {
    check_property(json!({"type": ["string", "null"], "default": null}), json!({"type": "string"}));
    check_property(
        json!({"anyOf": [{"$ref": "#/$defs/X"}, {"type": "null"}], "description": "d"}),
        json!({"$ref": "#/$defs/X", "description": "d"}),
    );
    check_property(json!({"enum": ["a", null]}), json!({"enum": ["a"], "type": "string"}));
    check_property(json!({"type": "null"}), json!({"type": "null"}));
    // In a choice, too; the rest is simplified as without the null.
    check_property(
        json!({"anyOf": [{"type": "integer"}, {"anyOf": [{"const": "a"}, {"enum": ["b", null]}]}]}),
        json!({"anyOf": [{"type": "integer"}, {"enum": ["a", "b"], "type": "string"}]}),
    );
    check_property(
        json!({"type": "array", "items": {"type": ["integer", "null"], "minimum": 1}}),
        json!({"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}),
    );
}

#[test]
fn a_required_null_stays() {
    let listed = normalize_input(json!({
        "type": "object",
        "properties": {"p": {"type": ["string", "null"], "description": "d"}},
        "required": ["p"],
    }));
    let expected = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"});
    assert_eq!(listed.unwrap()["properties"]["p"], expected);
}

#[test]
fn rejected_keywords_are_replaced() {
    check_property(json!({"const": "x"}), json!({"enum": ["x"], "type": "string"}));
    check_property(json!(true), json!({}));
    check_property(json!(false), json!({"not": {}}));
    check_property(
        json!({"type": "integer", "format": "uint32", "minimum": 0}),
        json!({"type": "integer", "minimum": 0}),
    );
    check_property(
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "string", "format": "date-time"}),
    );
    check_property(json!({"type": ["string"]}), json!({"type": "string"}));
    check_property(
        json!({"type": ["string", "integer"], "description": "d"}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d"}),
    );
    // Data is not normalized.
    check_property(
        json!({"default": {"const": 1}, "examples": [true]}),
        json!({"default": {"const": 1}, "examples": [true]}),
    );
}

#[test]
fn a_documented_enum_becomes_one_enum() {
    check_property(
        json!({"description": "How.", "oneOf": [
            {"type": "string", "enum": ["slow", "fast"]},
            {"type": "string", "const": "off", "description": "Not at all."},
        ]}),
        json!({
            "type": "string",
            "enum": ["slow", "fast", "off"],
            "description": "How.\n\n- `off`: Not at all.",
        }),
    );
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only their schemas are used")]
struct Query {
    /// What to look for.
    text: String,
    limit: Option<u32>,
    language: Option<Language>,
    nested: Nested,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Language {
    Python,
    Javascript,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Nested {
    again: Option<Box<Nested>>,
    tuple: (bool, f64),
}

#[test]
fn a_type_becomes_a_self_contained_schema() {
    let args = crate::ArgsDef::from_type::<Query>().unwrap();
    assert_eq!(
        args.schema,
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What to look for."},
                "limit": {"type": "integer", "minimum": 0},
                "language": {"type": "string", "enum": ["python", "javascript"]},
                "nested": {"$ref": "#/$defs/Nested"},
            },
            "required": ["text", "nested"],
            "additionalProperties": false,
            "$defs": {"Nested": {
                "type": "object",
                "properties": {
                    "again": {"$ref": "#/$defs/Nested"},
                    "tuple": {
                        "type": "array",
                        "prefixItems": [{"type": "boolean"}, {"type": "number"}],
                        "minItems": 2,
                        "maxItems": 2,
                    },
                },
                "required": ["tuple"],
                "additionalProperties": false,
            }},
        }),
        "{:#}",
        args.schema
    );
    assert_eq!(normalize_input(args.schema.clone()).unwrap(), args.schema);
    let recursive = crate::ArgsDef::from_type::<Nested>().unwrap().schema;
    assert!(is_object(&recursive) && recursive.get("$ref").is_none(), "{recursive:#}");
    assert_eq!(recursive["properties"]["again"]["$ref"], "#/$defs/Whole", "{recursive:#}");
}

/// What to do.
#[derive(JsonSchema)]
#[schemars(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Action {
    /// Turns something on.
    On {
        id: u8,
    },
    Off {
        id: u8,
        reason: Option<String>,
    },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Flattened {
    name: String,
    #[schemars(flatten)]
    action: Action,
}

#[test]
fn arguments_may_be_a_tagged_enum_or_anything() {
    let properties = json!({
        "kind": {"type": "string", "enum": ["on", "off"]},
        "id": {"type": "integer", "minimum": 0, "maximum": 255},
        "reason": {"type": "string"},
    });
    let action = crate::ArgsDef::from_type::<Action>().unwrap().schema;
    assert_eq!(
        action,
        json!({
            "type": "object",
            "description": "What to do.",
            "properties": properties,
            "required": ["kind", "id"],
            "additionalProperties": false,
        }),
        "{action:#}"
    );
    let mut flattened = crate::ArgsDef::from_type::<Flattened>().unwrap().schema;
    assert_eq!(flattened["required"], json!(["name", "kind", "id"]), "{flattened:#}");
    assert_eq!(
        flattened["properties"].as_object_mut().unwrap().remove("name"),
        Some(json!({"type": "string"}))
    );
    assert_eq!(flattened["properties"], properties);
    let anything = crate::ArgsDef::from_type::<Value>().unwrap().schema;
    assert_eq!(anything, json!({"type": "object", "properties": {}, "additionalProperties": true}));
    let nothing = crate::ArgsDef::from_type::<()>();
    assert_eq!(nothing.unwrap_err().found, "a value of type null");
}

#[test]
fn an_output_accepts_every_original_value() {
    let tagged =
        json!({"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}}, {"type": "object"}]});
    let listed = normalize_output(tagged);
    assert_eq!(listed["type"], "object");
    assert_eq!(listed["oneOf"][0]["properties"]["a"], json!({"enum": [1], "type": "integer"}));
    let optional =
        normalize_output(json!({"type": "object", "properties": {"p": {"type": ["string", "null"]}}}));
    assert_eq!(optional["properties"]["p"], json!({"anyOf": [{"type": "string"}, {"type": "null"}]}));
    assert!(optional.get("additionalProperties").is_none());
    assert!(!is_object(&normalize_output(json!({"type": ["object", "null"]}))));
    assert!(!is_object(&normalize_output(json!({"type": "array", "items": {"type": "string"}}))));
}

#[test]
fn a_wrapped_output_is_an_object_with_its_definitions_at_the_root() {
    let list = normalize_output(json!({"type": "array", "items": {"$ref": "#"}, "title": "List"}));
    assert_eq!(
        wrap_in_result(&list),
        json!({
            "type": "object",
            "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/Whole"}}},
            "required": ["result"],
            "$defs": {"Whole": {"type": "array", "items": {"$ref": "#/$defs/Whole"}, "title": "List"}},
        })
    );
}

#[test]
fn large_definitions_stay_references() {
    let mut defs = Map::new();
    for level in 0..20 {
        let next = json!({"$ref": format!("#/$defs/L{}", level + 1)});
        defs.insert(format!("L{level}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    defs.insert("L20".into(), json!({"type": "string"}));
    let listed = normalize_input(json!({"$ref": "#/$defs/L0", "$defs": defs})).unwrap();
    assert_eq!(listed["properties"]["a"]["$ref"], "#/$defs/L1");
    assert!(listed.to_string().len() < 10_000);
}

#[test]
fn v12_the_description_of_a_parameter_keeps_descriptions_of_values() {
    let choice = json!({"description": "A language.", "oneOf": [
        {"const": "rust", "description": "With a borrow checker."}, {"const": "c"}]});
    for property in [
        json!({"$ref": "#/$defs/L", "description": "What to write in."}),
        json!({"anyOf": [{"$ref": "#/$defs/L"}, {"type": "null"}], "description": "What to write in."}),
    ] {
        let listed =
            normalize_input(json!({"type": "object", "properties": {"l": property}, "$defs": {"L": choice}}))
                .unwrap();
        let description = listed["properties"]["l"]["description"].as_str().unwrap();
        assert_eq!(description, "What to write in.\n\n- `rust`: With a borrow checker.", "{listed:#}");
    }
}
