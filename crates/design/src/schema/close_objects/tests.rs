//! Which objects are closed, by kind of Rust type: members that `serde` would ignore are rejected, others are accepted.

use std::collections::HashMap;
use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::schema::{Validator, ValidatorOptions, normalize_input};
use crate::{ArgsDef, OutputDef};

/// Arguments with one member of type `T`.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Args<T> {
    value: T,
}

/// Values of one type.
#[derive(Default)]
struct Case<'a> {
    /// Valid values.
    accepted: &'a [Value],
    /// Values with an unknown member, which `serde` ignores, and the issue.
    rejected: &'a [(Value, &'a str)],
}

#[track_caller]
fn check<T: DeserializeOwned + JsonSchema + Debug>(case: &Case<'_>) -> Value {
    let args = ArgsDef::from_type::<Args<T>>().unwrap().schema;
    assert_eq!(normalize_input(args.clone()).unwrap(), args, "a second pass changes nothing");
    let validator =
        Validator::with_options(&args, &ValidatorOptions::new().skip_optional_nulls(true)).unwrap();
    let issues = |value: &Value| -> Vec<String> {
        let value = json!({"value": value});
        serde_json::from_value::<Args<T>>(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
        validator.issues(&value).iter().map(ToString::to_string).collect()
    };
    for value in case.accepted {
        assert_eq!(issues(value), [""; 0], "{value}\n{args:#}");
    }
    for (value, issue) in case.rejected {
        assert_eq!(issues(value), [*issue], "{value}\n{args:#}");
    }
    args["properties"]["value"].clone()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Point {
    x: i32,
    label: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Tree {
    name: String,
    children: Vec<Tree>,
    parent: Option<Box<Tree>>,
}

#[test]
fn v12_structs_are_closed_at_every_level() {
    let lable = |path: &str| {
        format!("`{path}.lable` is not a known property (did you mean `label`?); known: label, x")
    };
    let good = json!({"x": 1, "label": null});
    let bad = json!({"x": 1, "lable": "a"});
    let schema = check::<Point>(&Case {
        accepted: &[good.clone(), json!({"x": 1, "label": "a"})],
        rejected: &[(bad.clone(), &lable("value"))],
    });
    assert_eq!(schema["additionalProperties"], json!(false));
    check::<Vec<Point>>(&Case {
        accepted: &[json!([]), json!([good])],
        rejected: &[(json!([good, bad]), &lable("value[1]"))],
    });
    check::<Option<Point>>(&Case {
        accepted: &[json!(null), good.clone()],
        rejected: &[(bad.clone(), &lable("value"))],
    });
    check::<(Point, Box<Point>)>(&Case {
        accepted: &[json!([good, good])],
        rejected: &[(json!([good, bad]), &lable("value[1]"))],
    });
    let map = check::<HashMap<String, Point>>(&Case {
        accepted: &[json!({}), json!({"any": good, "name": good})],
        rejected: &[(json!({"any": bad}), &lable("value.any"))],
    });
    assert_eq!(map["additionalProperties"]["additionalProperties"], json!(false));
}

#[test]
fn v12_a_type_that_contains_itself_is_closed_at_every_depth() {
    let leaf = json!({"name": "a", "children": []});
    let odd = json!({"name": "a", "children": [], "nmae": 1});
    let issue = |path: &str| {
        format!("`{path}.nmae` is not a known property (did you mean `name`?); known: children, name, parent")
    };
    check::<Tree>(&Case {
        accepted: &[leaf.clone(), json!({"name": "a", "children": [leaf, leaf], "parent": leaf})],
        rejected: &[
            (odd.clone(), &issue("value")),
            (json!({"name": "a", "children": [leaf, odd], "parent": null}), &issue("value.children[1]")),
            (json!({"name": "a", "children": [], "parent": odd}), &issue("value.parent")),
        ],
    });
    let whole = ArgsDef::from_type::<Tree>().unwrap().schema;
    assert_eq!(whole["$defs"]["Whole"]["additionalProperties"], json!(false), "{whole:#}");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
enum External {
    Unit,
    New(Point),
    Tuple(i32, i32),
    Struct { size: i32, depth: Option<i32> },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "only read")]
enum Internal {
    Unit,
    New(Point),
    Struct { size: i32, depth: Option<i32> },
    Other(External),
    Tree(Tree),
    Map(HashMap<String, i32>),
    Any(Value),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "of")]
#[allow(dead_code, reason = "only read")]
enum Adjacent {
    Unit,
    New(Point),
    Tuple(i32, i32),
    Struct { size: i32, depth: Option<i32> },
    Any(Value),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only read")]
enum Untagged {
    Text(String),
    New(Point),
    Struct { size: i32, depth: Option<i32> },
    List(Vec<Point>),
}

const DEPTH: &str = "is not a known property (did you mean `depth`?); known: depth";
const LABEL: &str = "is not a known property (did you mean `label`?); known: ";

#[test]
fn v12_externally_tagged_variants_are_closed() {
    check::<External>(&Case {
        accepted: &[
            json!("Unit"),
            json!({"New": {"x": 1, "label": null}}),
            json!({"Tuple": [1, 2]}),
            json!({"Struct": {"size": 1}}),
            json!({"Struct": {"size": 1, "depth": null}}),
        ],
        rejected: &[
            (json!({"New": {"x": 1, "lable": ""}}), &format!("`value.New.lable` {LABEL}label, x")),
            (json!({"Struct": {"size": 1, "dept": 2}}), &format!("`value.Struct.dept` {DEPTH}, size")),
        ],
    });
}

#[test]
fn v12_internally_tagged_variants_are_closed_and_name_their_tag() {
    let schema = check::<Internal>(&Case {
        accepted: &[
            json!({"kind": "Unit"}),
            json!({"kind": "New", "x": 1, "label": null}),
            json!({"kind": "Struct", "size": 1, "depth": null}),
            json!({"kind": "Other", "New": {"x": 1}}),
            json!({"kind": "Other", "Struct": {"size": 1, "depth": 2}}),
            json!({"kind": "Tree", "name": "a", "children": [{"name": "b", "children": []}], "parent": null}),
            // These hold whatever they are schema.
            json!({"kind": "Map", "a": 1, "b": 2}),
            json!({"kind": "Any", "a": {"b": [1]}}),
        ],
        rejected: &[
            (json!({"kind": "New", "x": 1, "lable": ""}), &format!("`value.lable` {LABEL}kind, label, x")),
            (json!({"kind": "Struct", "size": 1, "dept": 2}), &format!("`value.dept` {DEPTH}, kind, size")),
            // A member of another variant is not known to this one.
            (
                json!({"kind": "Struct", "size": 1, "x": 1}),
                "`value.x` is not a known property; known: depth, kind, size",
            ),
            (
                json!({"kind": "Other", "New": {"x": 1, "lable": ""}}),
                &format!("`value.New.lable` {LABEL}label, x"),
            ),
            (
                json!({"kind": "Tree", "name": "a", "children": [], "nmae": 1}),
                "`value.nmae` is not a known property (did you mean `name`?); known: children, kind, name, parent",
            ),
            (
                json!({"kind": "Tree", "name": "a", "children": [{"name": "b", "children": [], "nmae": 1}]}),
                "`value.children[0].nmae` is not a known property (did you mean `name`?); known: children, name, parent",
            ),
        ],
    });
    let variants = schema["oneOf"].as_array().unwrap();
    let named = |name: &str| {
        let is = |variant: &&Value| variant["properties"]["kind"]["enum"] == json!([name]);
        variants.iter().find(is).unwrap_or_else(|| panic!("{name} in {schema:#}"))
    };
    for name in ["New", "Struct"] {
        assert_eq!(named(name)["additionalProperties"], json!(false), "{name}");
        assert!(named(name).get("allOf").is_none(), "{name}: {:#}", named(name));
    }
    for name in ["Other", "Tree"] {
        assert_eq!(named(name)["unevaluatedProperties"], json!(false), "{name}: {:#}", named(name));
    }
    // A variant without fields is written like one that holds any object.
    for name in ["Unit", "Any"] {
        assert!(named(name).get("additionalProperties").is_none(), "{name}: {:#}", named(name));
    }
}

#[test]
fn v12_adjacently_tagged_variants_are_closed() {
    check::<Adjacent>(&Case {
        accepted: &[
            json!({"kind": "Unit"}),
            json!({"kind": "New", "of": {"x": 1}}),
            json!({"kind": "Tuple", "of": [1, 2]}),
            json!({"of": {"size": 1, "depth": null}, "kind": "Struct"}),
            json!({"kind": "Any", "of": {"a": 1}}),
            json!({"kind": "Any", "of": 3}),
        ],
        rejected: &[
            (
                json!({"kind": "New", "of": {"x": 1, "lable": ""}}),
                &format!("`value.of.lable` {LABEL}label, x"),
            ),
            (
                json!({"kind": "Struct", "of": {"size": 1, "dept": 2}}),
                &format!("`value.of.dept` {DEPTH}, size"),
            ),
            (
                json!({"kind": "New", "of": {"x": 1}, "form": 1}),
                "`value.form` is not a known property; known: kind, of",
            ),
        ],
    });
}

#[test]
fn v12_untagged_variants_are_closed() {
    check::<Untagged>(&Case {
        accepted: &[
            json!("text"),
            json!({"x": 1}),
            json!({"x": 1, "label": null}),
            json!({"size": 1, "depth": 2}),
            json!({"size": 1, "depth": null}),
            json!([{"x": 1}]),
        ],
        rejected: &[
            (json!({"x": 1, "lable": ""}), &format!("`value.lable` {LABEL}label, x")),
            (json!({"size": 1, "dept": 2}), &format!("`value.dept` {DEPTH}, size")),
            (json!([{"x": 1, "lable": ""}]), &format!("`value[0].lable` {LABEL}label, x")),
        ],
    });
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Flat<T> {
    id: u8,
    #[serde(flatten)]
    rest: T,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "only read")]
enum Shape {
    Circle { radius: f64 },
    Box { width: f64, height: Option<f64> },
}

#[test]
fn v12_a_flattened_struct_or_enum_is_part_of_a_closed_object() {
    let schema = check::<Flat<Point>>(&Case {
        accepted: &[json!({"id": 1, "x": 1}), json!({"id": 1, "x": 1, "label": null})],
        rejected: &[(json!({"id": 1, "x": 1, "lable": ""}), &format!("`value.lable` {LABEL}id, label, x"))],
    });
    assert_eq!(schema["additionalProperties"], json!(false), "{schema:#}");
    let schema = check::<Flat<Shape>>(&Case {
        accepted: &[
            json!({"id": 1, "kind": "Circle", "radius": 1.5}),
            json!({"id": 1, "kind": "Box", "width": 1, "height": null}),
        ],
        rejected: &[(
            json!({"id": 1, "kind": "Box", "width": 1, "hieght": 2}),
            "`value.hieght` is not a known property (did you mean `height`?); known: height, id, kind, radius, width",
        )],
    });
    assert_eq!(schema["unevaluatedProperties"], json!(false), "{schema:#}");
}

#[test]
fn v12_types_with_arbitrary_members_stay_open() {
    check::<Flat<HashMap<String, Value>>>(&Case {
        accepted: &[json!({"id": 1}), json!({"id": 1, "whatever": {"a": 1}})],
        ..Case::default()
    });
    check::<Flat<HashMap<String, i32>>>(&Case {
        accepted: &[json!({"id": 1, "whatever": 2})],
        ..Case::default()
    });
    check::<Flat<Value>>(&Case { accepted: &[json!({"id": 1, "whatever": 2})], ..Case::default() });
    check::<Flat<Option<Shape>>>(&Case {
        accepted: &[json!({"id": 1}), json!({"id": 1, "kind": "Circle", "radius": 1})],
        ..Case::default()
    });
    check::<Flat<Internal>>(&Case {
        accepted: &[json!({"id": 1, "kind": "Any", "a": 1}), json!({"id": 1, "kind": "New", "x": 1})],
        ..Case::default()
    });
    check::<Value>(&Case {
        accepted: &[json!(null), json!({"a": {"b": 1}}), json!([{}])],
        ..Case::default()
    });
    check::<serde_json::Map<String, Value>>(&Case {
        accepted: &[json!({}), json!({"a": {"b": 1}})],
        ..Case::default()
    });
    check::<HashMap<String, i32>>(&Case { accepted: &[json!({"any": 1})], ..Case::default() });
    check::<Vec<HashMap<String, Value>>>(&Case { accepted: &[json!([{"any": {}}])], ..Case::default() });
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[allow(dead_code, reason = "only read")]
struct Open {
    x: i32,
    point: Option<Point>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct OpenField {
    #[schemars(extend("additionalProperties" = true))]
    tree: Tree,
    other: Option<Tree>,
}

#[test]
fn v12_a_type_or_a_field_can_stay_open() {
    let more = json!({"x": 1, "more": 2});
    let schema = check::<Open>(&Case {
        accepted: std::slice::from_ref(&more),
        rejected: &[(
            json!({"x": 1, "point": {"x": 1, "lable": ""}}),
            &format!("`value.point.lable` {LABEL}label, x"),
        )],
    });
    assert_eq!(schema["additionalProperties"], json!(true));
    check::<Vec<Open>>(&Case { accepted: &[json!([more])], ..Case::default() });
    let odd = json!({"name": "a", "children": [], "nmae": 1});
    let issue = |path: &str| {
        format!("`{path}.nmae` is not a known property (did you mean `name`?); known: children, name, parent")
    };
    check::<OpenField>(&Case {
        accepted: &[json!({"tree": odd})],
        rejected: &[
            (json!({"tree": {"name": "a", "children": [odd]}}), &issue("value.tree.children[0]")),
            (json!({"tree": odd, "other": odd}), &issue("value.other")),
        ],
    });
    let written = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}}});
    assert_eq!(ArgsDef::verbatim(written.clone()).schema, written);
}

fn closes_something(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            ["additionalProperties", "unevaluatedProperties"]
                .iter()
                .any(|key| map.get(*key) == Some(&Value::Bool(false)))
                || map.values().any(closes_something)
        }
        Value::Array(items) => items.iter().any(closes_something),
        _ => false,
    }
}

#[test]
fn v12_results_are_not_closed() {
    for output in [
        OutputDef::from_type::<Point>(),
        OutputDef::from_type::<Vec<Point>>(),
        OutputDef::from_type::<Tree>(),
        OutputDef::from_type::<Internal>(),
        OutputDef::from_type::<Adjacent>(),
        OutputDef::from_type::<Untagged>(),
        OutputDef::from_type::<Flat<Shape>>(),
    ] {
        let schema = output.schema().unwrap();
        // schemars closes externally tagged variants itself: they have one member.
        let mut own = schema.clone();
        if let Some(variants) = own.get_mut("oneOf").and_then(Value::as_array_mut) {
            variants.retain(|variant| variant["properties"]["kind"]["enum"] != json!(["Other"]));
        }
        assert!(!closes_something(&own), "{schema:#}");
    }
    let explicit =
        OutputDef::structured(json!({"type": "object", "properties": {}, "additionalProperties": false}));
    assert_eq!(explicit.schema().unwrap()["additionalProperties"], json!(false));
}

#[test]
fn v12_composed_schemas_are_closed_as_a_whole_or_not_at_all() {
    let nested = |schema: Value| {
        let args = json!({"type": "object", "properties": {"p": schema}, "required": ["p"], "$defs": {
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}});
        let listed = normalize_input(args).unwrap();
        assert_eq!(normalize_input(listed.clone()).unwrap(), listed, "a second pass changes nothing");
        listed
    };
    let object = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}});
    // Plain objects are merged to one.
    let folded = nested(json!({"allOf": [object("a"), object("b")], "properties": {"c": {}}}));
    assert_eq!(
        folded["properties"]["p"],
        json!({
            "type": "object", "additionalProperties": false,
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {}},
        })
    );
    let mut bounded = object("a");
    bounded["minProperties"] = json!(1);
    let whole = nested(json!({"allOf": [bounded, object("b")]}));
    assert_eq!(whole["properties"]["p"]["unevaluatedProperties"], json!(false), "{whole:#}");
    assert!(whole["properties"]["p"]["allOf"][0].get("additionalProperties").is_none(), "{whole:#}");
    // A definition beside another schema stays open, and each plain reference to it is closed.
    let shared = nested(json!({"$ref": "#/$defs/Node", "properties": {"tag": {"type": "string"}}}));
    assert_eq!(shared["properties"]["p"]["unevaluatedProperties"], json!(false), "{shared:#}");
    let node = &shared["$defs"]["Node"];
    assert!(node.get("additionalProperties").is_none(), "{shared:#}");
    assert_eq!(node["properties"]["next"]["unevaluatedProperties"], json!(false), "{shared:#}");
    // Conditions and schemas without named members leave an object open.
    for open in [
        json!({"type": "object"}),
        json!({"properties": {"a": {}}, "if": {"required": ["a"]}, "then": {"properties": {"b": {}}}}),
        json!({"properties": {"a": {}}, "anyOf": [object("b"), {}]}),
        json!({"type": "object", "properties": {"a": {}}, "unevaluatedProperties": {"type": "string"}}),
        json!({"not": object("a")}),
        json!({"type": "array", "contains": object("a")}),
    ] {
        let listed = nested(open.clone());
        assert!(!closes_something(&listed["properties"]["p"]), "{open}: {listed:#}");
    }
    // A member may have the name of a keyword.
    let named =
        nested(json!({"type": "object", "properties": {"properties": {}, "additionalProperties": {}}}));
    assert_eq!(named["properties"]["p"]["additionalProperties"], json!(false), "{named:#}");
    assert_eq!(named["properties"]["p"]["properties"]["additionalProperties"], json!({}), "{named:#}");
}
