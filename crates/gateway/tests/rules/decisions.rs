//! What a policy decides, rule by rule.

use switchboard_gateway::policy::{
    Decision, DenyReason, Policy, PolicyWarningKind, Subject, Target, TargetKind,
};
use switchboard_protocol::{Raw, ToolAnnotations};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).unwrap()
}

fn policy(text: &str) -> Policy {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn scopes(scopes: &[&str]) -> Vec<String> {
    scopes.iter().map(|scope| (*scope).to_owned()).collect()
}

#[test]
fn deny_overrides_allow_and_names_its_rule() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        name = "files"
        effect = "allow"
        server = "files"
        [[rule]]
        name = "no-deletes"
        effect = "deny"
        tool = "delete_*"
        "#,
    );
    let decide = |server, tool| policy.decide(&Subject::anonymous(), &Target::tool(server, tool), None);
    assert_eq!(decide("files", "read").rule().unwrap().name.as_deref(), Some("files"));
    let denied = decide("files", "delete_all");
    assert_eq!(denied.to_string(), "denied by rule 2 (`no-deletes`)");
    assert!(matches!(decide("other", "read"), Decision::Deny { rule: None, reason: DenyReason::Default }));
}

#[test]
fn a_principal_belongs_to_its_issuer() {
    let policy = policy(
        r#"
        default = "deny"
        issuer = "https://login.example.org"
        [[rule]]
        effect = "allow"
        principal = "ada"
        tool = "global"
        [[rule]]
        effect = "allow"
        principal = "*"
        tool = "anyone"
        [[rule]]
        effect = "deny"
        principal = "mallory"
        "#,
    );
    let allowed =
        |subject: Subject<'_>, tool| policy.decide(&subject, &Target::tool("s", tool), None).is_allowed();
    let login = "https://login.example.org";
    assert!(allowed(Subject::new("ada").with_issuer(login), "global"));
    assert!(!allowed(Subject::new("ada").with_issuer("https://evil.example"), "global"));
    assert!(!allowed(Subject::new("ada"), "global"), "a local `ada` is another person");
    assert!(!allowed(Subject::anonymous(), "global") && !allowed(Subject::anonymous(), "anyone"));
    assert!(
        allowed(Subject::new("bob").with_issuer("https://other"), "anyone")
            && allowed(Subject::new("key"), "anyone")
    );
    assert!(
        !allowed(Subject::new("mallory").with_issuer("https://other"), "anyone"),
        "a deny rule binds every issuer"
    );
}

#[test]
fn a_name_without_an_issuer_allows_local_callers_only() {
    let policy = policy("default = \"deny\"\n[[rule]]\neffect = \"allow\"\nprincipal = \"ada\"");
    let allowed = |subject: Subject<'_>| policy.decide(&subject, &Target::tool("s", "t"), None).is_allowed();
    assert!(allowed(Subject::new("ada")));
    assert!(!allowed(Subject::new("ada").with_issuer("https://a")));
}

#[test]
fn missing_scopes_are_named_together() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        effect = "allow"
        tool = "write"
        scope = ["notes:write", "notes:read"]
        [[rule]]
        effect = "deny"
        annotations = { destructive = true }
        unless_scope = "admin"
        "#,
    );
    let granted = scopes(&["notes:read"]);
    let subject = Subject::new("ada").with_scopes(&granted);
    let target = Target::tool("s", "write");
    let Decision::MissingScope { scopes: missing, .. } = policy.decide(&subject, &target, None) else {
        panic!("not asked")
    };
    assert_eq!(missing, ["admin", "notes:write"]);
    assert!(policy.is_visible(&subject, &target), "the client can ask for the scopes");
    let gentle = ToolAnnotations::new().with_destructive_hint(false);
    let Decision::MissingScope { scopes: missing, .. } =
        policy.decide(&subject, &target.with_annotations(&gentle), None)
    else {
        panic!("not asked")
    };
    assert_eq!(missing, ["notes:write"]);
    let all = scopes(&["notes:read", "notes:write", "admin"]);
    assert!(policy.decide(&subject.with_scopes(&all), &target, None).is_allowed());
    let other = Target::tool("s", "other");
    assert!(
        matches!(policy.decide(&subject, &other, None), Decision::Deny { .. }),
        "no scope would allow it"
    );
}

#[test]
fn views_and_annotations_select() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        effect = "allow"
        view = "readers"
        annotations = { read_only = true }
        "#,
    );
    let reader = ToolAnnotations::new().with_read_only_hint(true);
    let target = Target::tool("s", "get");
    let allowed =
        |subject: Subject<'_>, target: &Target<'_>| policy.decide(&subject, target, None).is_allowed();
    assert!(allowed(Subject::anonymous().with_view("readers"), &target.with_annotations(&reader)));
    assert!(
        !allowed(Subject::anonymous().with_view("readers"), &target),
        "unknown annotations are the worst"
    );
    assert!(!allowed(Subject::anonymous(), &target.with_annotations(&reader)));
    let prompt = Target::prompt("s", "get");
    assert!(!allowed(Subject::anonymous().with_view("readers"), &prompt), "a prompt has no annotations");
}

#[test]
fn rules_of_a_base_kind_bind_the_derived_kinds() {
    let policy = policy(
        r#"
        default = "allow"
        [[rule]]
        effect = "deny"
        tool = "secret"
        [[rule]]
        effect = "deny"
        prompt = "secret"
        [[rule]]
        effect = "deny"
        uri = "file:///etc/**"
        [[rule]]
        effect = "deny"
        kind = "subscription"
        server = "quiet"
        "#,
    );
    let denied = |server, kind, name| {
        !policy.decide(&Subject::anonymous(), &Target::new(server, kind, name), None).is_allowed()
    };
    for kind in [
        TargetKind::Tool,
        TargetKind::Task,
        TargetKind::ResultHandle,
        TargetKind::Prompt,
        TargetKind::PromptCompletion,
    ] {
        assert!(denied("s", kind, "secret"), "{kind:?}");
    }
    for kind in [TargetKind::Resource, TargetKind::Subscription] {
        assert!(denied("s", kind, "file:///etc/passwd"), "{kind:?}");
        assert!(!denied("s", kind, "file:///srv/a"), "{kind:?}");
    }
    assert!(denied("quiet", TargetKind::Subscription, "file:///srv/a"));
    assert!(!denied("quiet", TargetKind::Resource, "file:///srv/a"));
    assert!(denied("s", TargetKind::Template, "file:///etc/{name}"));
    assert!(!denied("s", TargetKind::Template, "file:///{+path}"), "some of its URIs can be read");
    assert!(
        denied("s", TargetKind::TemplateCompletion, "file:///{+path}"),
        "suggestions would name denied URIs"
    );
    assert!(!denied("s", TargetKind::TemplateCompletion, "file:///srv/{name}"));
}

#[test]
fn the_result_of_an_allowed_call_can_be_fetched() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        effect = "allow"
        tool = "read"
        arguments = { path = { in = ["/srv/a", "/srv/b"] } }
        "#,
    );
    let task = Target::new("s", TargetKind::Task, "read");
    let decide =
        |arguments: Option<&Raw>| policy.decide(&Subject::anonymous(), &task, arguments).is_allowed();
    assert!(decide(None), "the call itself was decided about");
    assert!(decide(Some(&raw(r#"{"path":"/srv/a"}"#))));
    assert!(
        !decide(Some(&raw(r#"{"path":"/etc/passwd"}"#))),
        "the arguments of the call, where they are kept"
    );
    assert!(
        !policy
            .decide(&Subject::anonymous(), &Target::new("s", TargetKind::Task, "write"), None)
            .is_allowed()
    );
}

#[test]
fn lists_show_what_some_arguments_would_allow() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        effect = "allow"
        tool = ["read", "write"]
        arguments = { path = { matches = "/srv/.*" } }
        [[rule]]
        effect = "deny"
        tool = "read"
        arguments = { path = { equals = "/srv/secret" } }
        [[rule]]
        effect = "deny"
        tool = "write"
        "#,
    );
    let shown = |tool| policy.is_visible(&Subject::anonymous(), &Target::tool("s", tool));
    assert!(shown("read"));
    assert!(!shown("write") && !shown("other"));
}

#[test]
fn every_element_of_a_list_is_inspected() {
    let policy = policy(
        r#"
        default = "allow"
        [[rule]]
        effect = "deny"
        tool = "read_many"
        arguments = { "/paths/*" = { not_matches = "/srv/.*" } }
        "#,
    );
    let allowed = |arguments: &str| {
        policy
            .decide(&Subject::anonymous(), &Target::tool("s", "read_many"), Some(&raw(arguments)))
            .is_allowed()
    };
    assert!(allowed(r#"{"paths":["/srv/a","/srv/b"]}"#));
    assert!(!allowed(r#"{"paths":["/srv/a","/etc/passwd"]}"#));
    assert!(!allowed(r#"{"paths":[]}"#) && !allowed("{}"), "an absent value is not shown to be harmless");
    assert!(!allowed(r#"{"paths":"/srv/a"}"#) && !allowed(r#"{"paths":[["/srv/a"]]}"#));
}

#[test]
fn rules_that_have_no_effect_are_reported() {
    let policy = policy(
        r#"
        default = "allow"
        [[rule]]
        effect = "deny"
        server = "files"
        [[rule]]
        effect = "deny"
        server = "files"
        tool = "delete_*"
        [[rule]]
        effect = "deny"
        tool = []
        [[rule]]
        effect = "deny"
        tool = "x"
        kind = "prompt"
        [[rule]]
        effect = "allow"
        tool = "y"
        [[rule]]
        effect = "deny"
        annotations = { read_only = true, destructive = true }
        [[rule]]
        effect = "deny"
        tool = "z"
        arguments = { a = { in = [] } }
        [[rule]]
        effect = "deny"
        uri = "file:///**"
        arguments = { a = { equals = 1 } }
        [[rule]]
        effect = "deny"
        tool = "used"
        "#,
    );
    let found: Vec<(usize, &PolicyWarningKind)> =
        policy.warnings().iter().map(|warning| (warning.rule.index, &warning.kind)).collect();
    assert!(
        matches!(
            found.as_slice(),
            [
                (1, PolicyWarningKind::Shadowed(_)),
                (2, PolicyWarningKind::EmptySet("tool")),
                (3, PolicyWarningKind::Contradiction(_)),
                (4, PolicyWarningKind::AllowedByDefault),
                (5, PolicyWarningKind::Contradiction(_)),
                (6, PolicyWarningKind::EmptySet("in")),
                (7, PolicyWarningKind::Contradiction(_)),
            ]
        ),
        "{found:?}"
    );
    assert!(policy.warnings()[0].to_string().contains("rule 1 already decides all its calls"));
    assert_eq!(policy.warnings()[0].line, 6);
}

#[test]
fn a_denied_allow_rule_is_shadowed() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        effect = "allow"
        server = "files"
        tool = "read_*"
        [[rule]]
        effect = "deny"
        server = ["files", "mail"]
        [[rule]]
        effect = "allow"
        server = "notes"
        tool = "read"
        [[rule]]
        effect = "deny"
        server = "notes"
        unless_scope = "admin"
        "#,
    );
    assert_eq!(policy.warnings().len(), 1);
    assert_eq!(policy.warnings()[0].rule.index, 0);
}

#[test]
fn rules_that_match_no_target_are_reported() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        effect = "allow"
        server = "files"
        tool = "raed_*"
        [[rule]]
        effect = "allow"
        server = "files"
        tool = "read_*"
        [[rule]]
        effect = "deny"
        kind = "task"
        tool = "read_text"
        [[rule]]
        effect = "allow"
        uri = "file:///srv/**"
        [[rule]]
        effect = "allow"
        uri = "mail://**"
        [[rule]]
        effect = "deny"
        prompt = "of no known prompts"
        "#,
    );
    let catalog =
        [Target::tool("files", "read_text"), Target::new("files", TargetKind::Template, "file:///{+path}")];
    let unmatched: Vec<usize> = policy.unmatched(catalog).iter().map(|warning| warning.rule.index).collect();
    assert_eq!(unmatched, [0, 4]);
}

#[test]
fn case_is_ignored_only_on_request() {
    let policy = policy(
        "default = \"allow\"\n[[rule]]\neffect = \"deny\"\ntool = \"DELETE*\"\nignore_case = true\n[[rule]]\neffect = \"deny\"\ntool = \"Drop\"",
    );
    let allowed = |tool| policy.decide(&Subject::anonymous(), &Target::tool("s", tool), None).is_allowed();
    assert!(!allowed("delete_all") && !allowed("Delete") && !allowed("Drop"));
    assert!(allowed("drop"));
}

#[test]
fn a_kind_binds_what_is_derived_from_it_and_nothing_else() {
    let kinds = |word: &str| {
        let text = format!("default = \"allow\"\n[[rule]]\neffect = \"deny\"\nkind = \"{word}\"");
        let policy = policy(&text);
        let denied = |kind: &TargetKind| {
            !policy.decide(&Subject::anonymous(), &Target::new("s", *kind, "a:b"), None).is_allowed()
        };
        TargetKind::ALL.into_iter().filter(denied).collect::<Vec<_>>()
    };
    use TargetKind::*;
    assert_eq!(kinds("tool"), [Tool, Task, ResultHandle]);
    assert_eq!(kinds("prompt"), [Prompt, PromptCompletion]);
    assert_eq!(kinds("resource"), [Resource, Template, TemplateCompletion, Subscription]);
    assert_eq!(kinds("template"), [Template, TemplateCompletion]);
    assert_eq!(kinds("completion"), [PromptCompletion, TemplateCompletion]);
    assert_eq!(kinds("task"), [Task]);
    assert_eq!(kinds("subscription"), [Subscription]);
    assert_eq!(kinds("result-handle"), [ResultHandle]);
}
