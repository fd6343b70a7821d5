//! Errors of policy documents, and the examples of the documentation.

use switchboard_gateway::audit::AuditPolicy;
use switchboard_gateway::limits::RateLimiter;
use switchboard_gateway::policy::{Decision, Policy, Subject, Target, TargetKind};
use switchboard_protocol::Raw;

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

const PAGE: &str = include_str!("../../../../docs/gateway-policy.md");

/// Returns the fenced blocks of the page: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut blocks = Vec::new();
    let mut rest = PAGE;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (language, after) = after.split_once('\n').unwrap();
        let (text, after) = after.split_once("\n```").unwrap();
        blocks.push((language, text));
        rest = after;
    }
    blocks
}

#[test]
fn the_examples_of_the_page_decide_as_it_says() {
    let mut policy = Policy::allow_all();
    let (mut documents, mut decisions) = (0, 0);
    for (language, text) in blocks() {
        match language {
            "toml" => {
                policy = Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(policy.warnings(), [], "{text}");
                RateLimiter::parse(text).unwrap();
                AuditPolicy::parse(text).unwrap();
                documents += 1;
            }
            "decisions" => {
                for line in text.lines() {
                    check_line(&policy, line);
                    decisions += 1;
                }
            }
            "text" => {}
            other => panic!("unknown block {other}"),
        }
    }
    assert!(documents >= 6 && decisions >= 20, "{documents} {decisions}");
}

/// Checks a line like `ada@issuer: server/tool {…} => deny`, or `ada: resource server uri => allow`.
fn check_line(policy: &Policy, line: &str) {
    let (call, expected) = line.rsplit_once(" => ").unwrap();
    let (caller, call) = call.split_once(": ").unwrap();
    let mut subject = Subject::new(caller.split('@').next().unwrap());
    if let Some((_, issuer)) = caller.split_once('@') {
        subject = subject.with_issuer(issuer);
    }
    let words: Vec<&str> = call.splitn(3, ' ').collect();
    let (target, arguments) = match words[0] {
        "resource" => (Target::resource(words[1], words[2]), None),
        "subscription" => (Target::new(words[1], TargetKind::Subscription, words[2]), None),
        "template" => (Target::new(words[1], TargetKind::Template, words[2]), None),
        "completion" => (Target::new(words[1], TargetKind::TemplateCompletion, words[2]), None),
        tool => {
            let (server, name) = tool.split_once('/').unwrap();
            let arguments = call.split_once(' ').map(|(_, text)| Raw::parse(text.to_owned()).unwrap());
            (Target::tool(server, name), arguments)
        }
    };
    let decided = match policy.decide(&subject, &target, arguments.as_ref()) {
        Decision::Allow { .. } => "allow".to_owned(),
        Decision::Deny { .. } => "deny".to_owned(),
        Decision::MissingScope { scopes, .. } => format!("scope {}", scopes.join(" ")),
        other => format!("{other:?}"),
    };
    assert_eq!(decided, expected, "{line}");
}

#[test]
fn rules_are_shown_as_they_are_written() {
    let policy = Policy::parse(
        "default = \"deny\"\n[[rule]]\nname = \"small\"\neffect = \"allow\"\ntool = [\"a\", \"b\"]\n\
         arguments = { count = { in = [1, 0x10, 1_000] } }\n[[rule]]\neffect = \"deny\"\nserver = \"x\"",
    )
    .unwrap();
    let rules: Vec<_> = policy.rules().map(|rule| (rule.rule.index, rule.source_json)).collect();
    assert_eq!(
        rules,
        [
            (
                0,
                r#"{"arguments":{"count":{"in":[1,16,1000]}},"effect":"allow","name":"small","tool":["a","b"]}"#
                    .to_owned()
            ),
            (1, r#"{"effect":"deny","server":"x"}"#.to_owned()),
        ]
    );
    assert!(policy.rules().all(|rule| !rule.has_decided));
}
