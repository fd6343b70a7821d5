//! The client command line.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::roles::{Served, Test, client, done, program, service};

pub(crate) const TESTS: &[Test] = &[
    ("client::flags_become_typed_arguments", flags_become_typed_arguments),
    ("client::wire_names_are_aliases_of_flags_and_commands", wire_names_are_aliases),
    ("client::flags_override_members_of_args", whole),
    ("client::all_invalid_arguments_are_reported_at_once", misfits),
    ("client::explain_prints_the_repair_prompt", explaining),
    ("client::help_shows_types_choices_defaults_and_schemas", help),
    ("client::a_failed_tool_exits_with_4_and_its_text_is_sanitized", tool_fails),
    ("client::an_elicitation_without_a_terminal_exits_with_3", asks),
    ("client::an_unreachable_service_exits_with_1", not_there),
    ("client::a_missing_target_is_a_usage_error_with_a_hint", no_target),
    ("client::the_environment_names_the_service", environment),
    ("client::an_option_shadowed_by_an_argument_precedes_the_tool", before),
    ("client::a_tool_named_like_a_command_is_renamed", named_like_a_command),
    ("client::completions_contain_the_tools", completions),
    ("client::list_prints_the_items_of_the_design", lists),
    ("client::results_are_the_same_in_each_revision", revisions),
    ("client::an_unmapped_method_is_called_over_the_plain_endpoint", rpc),
    ("client::published_events_reach_listeners", events),
    ("client::every_line_of_the_quickstart_runs", quickstart),
];

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn flags_become_typed_arguments() {
    let words = [
        "find-things",
        "--query",
        "-x",
        "--limit=3",
        "--language",
        "python",
        "--tags",
        "a",
        "--tags",
        "b c",
        "--filter",
        r#"{"since":7}"#,
        "--json",
    ];
    let done = client(&words);
    assert_eq!(done.code, 0, "{done:?}");
    let expected = json!({"query": "-x", "limit": 3, "language": "python", "tags": ["a", "b c"],
        "filter": {"since": 7}, "json": true});
    assert_eq!(value(&done.out), expected);
}

fn wire_names_are_aliases() {
    let done = client(&["find_things", "--query", "q", "--json=false"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(value(&done.out)["json"], false);
}

fn whole() {
    let done = client(&["find-things", "--args", r#"{"query":"a","limit":2}"#, "--limit", "9"]);
    assert_eq!((done.code, &value(&done.out)["limit"]), (0, &json!(9)), "{done:?}");
    let path = std::env::temp_dir().join(format!("switchboard-args-{}.json", std::process::id()));
    std::fs::write(&path, r#"{"query":"from a file"}"#).unwrap();
    let done = client(&["find-things", "--args", &format!("@{}", path.display())]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((done.code, &value(&done.out)["query"]), (0, &json!("from a file")), "{done:?}");
    let done = client(&["find-things", "--args", "[]"]);
    assert_eq!((done.code, done.err.as_str()), (2, "error: --args: expected one JSON object\n"));
}

fn misfits() {
    let done =
        client(&["find-things", "--limit", "99", "--language", "cobol", "--filter", r#"{"since":"x"}"#]);
    assert_eq!(done.code, 2, "{done:?}");
    assert_eq!(
        done.err,
        "error: invalid arguments\n  --limit: must be at most 50; got 99\n  \
         --language: one of python, javascript is needed\n  --filter: `since` must be an integer; got \"x\"\n  \
         --query: is required\nhint: --help shows valid arguments; --explain prints a repair prompt for a model\n"
    );
}

fn explaining() {
    let done = client(&["--explain", "fail"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("\nOperation: tools/call:fail\nSchema: {"), "{}", done.err);
    assert!(done.err.trim_end().ends_with("Example params: {\"text\":\"text\"}"), "{}", done.err);
    let done = client(&["--json", "--explain", "fail"]);
    let error = &value(&done.err)["error"];
    assert_eq!((&error["kind"], &error["issues"][0]["pointer"]), (&json!("invalid_params"), &json!("/text")));
    assert!(error["repair"]["prompt"].is_string());
}

fn help() {
    let done = client(&["find-things", "--help"]);
    assert_eq!(done.code, 0);
    for expected in [
        "And more.",
        "--query <TEXT>",
        "What to look for [required]",
        "[default: 10]",
        "[possible values: python, javascript]",
        "Schema:",
        "{\"additionalProperties\":false,\"properties\":{\"since\"",
        "find-things --query text",
    ] {
        assert!(done.out.contains(expected), "{expected}: {}", done.out);
    }
}

fn tool_fails() {
    let done = client(&["fail", "--text", "luck"]);
    assert_eq!((done.code, done.out.as_str()), (4, ""));
    assert_eq!(done.err, "error: no \\x1b[31mluck\n");
    let done = client(&["--json", "fail", "--text", "luck"]);
    assert_eq!(value(&done.err)["error"]["name"], "not_found");
}

fn asks() {
    let done = client(&["run-it", "--text", "x"]);
    assert_eq!((done.code, done.out.as_str()), (3, ""), "{done:?}");
    assert!(done.err.contains("requires user interaction"), "{}", done.err);
}

fn not_there() {
    let done = done(program("client").args(["--url", "http://127.0.0.1:1/mcp", "fail", "--text", "x"]));
    assert_eq!(done.code, 1, "{done:?}");
}

fn no_target() {
    let done = done(program("client").args(["fail", "--text", "x"]));
    assert_eq!(done.code, 2);
    assert!(done.err.contains("give --url URL, or --stdio COMMAND, or set FINDER_URL"), "{}", done.err);
}

fn environment() {
    let served = Served::start();
    let done = done(program("client").env("FINDER_URL", &served.url).args(["list", "--help"]));
    assert_eq!(done.code, 0);
    let done = crate::roles::done(program("client").env("FINDER_URL", &served.url).args([
        "find-things",
        "--query",
        "q",
    ]));
    assert_eq!((done.code, &value(&done.out)["query"]), (0, &json!("q")), "{done:?}");
}

fn before() {
    // After the tool name, `--json` is its argument; before it, the option.
    let done = client(&["--json", "find-things", "--query", "q"]);
    assert_eq!(value(&done.out)["structuredContent"]["json"], false, "{done:?}");
    let done = client(&["tool-list", "--text", "t", "--json"]);
    assert_eq!(value(&done.out)["content"][0]["text"], "t", "{done:?}");
}

fn named_like_a_command() {
    let done = client(&["tool-list", "--text", "t"]);
    assert_eq!((done.code, done.out.as_str()), (0, "t\n"), "{done:?}");
}

fn completions() {
    let done = done(program("client").args(["completions", "bash"]));
    assert_eq!(done.code, 0);
    assert!(done.out.contains("find-things") && done.out.contains("--language"), "{}", done.out);
}

fn lists() {
    let done = client(&["list"]);
    assert!(
        done.out.starts_with("Finds things. 1.2.0\n\ntools\n  find-things --query <TEXT> ["),
        "{}",
        done.out
    );
    assert!(done.out.contains("read chat-history [--limit <INT>] [--nums <NUMBER>…]   chat://history"));
    assert!(done.out.contains("rpc reindex\n      Rebuilds the index"));
    let done = client(&["list", "--json"]);
    assert_eq!(value(&done.out)["tools"][1]["name"], "fail");
    assert!(client(&["list", "--schema"]).out.contains("arguments: {"));
    assert_eq!(service(&["list"]).out, client(&["list"]).out);
}

fn revisions() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let done = client(&["--revision", revision, "find-things", "--query", "q"]);
        assert_eq!((done.code, &value(&done.out)["limit"]), (0, &json!(10)), "{revision}: {done:?}");
    }
    let done = client(&["--revision", "1999-01-01", "list"]);
    assert_eq!(done.code, 2);
}

fn rpc() {
    let served = Served::start();
    let done = done(program("client").args(["--url", &served.url, "--json", "rpc", "reindex"]));
    assert_eq!((done.code, done.out.as_str()), (0, "{\"done\":7}\n"), "{done:?}");
    let plain = served.url.replace("/mcp", "/rpc");
    let done = crate::roles::done(program("client").args(["rpc", "reindex", "--rpc-url", &plain]));
    assert_eq!((done.code, value(&done.out)), (0, json!({"done": 7})), "{done:?}");
    let done = crate::roles::done(program("client").args(["rpc", "reindex"]));
    assert_eq!(done.code, 2, "{done:?}");
}

fn events() {
    let served = Served::start();
    let mut listening = program("client")
        .args(["--url", &served.url, "--json", "listen", "--count", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let wrong = done(program("client").args(["--url", &served.url, "notify", "found_it", "{}"]));
    assert_eq!(wrong.code, 2, "{wrong:?}");
    // Events published before the subscription are lost.
    while listening.try_wait().unwrap().is_none() {
        let told = ["--url", &served.url, "notify", "found_it", r#"{"query":"it"}"#];
        let done = done(program("client").args(told));
        assert_eq!((done.code, done.out.as_str()), (0, "published\n"), "{done:?}");
    }
    let heard = listening.wait_with_output().unwrap();
    let heard = value(std::str::from_utf8(&heard.stdout).unwrap());
    assert_eq!((&heard["event"], &heard["data"]), (&json!("found_it"), &json!({"query": "it"})));
}

fn quickstart() {
    let program = std::env::current_exe().unwrap().display().to_string();
    let text = switchboard_design::Quickstart::new(crate::service::design())
        .with_command([program.as_str(), "service"])
        .to_string();
    let start = format!("{program} service ");
    let runs = |line: &&str| {
        let words = line.strip_prefix(&start).unwrap_or_default();
        ["call ", "read ", "prompt ", "list", "design "].iter().any(|command| words.starts_with(command))
    };
    let mut count = 0;
    for line in text.lines().filter(runs) {
        let done = done(Command::new("sh").args(["-c", line]));
        // One of the tools fails and one requests input: only the validity of their arguments counts.
        assert!([0, 3, 4].contains(&done.code), "{line}: {done:?}");
        count += 1;
    }
    assert_eq!(count, 8, "{text}");
}
