//! Designs, their locks and documents, and new projects.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::stage::{Ran, run, run_command, switchboard};

fn design(version: &str, tools: &[&str]) -> String {
    let args = json!({"schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        "additionalProperties": false}});
    let tool = |name: &&str| json!({"name": name, "rustName": name, "description": "Does it.", "args": args});
    let tools: Vec<_> = tools.iter().map(tool).collect();
    json!({"name": "texts", "version": version, "tools": tools}).to_string()
}

/// Runs in a folder.
fn within(folder: &Path, args: &[&str]) -> Ran {
    let mut command = switchboard(args);
    command.current_dir(folder);
    run_command(command, "")
}

/// A folder with a program that prints a design when it is asked to as services are.
fn service(design: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("design.json"), design).unwrap();
    let script = "#!/bin/sh\ntest \"$*\" = 'design print --json' || exit 9\nexec cat design.json\n";
    fs::write(folder.path().join("texts"), script).unwrap();
    folder
}

const CMD: [&str; 3] = ["--", "sh", "./texts"];

#[test]
fn a_design_is_printed_for_people_and_for_programs() {
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
    assert!(ran.err.contains("this is no design"), "{}", ran.err);
    assert_eq!(run(&["design", "print"]).code, 2);
}

#[test]
fn a_lock_tells_breaking_changes_from_compatible_ones() {
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
    let told = ran.json();
    assert_eq!(
        (ran.code, &told["worst"], &told["changes"][0]["place"]),
        (1, &json!("breaking"), &json!("tool `b`"))
    );

    // A lock is a design too.
    let ran = within(folder.path(), &["design", "diff", "design.json", "design.lock.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "compatible: tool `b` was added\n"));

    // Blessing replaces a lock, and nothing else.
    assert_eq!(check(&["--bless"]).code, 0);
    let path = folder.path().join("design.lock.json");
    fs::write(&path, "mine").unwrap();
    let ran = check(&["--bless"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("is no lock"), "{}", ran.err);
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
    assert!(ran.err.contains("is not what the design says"), "{}", ran.err);
    assert_eq!(quickstart(&[]).code, 0);
    assert!(read().contains("call other"));
}

#[test]
fn a_quickstart_never_touches_a_file_of_somebody_else() {
    let folder = service(&design("1.0.0", &["a"]));
    let path = folder.path().join("AGENTS_QUICKSTART.md");
    fs::write(&path, "# Mine\n").unwrap();
    let ran = within(folder.path(), &[&["quickstart"][..], &CMD].concat());
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("was not written by this command"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), "# Mine\n");
}

#[test]
fn a_design_that_wants_no_quickstart_gets_none() {
    let folder = service(&design("1.0.0", &["a"]).replacen('{', r#"{"quickstart":false,"#, 1));
    let ran = within(folder.path(), &[&["quickstart"][..], &CMD].concat());
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("`quickstart = false`: nothing is written"), "{}", ran.out);
    assert!(!folder.path().join("AGENTS_QUICKSTART.md").exists());
}

#[test]
fn a_project_is_written_once_and_what_was_changed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let ran = within(folder.path(), &["new", "my-notes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let at = |place: &str| folder.path().join("my-notes").join(place);
    let manifest = fs::read_to_string(at("Cargo.toml")).unwrap();
    let version = format!(
        "switchboard = {{ package = \"switchboard-mcp\", version = \"{}\"",
        env!("CARGO_PKG_VERSION")
    );
    assert!(manifest.contains(&version), "{manifest}");
    assert!(fs::read_to_string(at("src/lib.rs")).unwrap().contains("pub trait MyNotes {"));
    assert!(!at("agents").exists());

    fs::write(at("src/lib.rs"), "// mine\n").unwrap();
    fs::remove_file(at("README.md")).unwrap();
    let ran = within(folder.path(), &["new", "my-notes", "--agent"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("kept   src/lib.rs\n") && ran.out.contains("wrote  README.md\n"), "{}", ran.out);
    assert_eq!(fs::read_to_string(at("src/lib.rs")).unwrap(), "// mine\n");
    assert_eq!(fs::read_to_string(at("Cargo.toml")).unwrap(), manifest);
    for place in ["bootstrap.rs", "scribe/planner.rs", "scribe/toolsets/notes/adapter.rs"] {
        let text = fs::read_to_string(at("agents").join(place)).unwrap();
        assert!(text.starts_with("//! ") && text.contains("it is yours"), "{place}");
        assert!(!text.contains("__"), "{place} has a name that was not filled in: {text}");
    }

    let ran = within(folder.path(), &["new", "my-notes", "--agent"]);
    assert!(!ran.out.contains("wrote"), "{}", ran.out);
    assert!(ran.out.contains("16 kept as they were"), "{}", ran.out);
}

#[test]
fn a_name_that_is_none_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["../up", "fn", "Big"] {
        let ran = within(folder.path(), &["new", name]);
        assert_eq!(ran.code, 2, "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Builds a whole project, which takes a minute: `cargo xtask test` runs it once, in its own step.
#[test]
#[ignore = "builds a project; run by the step `scaffold` of cargo xtask test"]
fn a_new_project_builds_and_passes_its_tests() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = root.to_str().unwrap();
    let ran = within(folder.path(), &["new", "notes", "--agent", "--switchboard-path", sources]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let project = folder.path().join("notes");
    // The same versions as here, so that nothing is fetched.
    fs::copy(root.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--offline", "--workspace"]).current_dir(&project);
    // The same settings as here, so that what is built here is not built again.
    cargo
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_PROFILE_TEST_DEBUG", "line-tables-only");
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| root.join("target").into());
    cargo.env("CARGO_TARGET_DIR", target);
    let output = cargo.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("it_works_in_both_eras ... ok"), "{out}");
    assert!(out.contains("the_scribe_keeps_a_note_and_finds_it_again ... ok"), "{out}");
}
