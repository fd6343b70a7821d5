//! Recording sessions, replaying them to clients of either era, and comparing servers with them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard_testkit::{CommandOutput, RunningCommand};

use crate::commands::{SWITCHBOARD, demo, on_demo, run, switchboard};
use crate::home::{Home, is_private};
use crate::servers::HttpDemo;

const ERAS: [&str; 2] = ["2025-06-18", "2026-07-28"];

/// A folder with recordings.
struct Recordings(tempfile::TempDir);

impl Recordings {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// Returns the names of all files.
    fn names(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name().into()).collect()
    }
}

/// Runs a command on the replay of a recording.
fn on_replay(args: &[&str], file: &str) -> CommandOutput {
    run(&[args, &["--", SWITCHBOARD, "replay", file]].concat())
}

/// Compares the demo server with a recording.
fn test_demo(args: &[&str], file: &str) -> CommandOutput {
    demo(&[&["test", file], args].concat())
}

#[test]
fn a_session_of_either_era_is_recorded_replayed_to_both_and_tested() {
    let recordings = Recordings::new();
    let commands: [(&str, &[&str], &str); 4] = [
        ("add", &["call", "add", "a=1", "b=2"], "{\"sum\":3}\n"),
        (
            "order",
            &["call", "order_pizza", "--answers", r#"{"size":"large"}"#],
            "1 large pizza with nothing, coming up.\n",
        ),
        ("count", &["call", "countdown", "from=2", "interval_ms=1"], "Lift-off!\n"),
        ("read", &["read", "demo://menu"], "Pizza.\nPizza, spicy."),
    ];
    for era in ERAS {
        for (name, args, output) in commands {
            let file = recordings.file(&format!("{name}-{era}.talk"));
            let recorded = demo(&[args, &["--revision", era, "--record", &file]].concat());
            assert_eq!(recorded.out, output, "{name} {era}: {}", recorded.err);
            assert!(recorded.err.contains("messages in "), "{}", recorded.err);
            assert!(is_private(Path::new(&file)));
            for client in ERAS {
                let replayed = on_replay(&[args, &["--revision", client]].concat(), &file);
                assert_eq!(replayed.out, output, "{name} of {era} to {client}: {}", replayed.err);
            }
            // A client that speaks both eras.
            assert_eq!(on_replay(args, &file).out, output, "{name} {era}");
            let tested = test_demo(&[], &file);
            assert_eq!(tested.code, 0, "{name} {era}: {} {}", tested.out, tested.err);
            assert!(tested.out.contains("ok   handshake\n"), "{}", tested.out);
        }
    }
    assert_eq!(recordings.names().len(), ERAS.len() * commands.len(), "no partial file is left");
}

#[test]
fn a_replay_is_tested_with_the_recording_it_replays() {
    let recordings = Recordings::new();
    let file = recordings.file("add.talk");
    assert_eq!(demo(&["call", "add", "a=1", "b=2", "--record", &file]).code, 0);
    let tested = run(&["test", &file, "--", SWITCHBOARD, "replay", &file]);
    assert_eq!(tested.code, 0, "{} {}", tested.out, tested.err);
    // What the replay of a recording says is the recording again.
    let again = recordings.file("again.talk");
    assert_eq!(on_replay(&["call", "add", "a=1", "b=2", "--record", &again], &file).out, "{\"sum\":3}\n");
    assert_eq!(test_demo(&[], &again).code, 0);
}

#[test]
fn sessions_over_http_are_recorded_replayed_over_http_and_tested() {
    let (recordings, web) = (Recordings::new(), HttpDemo::start(&[]));
    for era in ERAS {
        let file = recordings.file(&format!("{era}.talk"));
        let order = ["call", "order_pizza", "--answers", r#"{"size":"small"}"#];
        let recorded = web.run(&[&order[..], &["--record", &file, "--revision", era]].concat());
        assert_eq!(recorded.out, "1 small pizza with nothing, coming up.\n", "{}", recorded.err);
        let mut replay = RunningCommand::start(switchboard(["replay", &file, "--http", "127.0.0.1:0"]));
        let url = replay.err.line_after("listening at ");
        for client in ERAS {
            let replayed = run(&[&order[..], &["--revision", client, "--url", &url]].concat());
            assert_eq!(replayed.out, recorded.out, "{era} to {client}: {}", replayed.err);
        }
        replay.terminate();
        assert_eq!(replay.wait().code(), Some(0));
        let tested = web.run(&["test", &file]);
        assert_eq!(tested.code, 0, "{era}: {} {}", tested.out, tested.err);
    }
    assert_eq!(web.stop(), Some(0));
}

#[test]
fn changes_are_replayed_to_subscribers_of_both_eras() {
    let recordings = Recordings::new();
    let listen = ["listen", "--resource", "demo://clock", "--count", "2"];
    for era in ERAS {
        let file = recordings.file(&format!("{era}.talk"));
        assert_eq!(demo(&[&listen[..], &["--revision", era, "--record", &file]].concat()).code, 0);
        for client in ERAS {
            let heard = on_replay(&[&listen[..], &["--revision", client]].concat(), &file);
            let updates = "demo://clock was updated\n".repeat(2);
            assert_eq!(heard.out, updates, "{era} to {client}: {}", heard.err);
        }
    }
}

/// A recording of three calls, two of them the same.
const CALLS: &str = r#"
recording: 1
> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dice"}}
> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dice","arguments":{}}}
< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"five"}]}}
< {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"three"}]}}
> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"greet","arguments":{"name":"<id:name>"}}}
< {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"<id:name>"}]}}
"#;

#[test]
fn requests_are_matched_by_what_they_ask_and_repeated_answers_follow_in_order() {
    let recordings = Recordings::new();
    let file = recordings.write("calls.talk", CALLS);
    for era in ERAS {
        let mut replay = RunningCommand::start(switchboard(["replay", &file, "--http", "127.0.0.1:0"]));
        let url = replay.err.line_after("listening at ");
        let call = |args: &[&str]| run(&[args, &["--revision", era, "--url", &url]].concat());
        let rolled: Vec<String> = (0..4).map(|_| call(&["call", "dice"]).out).collect();
        assert_eq!(rolled, ["three\n", "five\n", "five\n", "five\n"]);
        assert_eq!(call(&["call", "greet", "--args", r#"{"name":"Ada"}"#]).out, "Ada\n");
        let unknown = call(&["call", "dice", "--args", r#"{"sides":20}"#]);
        assert_eq!(unknown.code, 1);
        let says = "no answer to tools/call dice {\"sides\":20}; it has answers to: tools/call dice; tools/call greet";
        assert!(unknown.err.contains(says), "{}", unknown.err);
        replay.terminate();
        assert_eq!(replay.wait().code(), Some(0));
    }
}

#[test]
fn differences_are_shown_with_their_paths_and_fail_the_test() {
    let recordings = Recordings::new();
    let file = recordings.file("add.talk");
    assert_eq!(demo(&["call", "add", "a=1", "b=2", "--record", &file]).code, 0);
    let recorded = recordings.read("add.talk");
    let changed = recorded
        .replace("\"structuredContent\":{\"sum\":3}", "\"structuredContent\":{\"sum\":4,\"more\":true}")
        .replace("Says the same again.", "Says it.");
    assert_ne!(changed, recorded);
    let file = recordings.write("changed.talk", &changed);
    let tested = test_demo(&[], &file);
    assert_eq!(tested.code, 1);
    let shown = "     $.result.structuredContent.sum\n       - 4\n       + 3\n";
    for expected in
        [shown, "$.result.structuredContent.more\n       - true\n", "$.result.tools.echo.description\n"]
    {
        assert!(tested.out.contains(expected), "{expected}: {}", tested.out);
    }
    assert!(tested.err.contains("2 of 3 answers differ"), "{}", tested.err);
    let json = test_demo(&["--json"], &file);
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &report["success"]), (1, &json!(false)));
    let differences = report["steps"][2]["differences"].as_array().unwrap();
    assert!(
        differences.contains(&json!({"path": "$.result.structuredContent.sum", "expected": 4, "actual": 3}))
    );
    let ignored = ["--ignore", "result.structuredContent", "--ignore", "$.result.tools.*.description"];
    assert_eq!(test_demo(&ignored, &file).code, 0);
    assert_eq!(test_demo(&["--ignore", "a..b"], &file).code, 2);
}

#[test]
fn patterns_turn_a_recording_into_a_test() {
    let recordings = Recordings::new();
    let call = r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#;
    for (answer, code) in [
        (r#"{"structuredContent":"<any>","...":true}"#, 0),
        (
            r#"{"structuredContent":{"sum":"<id:sum>"},"content":[{"type":"text","text":"<any>"}],"...":true}"#,
            0,
        ),
        (r#"{"structuredContent":{"...":true,"product":"<any>"},"...":true}"#, 1),
    ] {
        let text = format!("recording: 1\n{call}\n< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{answer}}}\n");
        let file = recordings.write("pattern.talk", &text);
        let tested = test_demo(&[], &file);
        assert_eq!(tested.code, code, "{answer}: {} {}", tested.out, tested.err);
    }
}

#[test]
fn questions_that_changed_are_differences() {
    let recordings = Recordings::new();
    for era in ERAS {
        let file = recordings.file(&format!("{era}.talk"));
        let order =
            ["call", "order_pizza", "--answers", r#"{"size":"large"}"#, "--revision", era, "--record", &file];
        assert_eq!(demo(&order).code, 0);
        // The recorded server asked for something else, and answered without asking.
        let never_asked = recordings.read(&format!("{era}.talk")).replace("elicitation/create", "roots/list");
        let tested = test_demo(&[], &recordings.write("never_asked.talk", &never_asked));
        assert_eq!(tested.code, 1, "{era}: {}", tested.out);
        assert!(tested.out.contains("     question\n"), "{era}: {}", tested.out);
    }
}

#[test]
fn an_existing_file_is_replaced_only_on_request() {
    let recordings = Recordings::new();
    let file = recordings.write("taken.talk", "mine");
    let call = ["call", "echo", "text=hi", "--record", &file];
    let refused = demo(&call);
    assert_eq!((refused.code, recordings.read("taken.talk").as_str()), (2, "mine"));
    assert!(refused.err.contains("pass --overwrite"), "{}", refused.err);
    assert_eq!(demo(&[&call[..], &["--overwrite"]].concat()).out, "hi\n");
    assert!(recordings.read("taken.talk").contains("tools/call"));
    assert!(is_private(Path::new(&file)));
    let nowhere = demo(&["info", "--record", &recordings.file("no/such.talk")]);
    assert_eq!(nowhere.code, 1);
    assert!(nowhere.err.contains("cannot record to"), "{}", nowhere.err);
}

#[test]
fn a_recording_is_complete_after_errors_and_after_ctrl_c() {
    let recordings = Recordings::new();
    let failed = recordings.file("failed.talk");
    assert_eq!(demo(&["read", "demo://nope", "--record", &failed]).code, 1);
    assert!(recordings.read("failed.talk").contains("\"error\":"));
    let lost = recordings.file("lost.talk");
    let script = ["info", "--record", &lost, "--", "sh", "-c", "echo 'starting \"now\"'; exit 3"];
    assert_ne!(run(&script).code, 0);
    assert!(
        recordings.read("lost.talk").contains("<| \"starting \\\"now\\\"\"\n"),
        "{}",
        recordings.read("lost.talk")
    );

    let interrupted = recordings.file("interrupted.talk");
    let call = ["call", "countdown", "from=1000", "interval_ms=20", "--trace", "--record", &interrupted];
    let mut running = RunningCommand::start(switchboard(on_demo(&call)));
    running.err.wait_for("notifications/progress", 0);
    running.interrupt();
    assert_eq!(running.wait().code(), Some(130));
    let recorded = recordings.read("interrupted.talk");
    assert!(
        recorded.contains("notifications/progress") && recorded.contains("notifications/cancelled"),
        "{recorded}"
    );
    // A call that was never answered is not compared.
    let tested = test_demo(&[], &interrupted);
    assert_eq!(tested.code, 0, "{}", tested.err);
    assert!(tested.out.contains("skip tools/call countdown"), "{}", tested.out);
    assert_eq!(recordings.names().len(), 3, "no partial file is left");
}

#[test]
fn several_configured_servers_are_recorded_in_one_file_and_chosen_by_name() {
    let home = Home::with(json!({
        "one": { "command": SWITCHBOARD, "args": ["demo-server"] },
        "two": { "command": SWITCHBOARD, "args": ["demo-server"] },
        "denied": { "command": SWITCHBOARD, "args": ["demo-server"] },
    }));
    let file = home.at("session.talk").display().to_string();
    home.run_ok(&["tools", "--record", &file]);
    let text = home.read("session.talk");
    for name in ["one", "two"] {
        assert!(text.contains(&format!("server: {name}\nrevision: 2026-07-28\n")), "{text}");
    }
    let ambiguous = home.run(&["replay", &file]);
    assert_eq!(ambiguous.code, 2);
    assert!(
        ambiguous.err.contains("several servers") && ambiguous.err.contains("--server NAME"),
        "{}",
        ambiguous.err
    );
    let replayed = home.run_ok(&["tools", "--brief", "--", SWITCHBOARD, "replay", &file, "--server", "two"]);
    assert!(replayed.out.contains("add"), "{}", replayed.out);
    assert_eq!(home.run(&["replay", &file, "--server", "three"]).code, 2);
    // The configured server of the same name.
    let tested = home.run_ok(&["test", &file, "--server", "one"]);
    assert!(tested.out.contains("ok   tools/list"), "{}", tested.out);
    home.run_ok(&["test", &file, "--recorded", "two", "--", SWITCHBOARD, "demo-server"]);
}

#[test]
fn a_configured_server_is_tested_with_recorded_answers_and_within_the_rules() {
    let home = Home::with(json!({ "demo": { "command": SWITCHBOARD, "args": ["demo-server"] } }));
    for era in ERAS {
        let file = home.at(&format!("{era}.talk")).display().to_string();
        let answers = r#"{"size":"large"}"#;
        home.run_ok(&[
            "call",
            "demo/order_pizza",
            "--answers",
            answers,
            "--revision",
            era,
            "--record",
            &file,
        ]);
        let tested = home.run_ok(&["test", &file, "--server", "demo"]);
        assert!(tested.out.contains("ok   tools/call order_pizza"), "{}", tested.out);
    }
    let file = home.at("2026-07-28.talk").display().to_string();
    home.write(
        "config/switchboard/mcp.json",
        &json!({
            "mcpServers": { "demo": { "command": SWITCHBOARD, "args": ["demo-server"] } },
            "permissions": { "deny": ["demo/order_pizza"] },
        }),
    );
    let denied = home.run(&["test", &file, "--server", "demo"]);
    assert_eq!(denied.code, 1, "{} {}", denied.out, denied.err);
    assert!(denied.err.contains("the recording calls demo/order_pizza"), "{}", denied.err);
}

#[test]
fn a_recording_contains_no_secret() {
    const CANARIES: [&str; 4] = ["canary-variable", "canary-inherited", "canary-header", "canary-member"];
    let recordings = Recordings::new();
    // Echoes of secrets, which a server might send back.
    let text = CANARIES.join(" ");
    let file = recordings.file("env.talk");
    let member = r#"{"text":"hi","password":"canary-member"}"#;
    let mut call = switchboard([
        "call",
        "echo",
        &format!("text={text}"),
        "--env",
        "A=canary-variable",
        "--inherit-env",
        "CANARY",
        "--record",
        &file,
        "--",
        SWITCHBOARD,
        "demo-server",
    ]);
    call.env("CANARY", "canary-inherited");
    let echoed = switchboard_testkit::run_command(call, "");
    assert_eq!(echoed.out, format!("{text}\n"));
    // The demo server rejects the member by its name.
    let rejected = demo(&["call", "echo", "--args", member, "--record", &recordings.file("member.talk")]);
    assert_eq!(rejected.code, 5);

    let web = HttpDemo::start(&[]);
    let header = ["--header", "X-Key: canary-header", "--record", &recordings.file("header.talk")];
    assert_eq!(
        web.run(&[&["call", "echo", "text=canary-header"], &header[..]].concat()).out,
        "canary-header\n"
    );
    assert_eq!(web.stop(), Some(0));

    let home = Home::with(json!({
        "demo": { "command": SWITCHBOARD, "args": ["demo-server"], "env": { "KEY": "canary-variable" } },
    }));
    let configured = recordings.file("configured.talk");
    home.run_ok(&["call", "demo/echo", "text=canary-variable", "--record", &configured]);

    let all = |name: &str| recordings.read(&format!("{name}.talk"));
    for (name, canaries) in [
        ("env", &CANARIES[..2]),
        ("member", &CANARIES[3..]),
        ("header", &CANARIES[2..3]),
        ("configured", &CANARIES[..1]),
    ] {
        let recorded = all(name);
        assert!(recorded.contains("•••"), "{name}: {recorded}");
        for canary in canaries {
            assert!(!recorded.contains(canary), "{name} has {canary}");
        }
    }
    // A masked argument matches whatever it hides.
    let replayed = on_replay(&["call", "echo", "--args", member], &recordings.file("member.talk"));
    assert_eq!((replayed.code, replayed.out), (5, rejected.out), "{}", replayed.err);
}

#[test]
fn what_is_no_recording_is_explained() {
    let recordings = Recordings::new();
    for (text, expected) in [
        ("recording: 1\n> {\"a\":", ":2: EOF while parsing"),
        ("recording: 9\n", "this version of Switchboard reads format 1"),
        ("recording: 1\n", "no request to server"),
    ] {
        let file = recordings.write("broken.talk", text);
        for command in ["replay", "test"] {
            let failed =
                run(&[command, &file, "--", SWITCHBOARD, "demo-server"]
                    [..if command == "test" { 5 } else { 2 }]);
            assert_eq!(failed.code, 1, "{command} {text}");
            assert!(failed.err.contains(expected), "{command} {text}: {}", failed.err);
        }
    }
    assert!(run(&["replay", "/no/such.talk"]).err.contains("cannot read /no/such.talk"));
}
