//! Edits of a design, and the class of each.

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_protocol::ToolAnnotations;

use super::*;
use crate::ir::{ArgsDef, WatchDef};
use crate::tests::sample::assistant;

/// Edits the sample design and returns the changes.
fn edit(change: impl FnOnce(&mut Design)) -> Vec<String> {
    let mut design = assistant();
    change(&mut design);
    diff(&assistant(), &design).iter().map(ToString::to_string).collect()
}

#[test]
fn equal_designs_have_no_changes() {
    assert_eq!(edit(|_| {}), [""; 0]);
    // Callers do not see Rust methods, watches and the quickstart setting.
    assert_eq!(edit(|design| design.tools[0].rust_name = "other".into()), [""; 0]);
    assert_eq!(edit(|design| design.watches = vec![WatchDef::new("status", "other")]), [""; 0]);
    assert_eq!(edit(|design| design.quickstart = false), [""; 0]);
}

#[test]
fn edits_of_the_service() {
    assert_eq!(
        edit(|d| d.name = "x".into()),
        ["breaking: the design is called `x` instead of `assistant-mcp`"]
    );
    assert_eq!(edit(|d| d.version = "2".into()), ["docs: the design has version 2 instead of 1.0.0"]);
    assert_eq!(edit(|d| d.instructions = None), ["docs: the design is described differently"]);
    assert_eq!(
        edit(|d| d.protocols = vec!["2026-07-28".into(), "2025-11-25".into()]),
        [
            "breaking: the design no longer lists the protocol revision 2025-06-18",
            "compatible: the design lists the protocol revision 2025-11-25",
        ]
    );
    assert_eq!(edit(|d| d.rpc = None), ["breaking: the design has no RPC endpoint any more"]);
    assert_eq!(
        edit(|d| d.rpc = Some("/x".into())),
        ["breaking: the design has its RPC endpoint at /x instead of /rpc"]
    );
    assert_eq!(edit(|d| d.rpc_only.clear()), ["breaking: method `reindex` was removed"]);
    assert_eq!(
        edit(|d| d.rpc_only[0].scope = MethodScope::Internal),
        ["breaking: method `reindex` was removed"]
    );
    assert_eq!(edit(|d| d.notifications.clear()), ["breaking: notification `status_update` was removed"]);
}

#[test]
fn edits_of_tools() {
    let first = "tool `analyze_sentiment`";
    assert_eq!(edit(|d| drop(d.tools.remove(0))), [format!("breaking: {first} was removed")]);
    assert_eq!(
        edit(|d| d.tools[0].name = "feel".into()),
        [format!("breaking: {first} was renamed to `feel`")]
    );
    assert_eq!(edit(|d| d.tools.push(ToolDef::new("new", "New"))), ["compatible: tool `new` was added"]);
    assert_eq!(
        edit(|d| d.tools[0].description = "x".into()),
        [format!("docs: {first} is described differently")]
    );
    assert_eq!(
        edit(|d| d.tools[0].deprecated = Some("x".into())),
        [format!("docs: {first} is described differently")]
    );
    assert_eq!(
        edit(|d| d.tools[0].annotations = None),
        [format!("breaking: {first} is no longer read-only")]
    );
    assert_eq!(
        edit(|d| d.tools[1].annotations = Some(ToolAnnotations::new().with_read_only_hint(true))),
        ["compatible: tool `search_knowledge` is read-only now"]
    );
    assert_eq!(
        edit(|d| d.tools[1].annotations = Some(ToolAnnotations::new().with_destructive_hint(false))),
        ["compatible: tool `search_knowledge` is not destructive any more"]
    );
    assert_eq!(
        edit(|d| d.tools[0].scopes = vec!["s".into()]),
        [format!("breaking: {first} needs the scope `s` now")]
    );
    assert_eq!(
        edit(|d| d.tools[2].task = TaskRule::Never),
        ["breaking: tool `clear` may no longer be run as a task"]
    );
    assert_eq!(
        edit(|d| d.tools[2].task = TaskRule::Required),
        ["breaking: tool `clear` can only be run as a task now"]
    );
    assert_eq!(
        edit(|d| d.tools[0].events = Some(json!({}))),
        [format!("compatible: {first} sends events now")]
    );
    assert_eq!(edit(|d| d.tools[2].output = OutputDef::Text), ["compatible: tool `clear` has a result now"]);
    assert_eq!(
        edit(|d| d.tools[0].output = OutputDef::Text),
        [format!("breaking: {first} has a result of another kind")]
    );
    assert_eq!(edit(|d| d.tools.reverse()), [""; 0]);
}

/// Returns the changes after replacing the arguments of the first tool.
fn args(old: Value, new: Value) -> Vec<String> {
    schemas(old, new, |tool, schema| tool.args = ArgsDef::new(schema).unwrap())
}

/// Returns the changes after replacing the result of the first tool.
fn result(old: Value, new: Value) -> Vec<String> {
    schemas(old, new, |tool, schema| tool.output = OutputDef::structured(schema))
}

fn schemas(old: Value, new: Value, set: fn(&mut ToolDef, Value)) -> Vec<String> {
    let design = |schema| {
        let mut tool = ToolDef::new("t", "Does");
        set(&mut tool, schema);
        Design::new("d", "1").with_tools([tool]).with_pooled_types()
    };
    let line = |change: Change| change.to_string().replace(": tool `t` has a change:", ":");
    diff(&design(old), &design(new)).into_iter().map(line).collect()
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

#[test]
fn edits_of_arguments_and_results() {
    let rows = [
        (json!({"type": "string"}), json!({"type": "integer"}), "is no longer string", "may be integer"),
        (json!({"type": "number"}), json!({"type": "integer"}), "is no longer number", ""),
        (json!({"type": "integer"}), json!({"type": "number"}), "", "may be number"),
        (json!({"type": "string"}), json!({}), "", "may be any type"),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["a"]}), "is no longer \"b\"", ""),
        (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}), "", "may be \"b\""),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "minimum": 1}),
            "has the tighter `minimum` 1",
            "",
        ),
        (
            json!({"type": "string", "maxLength": 3}),
            json!({"type": "string", "maxLength": 4}),
            "",
            "has the looser `maxLength` 4",
        ),
        (json!({"type": "string", "pattern": "a"}), json!({"type": "string"}), "", "no longer has `pattern`"),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            "has `uniqueItems` now",
            "",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}]}),
            "has fewer choices",
            "",
        ),
        (
            json!({"anyOf": [{"type": "string"}]}),
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            "",
            "has more choices",
        ),
    ];
    for (old, new, narrowed, widened) in rows {
        let line = |class: &str, subject: &str, what: &str| {
            (!what.is_empty()).then(|| format!("{class}: {subject} `p` {what}"))
        };
        let (old, new) = (object(json!({"p": old}), &["p"]), object(json!({"p": new}), &["p"]));
        let expected: Vec<String> = line("breaking", "argument", narrowed)
            .into_iter()
            .chain(line("compatible", "argument", widened))
            .collect();
        assert_eq!(args(old.clone(), new.clone()), expected);
        let expected: Vec<String> = line("compatible", "result", narrowed)
            .into_iter()
            .chain(line("breaking", "result", widened))
            .collect();
        assert_eq!(result(old, new), expected);
    }
}

#[test]
fn edits_of_members() {
    let text = || json!({"type": "string"});
    let (none, some) = (object(json!({}), &[]), object(json!({"p": text()}), &[]));
    let needed = object(json!({"p": text()}), &["p"]);
    assert_eq!(args(none.clone(), some.clone()), ["compatible: argument `p` was added"]);
    assert_eq!(args(none.clone(), needed.clone()), ["breaking: argument `p` was added and is required"]);
    assert_eq!(args(some.clone(), none.clone()), ["breaking: argument `p` was removed"]);
    assert_eq!(args(some.clone(), needed.clone()), ["breaking: argument `p` is required now"]);
    assert_eq!(args(needed.clone(), some.clone()), ["compatible: argument `p` is optional now"]);
    assert_eq!(result(none.clone(), needed.clone()), ["compatible: result `p` was added"]);
    assert_eq!(result(some.clone(), none), ["breaking: result `p` was removed"]);
    assert_eq!(result(some.clone(), needed.clone()), ["compatible: result `p` is always present now"]);
    assert_eq!(result(needed, some.clone()), ["breaking: result `p` may be absent now"]);
    let described = object(json!({"p": {"type": "string", "description": "x"}}), &[]);
    assert_eq!(args(some.clone(), described), ["docs: argument `p` is described differently"]);
    let set = object(json!({"p": {"type": "string", "default": "x"}}), &[]);
    assert_eq!(args(some.clone(), set), ["compatible: argument `p` has another default"]);
    let mut open = some.clone();
    open["additionalProperties"] = json!(true);
    assert_eq!(args(some.clone(), open.clone()), ["compatible: argument accepts additional members now"]);
    assert_eq!(args(open, some), ["breaking: argument no longer accepts additional members"]);
}

#[test]
fn a_change_within_a_recursive_type_is_reported_once() {
    let tree = |kind: &str| {
        let node = object(
            json!({"v": {"type": kind}, "kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}}),
            &["v"],
        );
        let mut root = object(json!({"tree": {"$ref": "#/$defs/N"}}), &["tree"]);
        root["$defs"] = json!({"N": node});
        root
    };
    assert_eq!(args(tree("integer"), tree("number")), ["compatible: argument `tree.v` may be number"]);
    assert_eq!(result(tree("integer"), tree("number")), ["breaking: result `tree.v` may be number"]);
}

#[test]
fn edits_of_resources_and_prompts() {
    let document = "resource `document`";
    let history = "resource `conversation_history`";
    assert_eq!(
        edit(|d| d.resources[1].uri = "doc://all/{id}".into()),
        [format!("breaking: {document} is at `doc://all/{{id}}` instead of `doc://files/{{id}}`")]
    );
    assert_eq!(
        edit(|d| d.resources[1].mime = None),
        [format!("breaking: {document} has another media type")]
    );
    assert_eq!(
        edit(|d| d.resources[3].watch = false),
        ["breaking: resource `status` can no longer be watched"]
    );
    assert_eq!(
        edit(|d| d.resources[0].ttl_ms = None),
        ["compatible: resource `documents` may be cached differently"]
    );
    assert_eq!(
        edit(|d| drop(d.resources[2].params.remove(0))),
        [format!("breaking: {history} has no parameter `limit` any more")]
    );
    assert_eq!(
        edit(|d| d.resources[2].params[0].required = true),
        [format!("breaking: {history} requires the parameter `limit` now")]
    );
    assert_eq!(
        edit(|d| d.resources[2].params[0].kind = ParamKind::Number),
        [format!("compatible: {history} expects a number for the parameter `limit` now")]
    );
    assert_eq!(
        edit(|d| d.resources[2].params[2].kind = ParamKind::Integer),
        [format!("breaking: {history} expects a whole number for the parameter `nums` now")]
    );
    assert_eq!(
        edit(|d| d.resources[2].params[2].repeated = false),
        [format!("breaking: {history} takes only one of the parameter `nums` now")]
    );
    assert_eq!(
        edit(|d| d.prompts[1].arguments.push(ParamDef::new("tone", ParamKind::Text))),
        ["compatible: prompt `contextual_prompts` has the optional argument `tone` now"]
    );
    assert_eq!(
        edit(|d| d.prompts[1].arguments[1].kind = ParamKind::Choice { values: vec!["write".into()] }),
        ["breaking: prompt `contextual_prompts` expects one of write for the argument `task` now"]
    );
    assert_eq!(
        edit(|d| d.prompts[0].body = crate::ir::PromptBody::Dynamic),
        ["docs: prompt `code_review` is described differently"]
    );
}

/// Returns a schema after one small edit; `position` selects the subschema and `edit` the kind of edit.
fn edited(schema: &Value, position: usize, edit: usize) -> Value {
    fn collect_pointers(schema: &Value, pointer: String, pointers: &mut Vec<String>) {
        for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            collect_pointers(inner, format!("{pointer}/properties/{name}"), pointers);
        }
        for (index, inner) in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            collect_pointers(inner, format!("{pointer}/anyOf/{index}"), pointers);
        }
        if let Some(items) = schema.get("items") {
            collect_pointers(items, format!("{pointer}/items"), pointers);
        }
        if schema.is_object() {
            pointers.push(pointer);
        }
    }
    let mut schema = schema.clone();
    let mut pointers = Vec::new();
    collect_pointers(&schema, String::new(), &mut pointers);
    let at = pointers[position % pointers.len()].clone();
    let map = schema.pointer_mut(&at).and_then(Value::as_object_mut).expect("a collected pointer");
    let keys: Vec<String> = map.keys().cloned().collect();
    match edit % 8 {
        0 if !at.is_empty() && !keys.is_empty() => drop(map.remove(&keys[edit / 8 % keys.len()])),
        1 => drop(map.insert("minimum".into(), json!(edit as i64 % 7 - 3))),
        2 => drop(map.insert("maxLength".into(), json!(edit % 5))),
        3 if !at.is_empty() => {
            drop(map.insert("type".into(), json!(["string", "integer", "number", "object"][edit / 8 % 4])))
        }
        4 if !at.is_empty() => drop(map.insert("enum".into(), json!(["fixed", 1, "text"]))),
        5 if map.contains_key("properties") => {
            map["properties"]["new"] = json!({"type": "string"});
            if (edit / 8).is_multiple_of(2) {
                map.insert("required".into(), json!(["new"]));
            }
        }
        6 => drop(map.remove("required")),
        7 => drop(map.insert("maxItems".into(), json!(edit % 3))),
        _ => drop(map.insert("minItems".into(), json!(1))),
    }
    schema
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Arguments that are valid for the old schema are valid for the new one, unless the change is breaking.
    #[test]
    fn compatible_arguments_accept_old_values(old in crate::example::random_object(), position in any::<usize>(), edit in 0usize..1000) {
        let design = |schema: &Value| {
            let args = ArgsDef::new(schema.clone()).unwrap();
            Design::new("d", "1").with_tools([ToolDef::new("t", "Does").with_args(args)])
        };
        let (old, new) = (design(&old), design(&edited(&old, position, edit)));
        let changes = diff(&old, &new);
        let written = old.tool_example(&old.tools[0]).value;
        let fits = crate::tests::is_valid(&new.tools[0].args.schema, &written);
        let breaking = changes.iter().any(|change| change.class == ChangeClass::Breaking);
        prop_assert!(breaking || fits, "{} {:#} {:#}", written, old.tools[0].args.schema, new.tools[0].args.schema);
        prop_assert!(changes.is_empty() || old != new);
    }

    /// Results that are valid for the new schema are valid for the old one, unless the change is breaking.
    #[test]
    fn compatible_results_are_valid_for_old_callers(old in crate::example::random_object(), position in any::<usize>(), edit in 0usize..1000) {
        let design = |schema: &Value| {
            let output = OutputDef::structured(schema.clone());
            Design::new("d", "1").with_tools([ToolDef::new("t", "Does").with_output(output)])
        };
        let (old, new) = (design(&old), design(&edited(&old, position, edit)));
        let schema = |design: &Design| design.tools[0].output.schema().cloned().unwrap();
        let written = crate::example::example(&schema(&new), None).value;
        // After an edit, no value may be valid.
        prop_assume!(crate::tests::is_valid(&schema(&new), &written));
        let breaking = diff(&old, &new).iter().any(|change| change.class == ChangeClass::Breaking);
        let fits = crate::tests::is_valid(&schema(&old), &written);
        prop_assert!(breaking || fits, "{} {:#} {:#}", written, schema(&old), schema(&new));
    }
}
