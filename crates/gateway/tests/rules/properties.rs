//! Properties of decisions over random policies and arguments.

use proptest::prelude::*;
use switchboard_gateway::policy::{Decision, Policy, Subject, Target, TargetKind};
use switchboard_protocol::{Raw, ToolAnnotations};

/// A random rule as text, from a small world in which rules often meet.
fn rule() -> impl Strategy<Value = String> {
    let one_of = |key: &'static str, values: &'static [&'static str]| prop_oneof![2 => Just(String::new()), 1 => prop::sample::select(values).prop_map(move |value| format!("{key} = {value}\n"))];
    let arguments = prop_oneof![
        2 => Just(String::new()),
        1 => (prop::sample::select(&["a", "b", "/a/c", "/b/*"][..]), prop::sample::select(&[
            "equals = 1", "not_equals = 1", "in = [\"x\", true]", "not_in = [\"x\"]", "matches = \"x+\"", "not_matches = \"x+\"",
            "exists = true", "exists = false", "equals = 1, missing = true",
        ][..])).prop_map(|(path, test)| format!("arguments = {{ \"{path}\" = {{ {test} }} }}\n")),
    ];
    (
        prop::bool::ANY,
        one_of("server", &["\"s\"", "\"t\"", "[\"s\", \"t*\"]", "\"*\""]),
        one_of("tool", &["\"x\"", "\"x*\"", "\"?\"", "[\"x\", \"y\"]"]),
        one_of("kind", &["\"tool\"", "[\"tool\", \"prompt\"]", "\"task\""]),
        one_of("principal", &["\"ada\"", "\"*\""]),
        one_of("annotations", &["{ read_only = true }", "{ destructive = true }"]),
        prop::sample::select(&["", "p", "q"][..]),
        arguments,
    )
        .prop_map(|(allows, server, tool, kind, principal, annotations, scope, arguments)| {
            let (effect, key) = if allows { ("allow", "scope") } else { ("deny", "unless_scope") };
            let scope = if scope.is_empty() { String::new() } else { format!("{key} = \"{scope}\"\n") };
            format!("[[rule]]\neffect = \"{effect}\"\n{server}{tool}{kind}{principal}{annotations}{scope}{arguments}")
        })
}

fn document(default: &str, rules: &[String]) -> Policy {
    let text = format!("default = \"{default}\"\n{}", rules.concat());
    Policy::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A random JSON value, and the same value in another spelling.
fn value() -> impl Strategy<Value = (String, String)> {
    let scalar = prop_oneof![
        prop::sample::select(
            &[
                ("1", "1"),
                ("2", "2"),
                ("true", "true"),
                ("false", "false"),
                ("null", "null"),
                ("\"x\"", "\"\\u0078\""),
                ("\"xx\"", "\"x\\u0078\""),
                ("\"y\"", "\"\\u0079\""),
                ("\"1\"", "\"\\u0031\""),
                ("\"/\"", "\"\\/\""),
            ][..]
        )
        .prop_map(|(one, other)| (one.to_owned(), other.to_owned())),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| {
                let join = |texts: Vec<&str>, comma: &str| format!("[{}]", texts.join(comma));
                (
                    join(items.iter().map(|(one, _)| one.as_str()).collect(), ","),
                    join(items.iter().map(|(_, other)| other.as_str()).collect(), " ,\n"),
                )
            }),
            object(inner),
        ]
    })
}

/// An object of random members; the other spelling has them in reverse order, with escapes and white space.
fn object(
    value: impl Strategy<Value = (String, String)> + 'static,
) -> impl Strategy<Value = (String, String)> {
    let names = [("a", "\\u0061"), ("b", "\\u0062"), ("c", "\\u0063"), ("d", "d")];
    prop::collection::vec(prop::option::of(value), names.len()).prop_map(move |values| {
        let members = names.iter().zip(&values).filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let members: Vec<_> = members.collect();
        let one: Vec<String> =
            members.iter().map(|((name, _), (value, _))| format!("\"{name}\":{value}")).collect();
        let other: Vec<String> =
            members.iter().rev().map(|((_, name), (_, value))| format!(" \"{name}\"\t: {value}")).collect();
        (format!("{{{}}}", one.join(",")), format!("{{{} }}", other.join(",")))
    })
}

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).unwrap()
}

/// The decision without the rule, which depends on the order of rules.
fn outcome(decision: &Decision) -> (bool, Option<Vec<String>>) {
    match decision {
        Decision::MissingScope { scopes, .. } => (false, Some(scopes.clone())),
        decision => (decision.is_allowed(), None),
    }
}

fn targets() -> Vec<(&'static str, TargetKind, &'static str)> {
    let mut targets = Vec::new();
    for server in ["s", "t", "tt"] {
        for kind in [TargetKind::Tool, TargetKind::Task, TargetKind::Prompt] {
            targets.extend(["x", "y", "xx"].map(|name| (server, kind, name)));
        }
    }
    targets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_that_could_be_allowed_is_hidden(
        default in prop::sample::select(&["allow", "deny"][..]),
        rules in prop::collection::vec(rule(), 0..8),
        arguments in prop::collection::vec(object(value()), 6),
        has_scope: bool,
        is_reader: bool,
    ) {
        let policy = document(default, &rules);
        let scopes = ["p".to_owned()];
        let subject = Subject::new("ada").with_scopes(if has_scope { &scopes } else { &[] });
        let annotations = ToolAnnotations::new().with_read_only_hint(is_reader);
        for (server, kind, name) in targets() {
            let target = Target::new(server, kind, name).with_annotations(&annotations);
            let is_visible = policy.is_visible(&subject, &target);
            for (one, _) in &arguments {
                let decision = policy.decide(&subject, &target, Some(&raw(one)));
                prop_assert!(is_visible || matches!(decision, Decision::Deny { .. }), "{target:?} {one} {decision:?}");
            }
            let without = policy.decide(&subject, &target, None);
            prop_assert!(is_visible || matches!(without, Decision::Deny { .. }), "{target:?} {without:?}");
        }
    }

    #[test]
    fn a_kind_that_may_not_be_shown_has_no_visible_target(
        default in prop::sample::select(&["allow", "deny"][..]),
        rules in prop::collection::vec(rule(), 0..4),
        is_reader: bool,
    ) {
        let policy = document(default, &rules);
        let subject = Subject::new("ada");
        let annotations = ToolAnnotations::new().with_read_only_hint(is_reader);
        for (server, kind, name) in targets() {
            let target = Target::new(server, kind, name).with_annotations(&annotations);
            prop_assert!(policy.may_show_kind(&subject, kind) || !policy.is_visible(&subject, &target), "{target:?}");
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        default in prop::sample::select(&["allow", "deny"][..]),
        (rules, shuffled) in prop::collection::vec(rule(), 0..8).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        arguments in prop::collection::vec(object(value()), 4),
    ) {
        let (policy, other) = (document(default, &rules), document(default, &shuffled));
        for (server, kind, name) in targets() {
            let target = Target::new(server, kind, name);
            for (one, _) in &arguments {
                let arguments = raw(one);
                let decide = |policy: &Policy| outcome(&policy.decide(&Subject::new("ada"), &target, Some(&arguments)));
                prop_assert_eq!(decide(&policy), decide(&other), "{:?} {}", target, one);
            }
            prop_assert_eq!(policy.is_visible(&Subject::new("ada"), &target), other.is_visible(&Subject::new("ada"), &target));
        }
    }

    #[test]
    fn a_further_deny_rule_never_allows(
        default in prop::sample::select(&["allow", "deny"][..]),
        rules in prop::collection::vec(rule(), 0..6),
        further in rule().prop_filter("deny rules", |rule| rule.contains("\"deny\"")),
        arguments in object(value()),
    ) {
        let wider: Vec<String> = rules.iter().cloned().chain([further]).collect();
        let (policy, stricter) = (document(default, &rules), document(default, &wider));
        let arguments = raw(&arguments.0);
        for (server, kind, name) in targets() {
            let target = Target::new(server, kind, name);
            let decide = |policy: &Policy| policy.decide(&Subject::new("ada"), &target, Some(&arguments)).is_allowed();
            prop_assert!(decide(&policy) || !decide(&stricter), "{target:?}");
        }
    }

    #[test]
    fn a_decision_depends_on_canonical_arguments_only(
        default in prop::sample::select(&["allow", "deny"][..]),
        rules in prop::collection::vec(rule(), 1..8),
        (one, other) in object(value()),
    ) {
        let (one, other) = (raw(&one), raw(&other));
        prop_assert_eq!(one.canonical().unwrap(), other.canonical().unwrap());
        let policy = document(default, &rules);
        for (server, kind, name) in targets() {
            let target = Target::new(server, kind, name);
            let decide = |arguments: &Raw| policy.decide(&Subject::new("ada"), &target, Some(arguments));
            prop_assert_eq!(decide(&one), decide(&other), "{:?}", target);
        }
    }

    #[test]
    fn a_shadowed_rule_changes_no_decision(
        default in prop::sample::select(&["allow", "deny"][..]),
        rules in prop::collection::vec(rule(), 2..8),
        arguments in prop::collection::vec(object(value()), 4),
    ) {
        let policy = document(default, &rules);
        let Some(warning) = policy.warnings().first() else { return Ok(()) };
        let mut fewer = rules;
        fewer.remove(warning.rule.index);
        let without = document(default, &fewer);
        for (server, kind, name) in targets() {
            let target = Target::new(server, kind, name);
            for (one, _) in &arguments {
                let arguments = raw(one);
                let decide = |policy: &Policy| outcome(&policy.decide(&Subject::new("ada"), &target, Some(&arguments)));
                prop_assert_eq!(decide(&policy), decide(&without), "{} {:?} {}", warning, target, one);
            }
        }
    }
}
