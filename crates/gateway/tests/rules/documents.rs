//! Errors of policy documents, and the examples of the documentation.

use switchboard_gateway::policy::Policy;

#[test]
fn errors_name_line_place_and_remedy() {
    for (text, expected) in [
        (
            "",
            "line 1: `default` is missing; write `default = \"deny\"` or `default = \"allow\"` for calls that no rule matches",
        ),
        ("default = \"maybe\"", "line 1: default: `maybe` is neither `allow` nor `deny`"),
        (
            "default = \"deny\"\n[[rule]]\neffct = \"allow\"",
            "line 3: rule 1: `effct` is not known here; did you mean `effect`?",
        ),
        (
            "default = \"deny\"\n\n[[rule]]\ntool = \"a\"",
            "line 3: rule 1: `effect` is missing; write `effect = \"allow\"` or `effect = \"deny\"`",
        ),
        (
            "default = \"deny\"\n[[rule]]\nname = \"n\"\neffect = \"deny\"\ntool = 5",
            "line 5: rule 1 (n), tool: expected a text or an array of texts, not a number",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\nkind = \"tol\"",
            "line 4: rule 1, kind: `tol` is not a kind; known are tool, resource, template, prompt, completion, task, subscription, result-handle",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\ntool = \"a\"\nuri = \"b:c\"",
            "line 5: rule 1, uri: a rule has either `tool` or `uri`; write two rules",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\nuri = \"etc\"",
            "line 4: rule 1, uri: `etc` is not a URI glob: it must have a scheme, and neither a query nor `.` or `..` segments",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\nscope = \"a\"",
            "line 4: rule 1, scope: a deny rule names the scopes that lift it in `unless_scope`",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"allow\"\nunless_scope = \"a\"",
            "line 4: rule 1, unless_scope: an allow rule names the scopes that it needs in `scope`",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\n[rule.arguments.path]\nmatches = \"(\"",
            "line 5: rule 1, arguments.path.matches: invalid pattern: unclosed group",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\n[rule.arguments]\npath = {}",
            "line 5: rule 1, arguments.path: write what is tested: equals, in, matches, exists, or one of these with `not_`",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\narguments = { a = { equals = 1979-05-27 } }",
            "line 4: rule 1, arguments.a.equals: dates, `inf` and `nan` are not JSON; write a text or a number",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\narguments = { \"/a~\" = { equals = 1 } }",
            "line 4: rule 1, arguments./a~: in a path that begins with `/`, write `~` as `~0` and `/` as `~1`",
        ),
        (
            "default = \"deny\"\n[[rule]]\neffect = \"deny\"\nannotations = { readonly = true }",
            "line 4: rule 1, annotations: `readonly` is not known here; did you mean `read_only`?",
        ),
        ("default = \"deny\"\nrule = 1", "line 2: rule: expected an array of tables, not a number"),
    ] {
        assert_eq!(Policy::parse(text).unwrap_err().to_string(), expected, "{text}");
    }
    let syntax = Policy::parse("default = \"deny\"\n[[rule").unwrap_err();
    assert_eq!(syntax.line, 2);
}

#[test]
fn documents_have_limits() {
    let large = format!("default = \"deny\"\n# {}", "x".repeat(1024 * 1024));
    assert!(Policy::parse(&large).unwrap_err().to_string().contains("limit of 1048576"));
    let rules = |count: usize| format!("default = \"deny\"\n{}", "[[rule]]\neffect=\"deny\"\n".repeat(count));
    assert!(Policy::parse(&rules(10_001)).unwrap_err().to_string().contains("limit of 10000"));
    assert_eq!(Policy::parse(&rules(10_000)).unwrap().rule_count(), 10_000);
}
