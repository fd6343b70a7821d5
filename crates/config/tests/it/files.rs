//! Files of servers: read, changed, put together, approved.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_config::{
    Approval, Approvals, ConfigError, ConfigErrorKind, ConfigFile, ConfiguredServer, Layer, Locations,
    OffReason, ResolvedConfig, Scope, ServerConfig, StartPolicy, TransportConfig,
};
use tempfile::TempDir;

/// Directories of its own for everything.
struct Stage {
    root: TempDir,
    at: Locations,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("project")).unwrap();
        let at = Locations::under(path("project"), &path("config"), &path("state"))
            .with_managed_file(path("etc/switchboard/mcp.json"));
        Self { root, at }
    }

    fn put(&self, path: &Path, servers: &Value) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, json!({"mcpServers": servers}).to_string()).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn resolve(&self) -> ResolvedConfig {
        ResolvedConfig::read(&self.at, &[], &variables)
    }
}

fn variables(name: &str) -> Option<String> {
    (name == "TOKEN").then(|| "s3cr3t".to_owned())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn open_text(text: &str) -> Result<ConfigFile, ConfigError> {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("mcp.json");
    fs::write(&path, text).unwrap();
    ConfigFile::open_shared(path)
}

fn arguments(server: &ConfiguredServer) -> &[String] {
    let TransportConfig::Stdio { args, .. } = &server.plan.as_ref().unwrap().transport else {
        panic!("{server:?}")
    };
    args
}

#[test]
fn a_fault_points_at_file_line_column_and_field() {
    for (text, place, field) in [
        ("{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\",}\n  }\n}", (3, 26), ""),
        ("[]", (1, 1), ""),
        ("{\"mcpServers\": []}", (1, 16), "mcpServers"),
        ("{\"mcpServers\": {}, \"mcpServers\": {}}", (1, 20), "mcpServers"),
    ] {
        let error = open_text(text).unwrap_err();
        let position = error.position().unwrap();
        assert_eq!(((position.line, position.column), error.field()), (place, field), "{error}");
        assert!(error.to_string().contains(&format!("mcp.json:{}:{}: ", place.0, place.1)), "{error}");
    }
}

#[test]
fn one_bad_entry_harms_no_other_and_says_where_it_stands() {
    let text = r#"{
  "mcpServers": {
    "good": {"command": "x"},
    "bad": {
      "command": "x",
      "args": ["a", 7]
    },
    "worse": {"type": "http"},
    "twice": {"command": "x"},
    "odd": {"command": "x", "comand": "y", "headers": {}},
    "twice": {"command": "y"},
    "double": {"command": "x", "command": "rm"}
  }
}"#;
    let file = open_text(text).unwrap();
    let names: Vec<&str> = file.servers().iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["good", "bad", "worse", "twice", "odd", "double"]);
    let error = |index: usize| file.servers()[index].entry.as_ref().unwrap_err().to_string();
    assert!(file.servers()[0].entry.is_ok() && file.servers()[4].entry.is_ok());
    assert!(error(1).ends_with(
        "mcp.json:6:21: mcpServers.bad.args[1]: expected a string in double quotes, found a number"
    ));
    assert!(error(2).ends_with("mcp.json:8:14: mcpServers.worse: a server of type `http` needs a `url`"));
    assert!(error(3).ends_with("mcp.json:11:5: mcpServers.twice: duplicate key; remove one of the two"));
    assert!(
        error(5).ends_with("mcp.json:12:32: mcpServers.double.command: duplicate key; remove one of the two")
    );
    let warnings: Vec<String> = file.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2);
    assert!(
        warnings[0].ends_with("mcp.json:10:29: mcpServers.odd.comand: unknown field: kept, but not used")
    );
    assert!(warnings[1].contains("mcpServers.odd.headers: a server of type `stdio` does not use this"));
}

#[test]
fn a_change_keeps_every_other_byte() {
    let stage = Stage::new();
    let text = "{\n    \"$schema\": \"x\",\n    \"mcpServers\": {\n        \"b\": { \"command\":\"x\", \"vendor\": [1,2] },\n        \"a\": {\n            \"url\": \"https://h\"\n        }\n    },\n    \"other\": {\"z\": 1,  \"a\": 2}\n}\n";
    fs::write(&stage.at.project_file, text).unwrap();
    let mut file = ConfigFile::open_shared(&stage.at.project_file).unwrap();
    file.set_disabled("a", true).unwrap();
    file.set_disabled("b", true).unwrap();
    file.add("c", &ServerConfig::stdio("y", ["-v"])).unwrap();
    file.write().unwrap();
    let expected = text
        .replace("[1,2] }", "[1,2], \"disabled\": true }")
        .replace("\"https://h\"\n        }", "\"https://h\",\n            \"disabled\": true\n        },\n        \"c\": {\n            \"type\": \"stdio\",\n            \"command\": \"y\",\n            \"args\": [\n                \"-v\"\n            ]\n        }");
    assert_eq!(fs::read_to_string(&stage.at.project_file).unwrap(), expected);

    file.remove("c").unwrap();
    file.set_disabled("a", false).unwrap();
    file.set_disabled("b", false).unwrap();
    file.write().unwrap();
    assert_eq!(fs::read_to_string(&stage.at.project_file).unwrap(), text);
}

#[test]
fn a_file_is_made_from_nothing_and_is_private() {
    let stage = Stage::new();
    let mut file = ConfigFile::open(&stage.at.user_file).unwrap();
    assert!(file.servers().is_empty());
    let entry = ServerConfig::http("https://example.com/mcp").with_header("Authorization", "Bearer s3cr3t");
    file.add("remote", &entry).unwrap();
    assert_eq!(file.add("remote", &entry).unwrap_err().kind(), &ConfigErrorKind::AlreadyExists);
    assert_eq!(file.remove("other").unwrap_err().kind(), &ConfigErrorKind::UnknownServer);
    file.write().unwrap();
    assert_eq!(mode(&stage.at.user_file), 0o600);
    assert_eq!(mode(stage.at.user_file.parent().unwrap()), 0o700);
    let again = ConfigFile::open(&stage.at.user_file).unwrap();
    assert_eq!(again.servers()[0].entry.as_ref().unwrap(), &entry);
    assert!(!format!("{again:?}").contains("s3cr3t"));
    // Only the file is there: no draft was left.
    assert_eq!(fs::read_dir(stage.at.user_file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn s7_edits_of_two_programs_are_both_kept() {
    let stage = Stage::new();
    stage.put(&stage.at.user_file, &json!({}));
    let mut ours = ConfigFile::open(&stage.at.user_file).unwrap();
    let mut theirs = ConfigFile::open(&stage.at.user_file).unwrap();
    theirs.add("theirs", &ServerConfig::sdk("x")).unwrap();
    theirs.write().unwrap();
    ours.add("ours", &ServerConfig::sdk("y")).unwrap();
    ours.write().unwrap();
    let names =
        |file: &ConfigFile| file.servers().iter().map(|server| server.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ours), ["theirs", "ours"]);
    assert_eq!(names(&ConfigFile::open(&stage.at.user_file).unwrap()), ["theirs", "ours"]);
    // An edit that no longer applies is refused, and nothing is stored.
    theirs.remove("theirs").unwrap();
    ours.remove("theirs").unwrap();
    ours.add("more", &ServerConfig::sdk("z")).unwrap();
    theirs.write().unwrap();
    assert!(ours.write().unwrap_err().to_string().contains("no server of that name"));
    assert_eq!(names(&ConfigFile::open(&stage.at.user_file).unwrap()), ["ours"]);
}

#[test]
fn a_link_is_written_through_and_a_shared_file_keeps_its_mode() {
    let stage = Stage::new();
    let real = stage.root.path().join("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o664)).unwrap();
    symlink(&real, &stage.at.project_file).unwrap();
    let mut file = ConfigFile::open_shared(&stage.at.project_file).unwrap();
    file.add("a", &ServerConfig::sdk("a")).unwrap();
    file.write().unwrap();
    assert!(fs::symlink_metadata(&stage.at.project_file).unwrap().is_symlink());
    assert_eq!((mode(&real), ConfigFile::open_shared(&real).unwrap().servers().len()), (0o664, 1));
}

#[test]
fn what_is_no_configuration_is_not_read() {
    let stage = Stage::new();
    let path = stage.root.path().join("x.json");
    fs::write(&path, vec![b' '; 1024 * 1024 + 1]).unwrap();
    assert_eq!(ConfigFile::open(&path).unwrap_err().kind(), &ConfigErrorKind::TooLarge { max: 1024 * 1024 });
    fs::write(&path, vec![b' '; 1024 * 1024]).unwrap();
    assert!(ConfigFile::open(&path).unwrap().servers().is_empty());
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    assert!(ConfigFile::open(&path).unwrap_err().to_string().contains("byte 7 is not UTF-8"));
    assert!(matches!(ConfigFile::open(stage.root.path()).unwrap_err().kind(), ConfigErrorKind::Io { .. }));
    let foreign = open_text("{\"servers\": {\"a\": {}}}").unwrap();
    assert_eq!(foreign.warnings()[0].field(), "servers");
}

#[test]
fn the_whole_entry_of_the_strongest_scope_wins_and_the_others_are_named() {
    let stage = Stage::new();
    let at = &stage.at;
    stage.put(&at.managed_file, &json!({"a": {"command": "managed"}, "broken": {"type": "ws"}}));
    stage.put(
        &at.local_file,
        &json!({"b": {"command": "local"}, "a": {"command": "local", "env": {"X": "y"}}}),
    );
    stage.put(&at.project_file, &json!({"c": {"command": "project"}, "b": {"command": "project"}}));
    stage.put(
        &at.user_file,
        &json!({"d": {"command": "user"}, "c": {"command": "user"}, "broken": {"command": "x"}}),
    );
    let connectors =
        Layer::new(Scope::ClaudeAi, ["d", "e"].map(|name| (name.to_owned(), ServerConfig::sdk(name))));
    let resolved = ResolvedConfig::read(at, &[connectors], &variables);
    let servers: Vec<_> =
        resolved.servers.iter().map(|server| (server.name.as_str(), server.scope.as_str())).collect();
    assert_eq!(
        servers,
        [
            ("a", "managed"),
            ("broken", "managed"),
            ("b", "local"),
            ("c", "project"),
            ("d", "user"),
            ("e", "claudeai")
        ]
    );
    let shadowed: Vec<_> = resolved
        .shadowed
        .iter()
        .map(|one| (one.name.as_str(), one.scope.as_str(), one.by.as_str()))
        .collect();
    assert_eq!(
        shadowed,
        [
            ("a", "local", "managed"),
            ("b", "project", "local"),
            ("broken", "user", "managed"),
            ("c", "user", "project"),
            ("d", "claudeai", "user"),
        ]
    );
    let TransportConfig::Stdio { command, env, .. } =
        &resolved.server("a").unwrap().plan.as_ref().unwrap().transport
    else {
        panic!()
    };
    assert_eq!((command.as_str(), env.len()), ("managed", 0));
    // A mistake in the strongest scope lets no weaker one take over.
    assert!(resolved.server("broken").unwrap().plan.is_err());
}

#[test]
fn a_file_that_cannot_be_read_harms_no_other() {
    let stage = Stage::new();
    stage.put(
        &stage.at.user_file,
        &json!({"a": {"command": "x", "args": ["${UNSET}"]}, "b": {"command": "x"}}),
    );
    fs::write(&stage.at.project_file, "{").unwrap();
    let resolved = stage.resolve();
    assert_eq!(resolved.errors.len(), 1);
    assert_eq!(resolved.server("a").unwrap().plan.as_ref().unwrap_err().field(), "a.args[0]");
    assert!(resolved.server("b").unwrap().plan.is_ok());
}

/// A project's file once ran whatever it said, or kept its approval by name alone when its command changed.
#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T04_a_project_server_is_inert_until_its_exact_entry_is_approved() {
    let stage = Stage::new();
    let at = &stage.at;
    stage.put(&at.project_file, &json!({"a": {"command": "x", "args": ["${TOKEN}"]}}));
    let pending = stage.resolve();
    let server = pending.server("a").unwrap();
    assert_eq!(server.approval, Some(Approval::New));
    assert_eq!(server.plan.as_ref().unwrap().start, StartPolicy::Off(OffReason::Unapproved));
    assert_eq!(arguments(server), ["${TOKEN}"]);

    let mut approvals = Approvals::open(&at.approvals).unwrap();
    approvals.approve(&at.project, "a", server.entry.as_ref().unwrap()).unwrap();
    assert_eq!(mode(&at.approvals), 0o600);
    let approved = stage.resolve();
    let server_now = approved.server("a").unwrap();
    assert_eq!(server_now.plan.as_ref().unwrap().start, StartPolicy::AtOnce);
    assert_eq!(arguments(server_now), ["s3cr3t"]);

    // Not under another name, nor in another project.
    let entry = server.entry.as_ref().unwrap();
    assert_eq!(approvals.approval_of(&at.project, "b", entry), Approval::New);
    assert_eq!(approvals.approval_of(&at.project.join("sub"), "a", entry), Approval::New);

    Approvals::open(&at.approvals).unwrap().revoke(&at.project, "a").unwrap();
    assert_eq!(stage.resolve().server("a").unwrap().approval, Some(Approval::New));
}

#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T04_any_change_of_what_would_run_needs_a_new_approval() {
    let stage = Stage::new();
    let project = &stage.at.project;
    let read = |value: &Value| -> ServerConfig { serde_json::from_value(value.clone()).unwrap() };
    let stdio = json!({
        "type": "stdio", "command": "x", "args": ["a", "b"], "env": {"A": "1"}, "inheritEnv": ["B"], "cwd": "/c",
        "allowTools": ["r*"], "denyTools": ["w*"], "timeout": 1000,
    });
    let http = json!({"type": "http", "url": "https://h/mcp", "headers": {"A": "1"}});
    let mut approvals = Approvals::open(&stage.at.approvals).unwrap();
    approvals.approve(project, "stdio", &read(&stdio)).unwrap();
    approvals.approve(project, "http", &read(&http)).unwrap();

    let changed = |name: &str, base: &Value, pointer: &str, value: Value| {
        let mut entry = base.clone();
        match pointer.rsplit_once('/') {
            Some(("", key)) => entry[key] = value,
            Some((parent, key)) => entry.pointer_mut(parent).unwrap()[key] = value,
            None => unreachable!(),
        }
        approvals.approval_of(project, name, &read(&entry))
    };
    for (pointer, value) in [
        ("/command", json!("y")),
        ("/args", json!(["b", "a"])),
        ("/args", json!(["a b"])),
        ("/args", json!(["a"])),
        ("/env/A", json!("2")),
        ("/env/NEW", json!("1")),
        ("/inheritEnv", json!(["B", "C"])),
        ("/cwd", json!("/d")),
        ("/allowTools", json!([])),
        ("/denyTools", json!([])),
    ] {
        let approval = changed("stdio", &stdio, pointer, value);
        assert!(
            matches!(approval, Approval::Changed(ref before) if before.masked["command"] == "x"),
            "{pointer}"
        );
    }
    for (pointer, value) in [
        ("/type", json!("sse")),
        ("/url", json!("https://h/mcp2")),
        ("/url", json!("https://${HOST:-h}/mcp")),
        ("/headers/A", json!("${A}")),
        ("/headers/B", json!("1")),
        ("/allowHttp", json!(true)),
    ] {
        assert!(matches!(changed("http", &http, pointer, value), Approval::Changed(_)), "{pointer}");
    }
    // What changes when it runs, and what nothing reads, does not count.
    for (pointer, value) in [
        ("/timeout", json!(2000)),
        ("/disabled", json!(true)),
        ("/lazy", json!(true)),
        ("/required", json!(true)),
        ("/restart", json!("never")),
        ("/vendor", json!({"approved": true})),
    ] {
        assert_eq!(changed("stdio", &stdio, pointer, value), Approval::Approved, "{pointer}");
    }
    assert!(!fs::read_to_string(&stage.at.approvals).unwrap().contains("\"1\""));
}

#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T04_a_project_can_neither_approve_nor_trust_itself() {
    let stage = Stage::new();
    let text = json!({
        "enableAllProjectMcpServers": true, "approvals": {"a": true},
        "mcpServers": {"a": {"command": "x", "approved": true, "trust": true}},
    });
    fs::write(&stage.at.project_file, text.to_string()).unwrap();
    let resolved = stage.resolve();
    let server = resolved.server("a").unwrap();
    assert_eq!(server.plan.as_ref().unwrap().start, StartPolicy::Off(OffReason::Unapproved));
    assert!(!server.trust);
    assert!(resolved.warnings.iter().any(|warning| warning.field() == "a.trust"));

    stage.put(&stage.at.user_file, &json!({"mine": {"command": "x", "trust": true}}));
    assert!(stage.resolve().server("mine").unwrap().trust);
}

#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T04_a_file_others_could_have_written_is_not_read() {
    let stage = Stage::new();
    stage.put(&stage.at.user_file, &json!({"a": {"command": "x"}}));
    for bits in [0o620, 0o602, 0o666] {
        fs::set_permissions(&stage.at.user_file, fs::Permissions::from_mode(bits)).unwrap();
        let resolved = stage.resolve();
        assert!(resolved.servers.is_empty());
        assert!(matches!(resolved.errors[0].kind(), ConfigErrorKind::InsecureFile { .. }));
        assert!(resolved.errors[0].to_string().contains("chmod go-w"));
    }
    fs::set_permissions(&stage.at.user_file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(stage.resolve().servers.len(), 1);
    // Approvals that others could have written approve nothing.
    stage.put(&stage.at.project_file, &json!({"p": {"command": "x"}}));
    let mut approvals = Approvals::open(&stage.at.approvals).unwrap();
    approvals.approve(&stage.at.project, "p", &ServerConfig::stdio("x", Vec::<String>::new())).unwrap();
    assert_eq!(stage.resolve().server("p").unwrap().approval, Some(Approval::Approved));
    fs::set_permissions(&stage.at.approvals, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(stage.resolve().server("p").unwrap().approval, Some(Approval::New));
}

/// Packages without a version may be another program tomorrow.
#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T10_packages_without_a_version_are_warned_about() {
    for (command, args, warned) in [
        ("npx", vec!["-y", "pkg"], true),
        ("npx", vec!["-y", "@scope/pkg"], true),
        ("npx", vec!["-y", "@scope/pkg@1.2.3"], false),
        ("npx", vec!["pkg@latest"], true),
        ("/usr/bin/npx", vec!["pkg"], true),
        ("npx.cmd", vec!["pkg"], true),
        ("bunx", vec!["pkg@1"], false),
        ("uvx", vec!["pkg"], true),
        ("uvx", vec!["pkg==1.0"], false),
        ("uvx", vec!["pkg@1.0"], false),
        ("pipx", vec!["run", "pkg"], true),
        ("npx", vec!["./local"], false),
        ("npx", vec![], false),
        ("node", vec!["server.js"], false),
    ] {
        let cautions = ServerConfig::stdio(command, args.clone()).risk_warnings(Scope::User);
        assert_eq!(!cautions.is_empty(), warned, "{command} {args:?}");
    }
    let entry = ServerConfig::stdio("${SHELL}", ["x"]).with_env("LD_PRELOAD", "./evil.so");
    let fields: Vec<String> =
        entry.risk_warnings(Scope::Project).iter().map(|warning| warning.field().to_owned()).collect();
    assert_eq!(fields, ["command", "env.LD_PRELOAD"]);
}

#[test]
fn approvals_of_two_programs_do_not_undo_each_other() {
    let stage = Stage::new();
    let entry = ServerConfig::sdk("x");
    let mut one = Approvals::open(&stage.at.approvals).unwrap();
    let mut two = Approvals::open(&stage.at.approvals).unwrap();
    one.approve(&stage.at.project, "a", &entry).unwrap();
    two.approve(&stage.at.project, "b", &entry).unwrap();
    let both = Approvals::open(&stage.at.approvals).unwrap();
    assert_eq!(both.approval_of(&stage.at.project, "a", &entry), Approval::Approved);
    assert_eq!(both.approval_of(&stage.at.project, "b", &entry), Approval::Approved);
    fs::write(&stage.at.approvals, "[]").unwrap();
    assert!(one.approve(&stage.at.project, "c", &entry).unwrap_err().to_string().contains("move it away"));
}

/// A cloned project's file can name a server so that a terminal rewrites the screen.
#[test]
#[expect(non_snake_case, reason = "threats are tested under their ids")]
fn T41_what_a_terminal_would_obey_is_written_out() {
    let text = json!({"mcpServers": {"\u{1b}[2J\u{202e}x": {"type": "\u{1b}]52;c;x\u{7}", "\u{9b}1m": 1}, "y\n": {"command": "x", "\u{1b}c": 1}}});
    let file = open_text(&text.to_string()).unwrap();
    let error = file.servers()[0].entry.as_ref().unwrap_err();
    for told in [error.to_string(), file.warnings()[0].to_string()] {
        assert!(!told.contains(|char: char| char.is_control() || char == '\u{202e}'), "{told:?}");
    }
    assert!(error.to_string().contains("mcpServers.\\u{1b}[2J\\u{202e}x.type: "));
}

/// What is done to a file.
#[derive(Clone, Debug)]
enum Change {
    Set(u8, bool),
    Remove(u8),
    Disable(u8, bool),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let name = 0..4u8;
    let change = prop_oneof![
        (name.clone(), any::<bool>()).prop_map(|(name, long)| Change::Set(name, long)),
        name.clone().prop_map(Change::Remove),
        (name, any::<bool>()).prop_map(|(name, off)| Change::Disable(name, off)),
    ];
    prop::collection::vec(change, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// However a file is laid out and changed: it says what the changes say, and all the rest as before.
    #[test]
    fn changes_to_a_file_add_up(layout in 0..5usize, changes in changes()) {
        let before = [
            "{}",
            "{\"mcpServers\":{}}",
            "{ \"a\": [1, {\"b\": 2}], \"mcpServers\": { }, \"z\": \"\u{e9}\" }",
            "{\r\n\t\"mcpServers\": {\r\n\t\t\"s0\": {\"command\": \"x\"}\r\n\t},\r\n\t\"k\": null\r\n}\r\n",
            "{\n  \"k\": 1,\n  \"mcpServers\": {\n    \"s1\": {\n      \"url\": \"https://h\",\n      \"v\": {}\n    }\n  }\n}\n",
        ][layout];
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("mcp.json");
        fs::write(&path, before).unwrap();
        let mut file = ConfigFile::open_shared(&path).unwrap();
        let mut model: std::collections::BTreeMap<String, (ServerConfig, bool)> = file
            .servers()
            .iter()
            .map(|server| (server.name.clone(), (server.entry.clone().unwrap(), false)))
            .collect();
        for change in changes {
            match change {
                Change::Set(name, long) => {
                    let entry = if long { ServerConfig::stdio("x", ["a\"b", "c\n"]) } else { ServerConfig::sdk("y") };
                    file.set(&format!("s{name}"), &entry).unwrap();
                    model.insert(format!("s{name}"), (entry, false));
                }
                Change::Remove(name) => {
                    let known = model.remove(&format!("s{name}")).is_some();
                    prop_assert_eq!(file.remove(&format!("s{name}")).is_ok(), known);
                }
                Change::Disable(name, off) => {
                    let known = model.get_mut(&format!("s{name}")).map(|server| server.1 = off).is_some();
                    prop_assert_eq!(file.set_disabled(&format!("s{name}"), off).is_ok(), known);
                }
            }
        }
        file.write().unwrap();
        let again = ConfigFile::open_shared(&path).unwrap();
        let found: std::collections::BTreeMap<String, (ServerConfig, bool)> = again
            .servers()
            .iter()
            .map(|server| {
                let mut entry = server.entry.clone().unwrap();
                let off = std::mem::take(&mut entry.settings.disabled);
                (server.name.clone(), (entry, off))
            })
            .collect();
        prop_assert_eq!(found, model);
        let rest = |text: &str| {
            let mut value: Value = serde_json::from_str(text).unwrap();
            value.as_object_mut().unwrap().remove("mcpServers");
            value
        };
        prop_assert_eq!(rest(&fs::read_to_string(&path).unwrap()), rest(before));
    }
}
