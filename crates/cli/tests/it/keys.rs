//! `switchboard key`: keys are shown once, stored as hashes, and accepted or rejected by a running server at once.

use std::time::Instant;

use serde_json::Value;
use switchboard_testkit::{CommandOutput, STEP_TIMEOUT};

use crate::home::{Home, is_private};
use crate::servers::HttpDemo;

const DEFAULT_FILE: &str = "config/switchboard/api-keys.json";

#[test]
fn a_key_is_printed_once_and_stored_as_a_hash() {
    let home = Home::new();
    let args = ["key", "create", "ci", "--scope", "notes:read", "--scope", "a b", "--expires", "90d"];
    let created = home.run_ok(&args);
    let key = created.out.trim_end();
    assert!(key.starts_with("sbk_") && created.out.lines().count() == 1, "{}", created.out);
    assert!(!created.err.contains(key) && created.err.contains("it expires in "), "{}", created.err);
    assert!(!home.read(DEFAULT_FILE).contains(key));
    assert!(is_private(&home.at(DEFAULT_FILE)));

    home.run_ok(&["key", "create", "laptop"]);
    let listed = home.run_ok(&["key", "list"]).out;
    let prefix = &key[.."sbk_0123456789ab".len()];
    for text in ["NAME", prefix, "notes:read a b", " ago", " days", "laptop", "never expires"] {
        assert!(listed.contains(text), "{text}: {listed}");
    }
    assert!(!listed.contains(key));
    let all = home.run_ok(&["key", "list", "--json"]).json();
    assert_eq!((&all[0]["prefix"], &all[0]["scopes"][2]), (&Value::from(prefix), &Value::from("b")));
    assert_eq!((&all[1]["name"], &all[1]["expiresAt"]), (&Value::from("laptop"), &Value::Null));

    let twice = home.run(&["key", "create", "ci", "--json"]);
    assert_eq!((twice.code, &twice.error()["kind"]), (1, &Value::from("key_exists")));
}

#[test]
fn a_key_is_revoked_by_name_or_prefix_and_never_by_a_guess() {
    let home = Home::new();
    let file = home.at("keys.json").display().to_string();
    let run = |args: &[&str]| home.run(&[&["key"], args, &["--file", &file, "--json"]].concat());
    let missing = run(&["revoke", "a"]);
    assert_eq!((missing.code, &missing.error()["kind"]), (1, &Value::from("unknown_key")));
    assert!(!home.at("keys.json").exists());
    let keys: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|name| run(&["create", name]).json()["key"].as_str().unwrap().to_owned())
        .collect();
    for (text, kind) in [("sbk_", "unknown_key"), ("d", "unknown_key"), ("sbk_nothexdigit", "unknown_key")] {
        let refused = run(&["revoke", text]);
        assert_eq!((refused.code, &refused.error()["kind"]), (1, &Value::from(kind)), "{text}");
    }
    assert_eq!(run(&["revoke", "a"]).json()["name"], "a");
    assert_eq!(run(&["revoke", &keys[1][..16]]).json()["name"], "b");
    // A whole key is recognized by its prefix.
    let revoked = run(&["revoke", &keys[2]]);
    assert_eq!(revoked.json()["name"], "c");
    assert!(!revoked.out.contains(&keys[2]));
    assert_eq!(run(&["list"]).json(), Value::Array(Vec::new()));
    // Unknown now, and the message does not repeat the key.
    let unknown = run(&["revoke", &keys[2]]);
    assert!(unknown.code == 1 && !unknown.err.contains(&keys[2]), "{}", unknown.err);
}

#[test]
fn keys_created_at_the_same_time_are_all_stored() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let home = &home;
            scope.spawn(move || home.run_ok(&["key", "create", &format!("key-{number}")]));
        }
    });
    assert_eq!(home.run_ok(&["key", "list", "--json"]).json().as_array().unwrap().len(), 8);
}

#[test]
fn other_files_and_wrong_arguments_are_rejected_unchanged() {
    let home = Home::new();
    home.write("other.json", &serde_json::json!({ "mcpServers": {} }));
    let (file, before) = (home.at("other.json").display().to_string(), home.read("other.json"));
    for args in [&["create", "x"][..], &["list"], &["revoke", "x"]] {
        let ran = home.run(&[&["key"], args, &["--file", &file]].concat());
        assert!(ran.code == 1 && ran.err.contains("not a file of API keys"), "{args:?} {}", ran.err);
    }
    assert_eq!(home.read("other.json"), before);
    for args in
        [&["create"][..], &["create", "x", "--expires", "soon"], &["create", "sbk_x"], &["revoke"], &[]]
    {
        assert_eq!(home.run(&[&["key"], args].concat()).code, 2, "{args:?}");
    }
}

#[test]
fn a_running_server_notices_new_and_revoked_keys() {
    let home = Home::new();
    let file = home.at("keys.json").display().to_string();
    let key = |name: &str| home.run_ok(&["key", "create", name, "--file", &file]).out.trim_end().to_owned();
    let first = key("first");
    let server = HttpDemo::start(&["--api-keys", &file]);
    let call = |key: Option<&str>| -> CommandOutput {
        let mut command =
            home.command(&["call", "echo", "text=x", "--url", &server.url, "--bearer-env", "API_KEY"]);
        command.env("API_KEY", key.unwrap_or("sbk_000000000000_none"));
        switchboard_testkit::run_command(command, "")
    };
    assert_eq!(call(Some(&first)).out, "x\n");
    assert_eq!(call(None).code, 3);
    // The file is looked at once a second: calls are repeated until it was.
    let becomes = |key: &str, code: i32| {
        let end = Instant::now() + STEP_TIMEOUT;
        while call(Some(key)).code != code {
            assert!(Instant::now() < end, "the change was not noticed");
        }
    };
    let second = key("second");
    becomes(&second, 0);
    home.run_ok(&["key", "revoke", "first", "--file", &file]);
    becomes(&first, 3);
    assert_eq!(call(Some(&second)).code, 0);
}
