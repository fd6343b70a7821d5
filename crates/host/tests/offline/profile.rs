//! Schemas as providers take them: what is flattened, filled in, dropped and refused.

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_host::profile::{Profile, ProfileError};

const SHAPING: [Profile; 3] = [Profile::OpenAi, Profile::Anthropic, Profile::Gemini];

fn shape(profile: Profile, schema: Value) -> Value {
    profile.adapt(&schema).unwrap().schema
}

#[test]
fn what_is_plain_stays_what_it_is() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where", "minLength": 1},
            "depth": {"type": "integer", "minimum": 0, "maximum": 9},
            "kinds": {"type": "array", "items": {"type": "string", "enum": ["file", "folder"]}},
        },
        "required": ["path"],
    });
    for profile in [Profile::Raw, Profile::OpenAi, Profile::Anthropic, Profile::Gemini] {
        let shaped = profile.adapt(&schema).unwrap();
        assert_eq!(shaped.schema, schema, "{profile:?}");
        assert_eq!(shaped.notes, Vec::<String>::new());
    }
}

#[test]
fn the_root_is_always_an_object_with_properties() {
    for profile in SHAPING {
        for schema in [
            json!({}),
            json!({"type": "object"}),
            json!({"type": ["object", "null"]}),
            json!({"$schema": "x"}),
        ] {
            assert_eq!(shape(profile, schema), json!({"type": "object", "properties": {}}), "{profile:?}");
        }
        for (schema, found) in
            [(json!({"type": "string"}), "string"), (json!({"type": ["null"]}), "[\"null\"]")]
        {
            assert_eq!(profile.adapt(&schema), Err(ProfileError::RootType { found: found.into() }));
        }
        assert_eq!(profile.adapt(&json!([])), Err(ProfileError::NotASchema));
        assert_eq!(profile.adapt(&json!(true)), Err(ProfileError::NotASchema));
    }
    assert_eq!(shape(Profile::Raw, json!({"type": "string"})), json!({"type": "string"}));
}

#[test]
fn combinators_at_the_root_are_dissolved_and_told() {
    let schema = json!({
        "type": "object",
        "properties": {"repo": {"type": "string"}},
        "required": ["repo"],
        "allOf": [{"properties": {"page": {"type": "integer"}}, "required": ["page"]}],
        "oneOf": [
            {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
            {"properties": {"owner": {"type": "string"}, "id": {"type": "string"}}, "required": ["owner", "id"]},
        ],
    });
    for profile in SHAPING {
        let shaped = profile.adapt(&schema).unwrap();
        assert_eq!(
            shaped.schema,
            json!({
                "type": "object",
                "properties": {
                    "repo": {"type": "string"},
                    "page": {"type": "integer"},
                    "id": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                    "owner": {"type": "string"},
                },
                "required": if profile == Profile::Gemini { json!(["id", "page", "repo"]) } else { json!(["repo", "page", "id"]) },
            }),
            "{profile:?}"
        );
        assert_eq!(shaped.notes, ["Give one of these: none of them, or `owner`."]);
    }
    // A branch that is no object is not meant for arguments.
    let mixed =
        json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}]});
    assert_eq!(shape(Profile::OpenAi, mixed)["properties"], json!({"a": {"type": "string"}}));
    let none = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    assert!(matches!(Profile::Anthropic.adapt(&none), Err(ProfileError::RootType { .. })));
}

#[test]
fn a_root_that_is_a_reference_is_followed() {
    let schema = json!({
        "$ref": "#/definitions/Args",
        "definitions": {"Args": {"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}}, "A": {"type": "string"}},
    });
    for profile in [Profile::OpenAi, Profile::Anthropic] {
        let shaped = shape(profile, schema.clone());
        assert_eq!(shaped["properties"], json!({"a": {"$ref": "#/definitions/A"}}));
        assert_eq!(shaped["definitions"]["A"], json!({"type": "string"}));
        assert!(shaped.get("$ref").is_none());
    }
    assert_eq!(
        shape(Profile::Gemini, schema),
        json!({"type": "object", "properties": {"a": {"type": "string"}}})
    );
}

#[test]
fn references_are_filled_in_where_they_are_not_taken_and_circles_end() {
    let schema = json!({
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/$defs/Node", "description": "The tree"},
            "same": {"$ref": "#/properties/tree"},
            "remote": {"$ref": "https://example.com/schema.json", "description": "Elsewhere"},
        },
        "$defs": {
            "Node": {
                "type": "object", "description": "A node",
                "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
            },
        },
    });
    let node = json!({
        "type": "object", "description": "The tree",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"type": "object", "description": "A node"}},
        },
    });
    let gemini = shape(Profile::Gemini, schema.clone());
    assert_eq!(gemini["properties"]["tree"], node);
    assert_eq!(gemini["properties"]["same"], node);
    assert_eq!(gemini["properties"]["remote"], json!({"type": "string", "description": "Elsewhere"}));
    assert!(!gemini.to_string().contains("$ref"));
    let openai = shape(Profile::OpenAi, schema);
    assert_eq!(openai["properties"]["tree"], json!({"$ref": "#/$defs/Node", "description": "The tree"}));
    assert_eq!(openai["properties"]["same"]["type"], "object");
    assert_eq!(openai["properties"]["remote"], json!({"description": "Elsewhere"}));

    let dangling = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Missing"}}});
    for profile in SHAPING {
        assert_eq!(
            profile.adapt(&dangling),
            Err(ProfileError::Dangling { reference: "#/$defs/Missing".into() })
        );
        assert!(matches!(profile.adapt(&json!({"$ref": "#"})), Err(ProfileError::Dangling { .. }) | Ok(_)));
    }
    // A property may be called like a keyword, and data may look like a reference.
    let named = json!({
        "type": "object",
        "properties": {"$ref": {"type": "string"}, "properties": {"type": "string", "default": {"$ref": "#/x"}}},
    });
    assert_eq!(shape(Profile::Gemini, named.clone()), named);
    assert_eq!(shape(Profile::OpenAi, named.clone()), named);
}

#[test]
fn malformed_and_old_keywords_are_mended() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#", "id": "x", "x-vendor": 1,
        "type": "object",
        "properties": {
            "a": {"type": "int", "required": true, "exclusiveMinimum": true, "minimum": 0},
            "b": {"type": "array"},
            "c": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
            "d": true,
            "e": {"type": "any", "enum": [], "minLength": "3", "anyOf": []},
            "f": {"type": ["string", "str", "null"]},
        },
        "required": ["a", "a", 1],
    });
    let openai = shape(Profile::OpenAi, schema.clone());
    assert_eq!(
        openai,
        json!({
            "type": "object",
            "properties": {
                "a": {"type": "integer", "exclusiveMinimum": 0},
                "b": {"type": "array", "items": {}},
                "c": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
                "d": {}, "e": {}, "f": {"type": ["string", "null"]},
            },
            "required": ["a"],
        })
    );
    let anthropic = shape(Profile::Anthropic, schema);
    assert_eq!(anthropic["properties"]["b"], json!({"type": "array"}));
}

#[test]
fn anthropic_takes_only_some_names_of_arguments() {
    let schema = json!({"type": "object", "properties": {"filter[name]": {"type": "string"}, "ok": {"type": "string"}}});
    let shaped = Profile::Anthropic.adapt(&schema).unwrap();
    assert_eq!(shaped.schema["properties"], json!({"ok": {"type": "string"}}));
    assert_eq!(shaped.notes, ["The optional argument `filter[name]` is not available here."]);
    let mut required = schema.clone();
    required["required"] = json!(["filter[name]"]);
    assert_eq!(
        Profile::Anthropic.adapt(&required),
        Err(ProfileError::PropertyName { name: "filter[name]".into() })
    );
    assert_eq!(shape(Profile::OpenAi, required.clone()), required);
}

#[test]
fn gemini_is_told_in_its_own_words() {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "maybe": {"type": ["string", "null"], "format": "uri"},
            "several": {"type": ["string", "integer"], "description": "Either"},
            "constant": {"const": "x"},
            "numbers": {"enum": [1, 2], "type": "integer", "description": "How many."},
            "optional": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "Perhaps"},
            "one": {"oneOf": [{"type": "string"}, {"type": "boolean"}]},
            "all": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a", "b"]}]},
            "when": {"type": "string", "format": "date-time", "examples": ["x"]},
            "list": {"type": "array"},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}]},
            "any": {"not": {"type": "null"}},
            "empty": {"type": "string", "enum": ["", "a"]},
        },
        "required": ["maybe", "gone"],
    });
    let shaped = shape(Profile::Gemini, schema);
    assert_eq!(
        shaped["properties"],
        json!({
            "maybe": {"type": "string", "nullable": true},
            "several": {"anyOf": [{"type": "string", "description": "Either"}, {"type": "integer", "description": "Either"}]},
            "constant": {"type": "string", "enum": ["x"]},
            "numbers": {"type": "integer", "description": "How many. One of: 1, 2."},
            "optional": {"type": "integer", "nullable": true, "description": "Perhaps"},
            "one": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
            "all": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            "when": {"type": "string", "format": "date-time"},
            "list": {"type": "array", "items": {"type": "string"}},
            "pair": {"type": "array", "items": {"type": "string"}},
            "any": {"type": "string"},
            "empty": {"type": "string", "enum": ["a"]},
        })
    );
    assert_eq!(shaped["required"], json!(["maybe"]));
    assert!(shaped.get("additionalProperties").is_none());
}

#[test]
fn what_is_too_deep_or_too_large_is_refused() {
    let mut deep = json!({"type": "string"});
    for _ in 0..40 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    // Every level is two: the properties and the schema in them.
    for profile in [Profile::Raw, Profile::OpenAi, Profile::Anthropic, Profile::Gemini] {
        assert_eq!(profile.adapt(&deep), Err(ProfileError::TooDeep));
    }
    let wide: serde_json::Map<String, Value> =
        (0..20_001).map(|index| (format!("p{index}"), json!(true))).collect();
    assert_eq!(
        Profile::OpenAi.adapt(&json!({"type": "object", "properties": wide})),
        Err(ProfileError::TooLarge)
    );
    let long = json!({"type": "object", "description": "x".repeat(300 * 1024)});
    assert_eq!(Profile::OpenAi.adapt(&long), Err(ProfileError::TooLarge));
    // Ten levels of ten references each are ten thousand million schemas.
    let mut laughs = serde_json::Map::new();
    for level in 0..10 {
        let next = json!({"$ref": format!("#/$defs/L{}", level + 1)});
        let properties: serde_json::Map<String, Value> =
            (0..10).map(|index| (format!("p{index}"), next.clone())).collect();
        laughs.insert(format!("L{level}"), json!({"type": "object", "properties": properties}));
    }
    laughs.insert("L10".into(), json!({"type": "string"}));
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": laughs});
    assert_eq!(Profile::Gemini.adapt(&schema), Err(ProfileError::TooLarge));
    assert!(Profile::OpenAi.adapt(&schema).is_ok());
}

#[test]
fn names_are_as_long_as_providers_take() {
    let limits = [Profile::Raw, Profile::OpenAi, Profile::Anthropic, Profile::Gemini]
        .map(|p| p.name_limit().characters());
    assert_eq!(limits, [128, 64, 64, 63]);
}

/// Something like a schema: the right words, in wrong places too.
fn schemas() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "string",
        "object",
        "array",
        "null",
        "int",
        "#/$defs/A",
        "#/$defs/B",
        "#",
        "#/properties/a",
        "https://x",
    ]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        word.prop_map(Value::from),
        Just(Value::Null),
    ];
    let key = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
        "required",
        "enum",
        "const",
        "not",
        "description",
        "minimum",
        "exclusiveMinimum",
        "additionalProperties",
        "prefixItems",
        "format",
        "a",
        "A",
        "B",
    ]);
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Whether every schema in it has only words Gemini knows.
fn is_geminis(schema: &Value) -> bool {
    const KNOWN: [&str; 18] = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "default",
        "items",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "pattern",
        "required",
    ];
    let Some(members) = schema.as_object() else { return false };
    members.iter().all(|(key, value)| match key.as_str() {
        "properties" => value.as_object().is_some_and(|all| all.values().all(is_geminis)),
        "items" => is_geminis(value),
        "anyOf" => members.len() == 1 && value.as_array().is_some_and(|all| all.iter().all(is_geminis)),
        key => KNOWN.contains(&key),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]
    #[test]
    fn whatever_comes_in_what_goes_out_has_a_plain_root(schema in schemas()) {
        for profile in SHAPING {
            if let Ok(shaped) = profile.adapt(&schema) {
                prop_assert_eq!(&shaped.schema["type"], "object");
                prop_assert!(shaped.schema["properties"].is_object());
                for key in ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"] {
                    prop_assert!(shaped.schema.get(key).is_none());
                }
                if profile == Profile::Gemini {
                    prop_assert!(is_geminis(&shaped.schema), "{}", shaped.schema);
                }
                // It fits already, so it is not changed again.
                let again = profile.adapt(&shaped.schema);
                prop_assert_eq!(again.map(|again| again.schema), Ok(shaped.schema));
            }
        }
    }
}
