//! Designs, lock files, quickstart documents and new projects.

use std::fs;
use std::path::Path;

use serde_json::json;
use switchboard_testkit::{CommandOutput, run_command};

use crate::commands::{run, switchboard};

fn design(version: &str, tools: &[&str]) -> String {
    let args = json!({"schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        "additionalProperties": false}});
    let tool = |name: &&str| json!({"name": name, "rustName": name, "description": "Does it.", "args": args});
    let tools: Vec<_> = tools.iter().map(tool).collect();
    json!({"name": "texts", "version": version, "tools": tools}).to_string()
}

/// Runs a command in a folder.
fn within(folder: &Path, args: &[&str]) -> CommandOutput {
    let mut command = switchboard(args);
    command.current_dir(folder);
    run_command(command, "")
}

/// Creates a folder with a program that prints a design like a service.
fn service(design: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("design.json"), design).unwrap();
    let script = "#!/bin/sh\ntest \"$*\" = 'design print --json' || exit 9\nexec cat design.json\n";
    fs::write(folder.path().join("texts"), script).unwrap();
    folder
}

const CMD: [&str; 3] = ["--", "sh", "./texts"];

#[test]
fn a_design_is_printed_as_text_and_as_json() {
    let folder = service(&design("1.0.0", &["count_words"]));
    let ran = within(folder.path(), &[&["design", "print"][..], &CMD].concat());
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "texts 1.0.0\n\ntools\n  count-words --text <TEXT>\n      Does it.\n")
    );
    let ran = within(folder.path(), &["design", "print", "--json", "--design", "design.json"]);
    assert_eq!(ran.json()["tools"][0]["name"], "count_words");
    let ran = within(folder.path(), &["design", "print", "--json", "--", "false"]);
    assert_eq!((ran.code, &ran.error()["kind"]), (4, &json!("not_started")));
    let ran = within(folder.path(), &["design", "print", "--design", "texts"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("not a design"), "{}", ran.err);
    assert_eq!(run(&["design", "print"]).code, 2);
}

#[test]
fn a_lock_distinguishes_breaking_from_compatible_changes() {
    let folder = service(&design("1.0.0", &["a", "b"]));
    let check = |more: &[&str]| within(folder.path(), &[&["design", "check"], more, &CMD[..]].concat());
    assert_eq!(check(&[]).code, 2, "there is no lock yet");
    assert_eq!(check(&["--bless"]).code, 0);
    let ran = check(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "nothing has changed\n"));

    fs::write(folder.path().join("design.json"), design("1.0.0", &["a", "b", "c"])).unwrap();
    let ran = check(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "compatible: tool `c` was added\n"));

    fs::write(folder.path().join("design.json"), design("1.0.0", &["a"])).unwrap();
    let ran = check(&["--json"]);
    let output = ran.json();
    assert_eq!(
        (ran.code, &output["worst"], &output["changes"][0]["place"]),
        (1, &json!("breaking"), &json!("tool `b`"))
    );

    // A lock file can be used as a design.
    let ran = within(folder.path(), &["design", "diff", "design.json", "design.lock.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "compatible: tool `b` was added\n"));

    // `--bless` replaces lock files only.
    assert_eq!(check(&["--bless"]).code, 0);
    let path = folder.path().join("design.lock.json");
    fs::write(&path, "mine").unwrap();
    let ran = check(&["--bless"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("is not a lock file"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn a_quickstart_is_written_checked_and_kept_up_to_date() {
    let folder = service(&design("1.0.0", &["count_words"]));
    let quickstart = |more: &[&str]| within(folder.path(), &[&["quickstart"], more, &CMD[..]].concat());
    let read = || fs::read_to_string(folder.path().join("AGENTS_QUICKSTART.md")).unwrap();
    assert_eq!(quickstart(&["--check"]).code, 1, "there is none yet");
    assert_eq!(quickstart(&[]).code, 0);
    let first = read();
    assert!(first.starts_with("<!-- Written by `switchboard quickstart`"), "{first}");
    assert!(first.contains("\nsh ./texts call count-words --text text\n"), "{first}");
    assert_eq!(quickstart(&[]).out, "AGENTS_QUICKSTART.md is up to date\n");
    assert_eq!((quickstart(&["--check"]).code, read()), (0, first));

    fs::write(folder.path().join("design.json"), design("1.0.0", &["other"])).unwrap();
    let ran = quickstart(&["--check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("is not up to date with the design"), "{}", ran.err);
    assert_eq!(quickstart(&[]).code, 0);
    assert!(read().contains("call other"));
}

#[test]
fn a_quickstart_never_changes_a_foreign_file() {
    let folder = service(&design("1.0.0", &["a"]));
    let path = folder.path().join("AGENTS_QUICKSTART.md");
    fs::write(&path, "# Mine\n").unwrap();
    let ran = within(folder.path(), &[&["quickstart"][..], &CMD].concat());
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("was not written by this command"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), "# Mine\n");
}

#[test]
fn a_design_may_disable_the_quickstart() {
    let folder = service(&design("1.0.0", &["a"]).replacen('{', r#"{"quickstart":false,"#, 1));
    let ran = within(folder.path(), &[&["quickstart"][..], &CMD].concat());
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("`quickstart = false`: nothing is written"), "{}", ran.out);
    assert!(!folder.path().join("AGENTS_QUICKSTART.md").exists());
}

#[test]
fn an_invalid_name_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["../up", "fn", "Big"] {
        let ran = within(folder.path(), &["new", name]);
        assert_eq!(ran.code, 2, "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
