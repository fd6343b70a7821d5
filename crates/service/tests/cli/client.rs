//! The command line of a client.

use serde_json::{Value, json};

use crate::stage::{Served, Test, client, done, program, service};

pub(crate) const TESTS: &[Test] = &[
    ("client::flags_become_typed_arguments", flags_become_typed_arguments),
    ("client::exact_names_are_flags_and_commands_too", exact_names_are_flags_and_commands_too),
    ("client::the_whole_object_can_be_given_and_flags_are_put_on_top", whole),
    ("client::everything_that_does_not_fit_is_told_at_once", misfits),
    ("client::explaining_prints_the_repair_prompt", explaining),
    ("client::help_shows_types_choices_defaults_and_schemas", help),
    ("client::a_tool_that_fails_is_exit_4_and_its_text_is_harmless", tool_fails),
    ("client::a_question_without_a_terminal_is_exit_3", asks),
    ("client::a_service_that_is_not_there_is_exit_1", not_there),
    ("client::without_a_target_it_says_what_to_give", no_target),
    ("client::the_environment_says_where_the_service_is", environment),
    ("client::an_option_stands_before_a_tool_that_has_an_argument_of_its_name", before),
    ("client::a_tool_with_the_name_of_a_command_has_another", named_like_a_command),
    ("client::completions_know_the_tools", completions),
    ("client::it_lists_what_the_design_has", lists),
    ("client::each_revision_gives_the_same", revisions),
    ("client::a_method_outside_mcp_is_called_beside_the_service", rpc),
    ("client::what_one_publishes_another_hears", events),
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

fn exact_names_are_flags_and_commands_too() {
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
    assert_eq!((done.code, done.err.as_str()), (2, "error: --args: one JSON object is needed\n"));
}

fn misfits() {
    let done =
        client(&["find-things", "--limit", "99", "--language", "cobol", "--filter", r#"{"since":"x"}"#]);
    assert_eq!(done.code, 2, "{done:?}");
    assert_eq!(
        done.err,
        "error: the arguments do not fit\n  --limit: must be at most 50; got 99\n  \
         --language: one of python, javascript is needed\n  --filter: `since` must be an integer; got \"x\"\n  \
         --query: is required\nhint: --help shows what fits; --explain tells a model how to try again\n"
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
    assert!(done.err.contains("nobody is here to answer"), "{}", done.err);
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
    let done = crate::stage::done(program("client").env("FINDER_URL", &served.url).args([
        "find-things",
        "--query",
        "q",
    ]));
    assert_eq!((done.code, &value(&done.out)["query"]), (0, &json!("q")), "{done:?}");
}

fn before() {
    // Behind the tool, `--json` is its argument; before it, the option.
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
    let done = crate::stage::done(program("client").args(["rpc", "reindex", "--rpc-url", &plain]));
    assert_eq!((done.code, value(&done.out)), (0, json!({"done": 7})), "{done:?}");
    let done = crate::stage::done(program("client").args(["rpc", "reindex"]));
    assert_eq!(done.code, 2, "{done:?}");
}

fn events() {
    let served = Served::start();
    let mut listening = program("client");
    listening
        .args(["--url", &served.url, "--json", "listen", "--count", "1"])
        .stdout(std::process::Stdio::piped());
    let mut listening = listening.spawn().unwrap();
    let wrong = done(program("client").args(["--url", &served.url, "notify", "found_it", "{}"]));
    assert_eq!(wrong.code, 2, "{wrong:?}");
    // Until somebody listens, nobody hears.
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
        let done =
            done(std::process::Command::new("sh").args(["-c", line]).stdin(std::process::Stdio::null()));
        // One of the tools fails, and one asks: what counts is that their arguments fit.
        assert!([0, 3, 4].contains(&done.code), "{line}: {done:?}");
        count += 1;
    }
    assert_eq!(count, 8, "{text}");
}
