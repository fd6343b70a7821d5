//! Text output without a terminal.

use crate::commands::{SWITCHBOARD, demo, on_demo, run, run_fed, switchboard};

#[test]
fn tools_are_signatures_with_their_description_below() {
    let ran = demo(&["tools"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("10 tools\n"), "{}", ran.out);
    assert!(
        ran.out.contains("\necho(text: string, loud?: boolean)\n    Says the same again.\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("\nadd(a: number, b: number) → {sum: number}\n"), "{}", ran.out);
    assert!(
        ran.out.contains("weather(city: \"oslo\" | \"rome\" | \"tokyo\", days?: integer)\n"),
        "{}",
        ran.out
    );
    let said = demo(&["tools", "-v"]);
    assert!(said.out.contains("      text: What to say\n"), "{}", said.out);
    assert!(said.err.starts_with("Switchboard Demo "), "{}", said.err);
}

#[test]
fn resources_are_a_table_of_all_pages() {
    let ran = demo(&["resources"]);
    assert_eq!(ran.code, 0);
    for word in ["7 resources", "demo://readme", "demo://clock", "1 template", "demo://city/{name}"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
}

#[test]
fn tables_fit_the_columns_variable_and_lose_no_text() {
    for columns in [40, 60, 200] {
        let mut command = switchboard(on_demo(&["resources"]));
        let out = command.env("COLUMNS", columns.to_string()).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{text}");
        for word in ["demo://notes/3", "text/plain", "32 bytes", "another", "script", "demo://city/{name}"] {
            assert!(text.contains(word), "{columns}: {word}\n{text}");
        }
    }
}

#[test]
fn prompts_info_read_and_complete_are_readable() {
    let prompts = demo(&["prompts"]);
    assert!(
        prompts.out.contains("translate(language, text, style?)\n    Asks for a translation.\n"),
        "{}",
        prompts.out
    );
    let info = demo(&["info"]);
    assert!(info.out.starts_with("Switchboard Demo "), "{}", info.out);
    assert!(info.out.contains("protocol  2026-07-28\n"), "{}", info.out);
    assert!(
        info.out.contains("tools (notifies of changes), resources (notifies of updates)"),
        "{}",
        info.out
    );
    assert_eq!(demo(&["read", "demo://notes/1"]).out, "Buy olives.");
    let prompt = demo(&["prompt", "translate", "language=French", "text=hello = hi"]);
    assert_eq!(prompt.out, "user:\n  Translate this into French:\n  \n  hello = hi\n");
    assert_eq!(demo(&["complete", "--prompt", "translate", "language", "fr"]).out, "french\nfrisian\n");
    let known = ["complete", "--prompt", "translate", "style", "", "--context", "language=german"];
    assert_eq!(demo(&known).out, "formal\nfriendly\n");
    assert_eq!(demo(&["complete", "--resource", "demo://city/{name}", "name", "to"]).out, "tokyo\ntoronto\n");
}

#[test]
fn arguments_take_the_types_of_the_schema() {
    let cases: [(&[&str], &str); 7] = [
        (&["echo", "text=12"], "12\n"),
        (&["echo", "text=hi", "loud=true"], "HI\n"),
        (&["add", "a=1", "b=2"], "{\"sum\":3}\n"),
        (&["add", "a:=1.5", "b=2"], "{\"sum\":3.5}\n"),
        (&["tag", "words=a", "words=b"], "#a #b\n"),
        (&["tag", "words:=[\"a\",\"b\"]"], "#a #b\n"),
        (&["weather", "city=rome", "days=2"], "day 1: sunny, 24°C\nday 2: windy, 25°C\n"),
    ];
    for (args, expected) in cases {
        let ran = demo(&[&["call"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (0, expected), "{args:?} {}", ran.err);
    }
}

#[test]
fn all_arguments_may_come_as_one_object() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("args.json");
    std::fs::write(&file, r#"{"text": "from a file"}"#).unwrap();
    let named = format!("@{}", file.display());
    assert_eq!(demo(&["call", "echo", "--args", &named]).out, "from a file\n");
    assert_eq!(demo(&["call", "echo", "--args", r#"{"text":"inline"}"#, "loud=true"]).out, "INLINE\n");
    let fed = run_fed(&on_demo(&["call", "echo", "--args", "-"]), r#"{"text":"from stdin"}"#);
    assert_eq!(fed.out, "from stdin\n");
}

#[test]
fn pictures_and_links_are_described() {
    let ran = demo(&["call", "postcard"]);
    let expected = "Greetings!\n[image image/png, 70 bytes; --save-dir DIR saves it]\n→ Rome <demo://city/rome> (text/plain)\n";
    assert_eq!(ran.out, expected);
}

#[test]
fn listen_prints_changes_and_stops_after_count() {
    let ran = demo(&["listen", "--resource", "demo://clock", "--count", "2"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "demo://clock was updated\ndemo://clock was updated\n"));
    assert_eq!(ran.err, "listening for changes of demo://clock\n");
}

#[test]
fn progress_and_color_are_for_terminals_only() {
    let ran = demo(&["call", "countdown", "from=3", "interval_ms=60"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "Lift-off!\n", ""));
    assert!(!demo(&["tools"]).out.contains('\u{1b}'));
}

#[test]
fn verbose_calls_show_log_messages() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let ran = demo(&["call", "echo", "text=x", "-v", "--revision", revision]);
        assert!(ran.err.contains("[info demo] echo was called\n"), "{revision}: {}", ran.err);
        assert_eq!(ran.out, "x\n");
    }
}

#[test]
fn the_trace_shows_both_directions_and_no_secret() {
    let given = ["call", "fail", "--trace", "--env", "MY_KEY=hunter2-value", "reason=hunter2-value"];
    let ran = demo(&[&given[..], &["api_key=s3cr3t", "progressive=seen"]].concat());
    assert!(ran.err.contains("→ {\"jsonrpc\":\"2.0\""), "{}", ran.err);
    assert!(ran.err.contains("← {\"jsonrpc\":\"2.0\""), "{}", ran.err);
    assert!(ran.err.contains("\"api_key\":\"•••\""), "{}", ran.err);
    assert!(ran.err.contains("\"progressToken\":") && ran.err.contains("seen"), "{}", ran.err);
    assert!(!ran.err.contains("s3cr3t") && !ran.err.contains("hunter2"), "{}", ran.err);
}

#[test]
fn the_demo_shows_three_servers_a_toggle_a_kill_and_a_denial() {
    let ran = run(&["demo"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    for word in [
        "child   connected  2",
        "web     connected  2",
        "inside  connected  2",
        "mcp__child__add(a: number, b: number)",
        "{\"sum\":42}",
        "no process, no socket",
        "4 tools left; its server \"web\" is disabled",
        "6 tools again, with 0 restarts of its connection",
        "was killed, process",
        "{\"sum\":3}",
        "the rule \"echo\" denies it",
        "1 server reconnected",
    ] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
}

#[test]
fn the_demo_with_one_server_uses_the_requested_revision() {
    let ran = run(&["demo", "--revision", "2025-06-18"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for word in [
        "connected to Switchboard Demo",
        "protocol 2025-06-18",
        "echo(text: string",
        "10 tools, 7 resources",
        "{\"sum\":42}",
        "Lift-off!",
    ] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
}

#[test]
fn help_lists_all_commands_and_is_the_default() {
    for args in [&[][..], &["--help"]] {
        let ran = run(args);
        assert_eq!(ran.code, 0);
        for word in ["tools", "call", "demo-server", "Exit codes:"] {
            assert!(ran.out.contains(word), "{word}");
        }
    }
    let call = run(&["call", "--help"]);
    assert!(call.out.contains("key:=json") && call.out.contains("--timeout"), "{}", call.out);
    assert_eq!(run(&["--version"]).out, format!("switchboard {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn env_inherit_env_and_cwd_reach_the_server() {
    let script = crate::servers::Script::server(
        "def answers(method, params):\n    if method == 'tools/call':\n        text = '%s %s %s' % (os.environ.get('GIVEN'), os.environ.get('SEEN'), os.getcwd())\n        return {'content': [{'type': 'text', 'text': text}]}\n",
    );
    let folder = script.folder.path().canonicalize().unwrap();
    let args = ["call", "x", "--env", "GIVEN=a", "--inherit-env", "SEEN", "--cwd", folder.to_str().unwrap()];
    let mut command = switchboard(script.args_for(&args));
    let out = command.env("SEEN", "b").env("GIVEN", "hidden").output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), format!("a b {}\n", folder.display()));
    let mut command = switchboard(script.args_for(&["call", "x"]));
    let out = command.env("SEEN", "b").env("GIVEN", "hidden").output().unwrap();
    assert!(String::from_utf8(out.stdout).unwrap().starts_with("None None "));
}

#[test]
fn the_program_is_its_own_server() {
    assert_eq!(demo(&["call", "echo", "text=x"]).out, "x\n");
    assert!(std::path::Path::new(SWITCHBOARD).is_absolute());
}
