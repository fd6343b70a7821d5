//! Designs with errors, and the messages about them.

use serde_json::json;
use switchboard_protocol::Role;

use crate::ir::*;

fn lines(design: &Design) -> Vec<String> {
    design.check().err().iter().flatten().map(ToString::to_string).collect()
}

#[test]
fn a_valid_design_passes() {
    assert_eq!(lines(&crate::tests::sample::assistant()), [""; 0]);
}

#[test]
fn all_errors_are_reported_at_once_with_their_locations() {
    let text = |name: &str| ParamDef::new(name, ParamKind::Text);
    let design = Design::new("", " ")
        .with_protocols(["2025-06-18".to_owned(), "2025-06-18".into(), "tomorrow".into()])
        .with_rpc("rpc")
        .with_tools([
            ToolDef::new("a b", "").with_rust_name("a"),
            ToolDef::new("sum", "Adds")
                .with_args(
                    ArgsDef::new(json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}))
                        .unwrap(),
                )
                .with_example(json!({"b": 1})),
            ToolDef::new("sum", "Adds again").with_rust_name("a").with_example(json!([])),
            ToolDef::new("tree", "Grows").with_output(OutputDef::structured(json!({"$ref": "#/$defs/Tree"}))),
        ])
        .with_resources([
            ResourceDef::new("list", "doc//list", "Lists"),
            ResourceDef::new("one", "doc://{id}", "One"),
            ResourceDef::new("two", "doc://{name}", "Two").with_params([
                text("name").with_default("x"),
                text("name"),
                ParamDef::new("n", ParamKind::Integer).with_default("x"),
            ]),
        ])
        .with_prompts([PromptDef::new("say", "Says")
            .with_arguments([
                text("words").with_repeated(true),
                ParamDef::new("how", ParamKind::Choice { values: vec![] }),
            ])
            .with_body(PromptBody::Static { messages: vec![] })
            .with_example(json!({"nothing": ""}))])
        .with_watches([
            WatchDef::new("one", "watch_one"),
            WatchDef::new("none", "watch_none"),
            WatchDef::new("one", "again"),
        ])
        .with_notifications([NotificationDef::new("told", " ", json!({"type": "object"}))]);
    assert_eq!(
        lines(&design),
        [
            "the design has no name",
            "the design has no version",
            "the design lists the protocol revision \"2025-06-18\" twice",
            "the design accepts the protocol revision \"tomorrow\", which does not exist",
            "the design has the RPC endpoint \"rpc\": the path must start with `/`",
            "tool `a b` has an invalid name: use 1 to 128 letters, digits, `_`, `-` and `.`",
            "tool `a b` has no description: models choose items by their description",
            "tool `sum` has an invalid example: `a` is required",
            "tool `sum` has an invalid example: `b` is not a known property; known: a",
            "tool `sum` is declared twice",
            "tool `sum` has the Rust method `a`, which belongs to another item",
            "tool `sum` has an invalid example: the value must be an object; got an array",
            "tool `tree` refers to the type `Tree`, which does not exist",
            "resource `list` has the invalid URI \"doc//list\": a URI starts with a scheme, like `doc://`",
            "resource `one` has the variable `{id}` in its URI, but no parameter of that name",
            "resource `two`: `name` is declared twice",
            "resource `two`: `n` has an invalid default",
            "resource `two`: `name` is a path variable of the URI, so it can neither be a list nor have a default",
            "resource `two` matches the same URIs as the resource `one`",
            "prompt `say`: `words` is a list: arguments of prompts are single strings",
            "prompt `say`: `how` is a choice without values",
            "prompt `say` is static and has no messages",
            "prompt `say` has an invalid example: `nothing` is not a known property; known: how, words",
            "watch of `one` watches a resource that is not marked as watchable",
            "watch of `none` watches a resource that does not exist",
            "watch of `one` watches a resource that is not marked as watchable",
            "watch of `one` is declared twice",
            "notification `told` has no description: models choose items by their description",
        ]
    );
}

#[test]
fn an_unmapped_method_is_an_error_only_without_an_rpc_endpoint() {
    let design = |scope| Design::new("d", "1").with_rpc_only([MethodDef::new("reindex").with_scope(scope)]);
    assert_eq!(
        lines(&design(MethodScope::Rpc)),
        [
            "method `reindex` is not mapped to MCP: give it a role, mark it as internal, or give the design an RPC endpoint"
        ]
    );
    assert_eq!(lines(&design(MethodScope::Rpc).with_rpc("/rpc")), [""; 0]);
    assert_eq!(lines(&design(MethodScope::Internal)), [""; 0]);
}

#[test]
fn arguments_that_are_not_an_object_are_an_error() {
    let mut args = ArgsDef::none();
    args.schema = json!({"type": "string"});
    let design = Design::new("d", "1").with_tools([ToolDef::new("t", "Does").with_args(args)]);
    assert_eq!(lines(&design).len(), 1);
    let role = PromptText::new(Role::User, "hi");
    let said = PromptDef::new("p", "Says").with_body(PromptBody::Static { messages: vec![role] });
    assert_eq!(lines(&Design::new("d", "1").with_prompts([said])), [""; 0]);
}

#[test]
fn v5_a_default_that_its_argument_refuses_is_reported() {
    let args = ArgsDef::new(json!({"type": "object", "properties": {
        "limit": {"type": "integer", "maximum": 10, "default": 500},
        "how": {"type": "string", "pattern": "^[a-z]+$", "default": "A1"},
        "sort": {"$ref": "#/$defs/Sort", "default": "up"},
        "none": {"type": ["string", "null"], "default": null},
    }, "$defs": {"Sort": {"enum": ["up", "down"]}}}));
    let tool = ToolDef::new("find", "Finds").with_args(args.unwrap());
    let mut found = lines(&Design::new("a", "1").with_tools([tool]));
    found.sort();
    assert_eq!(
        found,
        [
            "tool `find`: `how` has an invalid default: it must be a string that matches ^[a-z]+$; got \"A1\"",
            "tool `find`: `limit` has an invalid default: it must be at most 10; got 500",
        ]
    );
}

#[test]
fn v5_arguments_that_are_not_an_object_are_reported() {
    let args = ArgsDef::verbatim(json!({"type": "array", "items": {"type": "string"}}));
    let found = lines(&Design::new("a", "1").with_tools([ToolDef::new("all", "All").with_args(args)]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("tool `all` "), "{found:?}");
}
