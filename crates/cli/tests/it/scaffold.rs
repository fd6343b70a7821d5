//! New projects and agents. Tests that build whole projects are ignored here and run by `cargo xtask ci --only scaffold`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use switchboard_testkit::{CommandOutput, run_command};

use crate::commands::{SWITCHBOARD, switchboard};

/// Runs a command in a folder.
fn within(folder: &Path, args: &[&str]) -> CommandOutput {
    let mut command = switchboard(args);
    command.current_dir(folder);
    run_command(command, "")
}

/// Returns the sources this program was built from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns a design with read-only tools of these names.
fn design(tools: &[&str]) -> String {
    let args = json!({"schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        "additionalProperties": false}});
    let annotations = json!({"readOnlyHint": true});
    let tool = |name: &&str| json!({"name": name, "rustName": name, "description": "Does it.", "args": args, "annotations": annotations});
    let tools: Vec<_> = tools.iter().map(tool).collect();
    json!({"name": "texts", "version": "1.0.0", "tools": tools}).to_string()
}

/// Creates a project whose program prints the design in `design.json`.
fn project(tools: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("design.json"), design(tools)).unwrap();
    fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"texts\"\n").unwrap();
    let script = "test \"$*\" = 'design print --json' || exit 9\nexec cat design.json\n";
    fs::write(folder.path().join("texts"), script).unwrap();
    folder
}

const AGENT: [&str; 8] = ["new", "texts", "--agent", "--dir", ".", "--", "sh", "./texts"];

#[test]
fn c15_a_new_project_depends_on_the_sources_this_program_was_built_from() {
    let folder = tempfile::tempdir().unwrap();
    let ran = within(folder.path(), &["new", "my-notes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let manifest = fs::read_to_string(folder.path().join("my-notes/Cargo.toml")).unwrap();
    let sources = root().join("crates/switchboard");
    let line = format!("switchboard = {{ package = \"switchboard-mcp\", path = \"{}\"", sources.display());
    assert!(manifest.contains(&line), "{manifest}");
    assert!(!manifest.contains("members"), "a pattern that matches nothing is refused by cargo: {manifest}");
}

#[test]
fn v1_missing_sources_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    for path in ["/nowhere", here] {
        let ran = within(folder.path(), &["new", "shop", "--switchboard-path", path]);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains("does not contain the sources of switchboard"), "{}", ran.err);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn an_existing_project_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(within(folder.path(), &["new", "my-notes"]).code, 0);
    let at = |place: &str| folder.path().join("my-notes").join(place);
    fs::write(at("src/lib.rs"), "// mine\n").unwrap();
    fs::remove_file(at("README.md")).unwrap();
    let ran = within(folder.path(), &["new", "my-notes"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("my-notes already contains a project"), "{}", ran.err);
    assert!(!at("README.md").exists());
    assert_eq!(fs::read_to_string(at("src/lib.rs")).unwrap(), "// mine\n");
}

#[test]
fn d1_an_agent_has_an_adapter_for_each_tool_of_its_service() {
    let folder = project(&["count_words", "type", "Say-Hello"]);
    let ran = within(folder.path(), &AGENT);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let read = |place: &str| fs::read_to_string(folder.path().join("agents").join(place)).unwrap();
    let toolset = read("operator/toolsets/texts/mod.rs");
    for module in ["count_words", "type_tool", "say_hello"] {
        assert!(toolset.contains(&format!("pub mod {module};\n")), "{toolset}");
        let adapter = read(&format!("operator/toolsets/texts/{module}.rs"));
        assert!(adapter.contains("pub fn call(text: &str) -> Step {"), "{adapter}");
        assert!(!adapter.contains("__"), "a name was not filled in: {adapter}");
    }
    assert!(read("bootstrap.rs").contains("const PROGRAM: &[&str] = &[\"sh\", \"./texts\"];"));
    assert!(read("operator/planner.rs").contains("Plan::Call(count_words::example())"));
    let files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files.len(), 4, "nothing but the agent is written: {files:?}");
}

#[test]
fn d1_changed_or_deleted_files_stay_that_way() {
    let folder = project(&["a"]);
    assert_eq!(within(folder.path(), &AGENT).code, 0);
    let at = |place: &str| folder.path().join("agents").join(place);
    fs::write(at("operator/planner.rs"), "// mine\n").unwrap();
    fs::remove_file(at("operator/toolsets/texts/a.rs")).unwrap();
    // A new tool gets an adapter, and nothing else changes.
    fs::write(folder.path().join("design.json"), design(&["a", "b"])).unwrap();
    let ran = within(folder.path(), &AGENT);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("gone  agents/operator/toolsets/texts/a.rs\n"), "{}", ran.out);
    assert!(ran.out.contains("kept   agents/operator/planner.rs\n"), "{}", ran.out);
    assert!(!at("operator/toolsets/texts/a.rs").exists());
    assert!(at("operator/toolsets/texts/b.rs").exists());
    assert_eq!(fs::read_to_string(at("operator/planner.rs")).unwrap(), "// mine\n");
}

#[test]
fn d1_an_unreadable_design_writes_nothing() {
    let folder = project(&["a"]);
    fs::write(folder.path().join("design.json"), "none").unwrap();
    let ran = within(folder.path(), &AGENT);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(!folder.path().join("agents").exists());
}

/// Cargo with the lock file, target folder and profile of this repository: nothing is built twice, and nothing is
/// fetched.
struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // This program is at TARGET/PROFILE/switchboard.
        let target = Path::new(SWITCHBOARD).ancestors().nth(2).unwrap();
        let config = format!(
            "[build]\ntarget-dir = {:?}\n[net]\noffline = true\n[profile.dev]\ndebug = \"line-tables-only\"\n\
             [profile.dev.package.\"*\"]\ndebug = false\n[profile.dev.package.sha2]\nopt-level = 3\n",
            target.to_str().unwrap()
        );
        fs::create_dir(folder.path().join(".cargo")).unwrap();
        fs::write(folder.path().join(".cargo/config.toml"), config).unwrap();
        Self { folder }
    }

    fn switchboard(&self, args: &[&str]) {
        // Without a timeout: a project may have to be built first.
        let output = switchboard(args).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Asserts that a project is formatted, has no warnings and passes its tests; returns the output of the tests.
    fn proves(&self, place: &str) -> String {
        let at = self.folder.path().join(place);
        fs::copy(root().join("Cargo.lock"), at.join("Cargo.lock")).unwrap();
        self.cargo(&at, &["fmt", "--check"]);
        self.cargo(&at, &["clippy", "--all-targets", "--", "-D", "warnings"]);
        self.cargo(&at, &["test"])
    }

    fn cargo(&self, at: &Path, args: &[&str]) -> String {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output =
            Command::new(cargo).args(args).current_dir(at).env_remove("CARGO_TARGET_DIR").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "cargo {args:?} in {}:\n{out}\n{err}", at.display());
        out.into_owned()
    }

    /// Creates a project of `switchboard new` whose service has this many tools.
    fn with_tools(&self, name: &str, count: usize) {
        self.switchboard(&["new", name]);
        let at = self.folder.path().join(name);
        let mut service = name[..1].to_uppercase();
        service += &name[1..];
        let (mut methods, mut bodies) = (String::new(), String::new());
        for number in 0..count {
            methods += &format!(
                "    /// Says a text {number} times.\n    #[tool(read_only)]\n    async fn say_{number}(&self, text: String, most: Option<u32>) -> Result<String>;\n"
            );
            bodies += &format!(
                "    async fn say_{number}(&self, text: String, _: Option<u32>) -> Result<String> {{\n        Ok(text.repeat({number}))\n    }}\n"
            );
        }
        fs::write(
            at.join("src/lib.rs"),
            format!(
                "//! Tools.\n\npub mod in_memory;\n\nuse switchboard::service::prelude::*;\n\n/// Says texts.\n#[service(name = \"{name}\", version = \"0.1.0\")]\npub trait {service} {{\n{methods}}}\n"
            ),
        )
        .unwrap();
        fs::write(
            at.join("src/in_memory.rs"),
            format!(
                "//! Tools.\n\nuse switchboard::service::prelude::*;\n\nuse crate::{service};\n\n/// Says texts.\n#[derive(Debug, Default)]\npub struct InMemory;\n\nimpl {service} for InMemory {{\n{bodies}}}\n"
            ),
        )
        .unwrap();
        fs::remove_file(at.join("tests/service.rs")).unwrap();
        fs::copy(root().join("Cargo.lock"), at.join("Cargo.lock")).unwrap();
    }
}

const AGENT_TESTS: [&str; 2] = ["every_adapter_has_its_tool ... ok", "the_operator_comes_to_an_end ... ok"];

#[test]
#[ignore = "builds a project; run by the step `scaffold` of cargo xtask ci"]
fn v1_a_new_project_builds_and_passes_its_tests() {
    let workshop = Workshop::open();
    workshop.switchboard(&["new", "shop"]);
    let said = workshop.proves("shop");
    assert!(said.contains("it_works_in_both_eras ... ok"), "{said}");
}

#[test]
#[ignore = "builds a project; run by the step `scaffold` of cargo xtask ci"]
fn v1_a_new_project_with_an_agent_builds_and_passes_its_tests() {
    let workshop = Workshop::open();
    workshop.switchboard(&["new", "notes", "--agent"]);
    workshop.proves("notes");
    let said = workshop.proves("notes/agents");
    assert!(AGENT_TESTS.iter().all(|test| said.contains(test)), "{said}");
    // The design of the templates equals the design that the project prints.
    let at = workshop.folder.path().join("notes");
    let printed: serde_json::Value =
        serde_json::from_str(&workshop.cargo(&at, &["run", "--quiet", "--", "design", "print", "--json"]))
            .unwrap();
    let template = include_str!("../../templates/service/design.json").replace("__package__", "notes");
    let template: serde_json::Value = serde_json::from_str(&template).unwrap();
    for (tool, expected) in
        printed["tools"].as_array().unwrap().iter().zip(template["tools"].as_array().unwrap())
    {
        for field in ["name", "example", "description"] {
            assert_eq!(tool[field], expected[field]);
        }
        assert_eq!(tool["args"]["schema"]["required"], expected["args"]["schema"]["required"]);
        assert_eq!(tool["args"]["order"], expected["args"]["order"]);
    }
}

#[test]
#[ignore = "builds a project; run by the step `scaffold` of cargo xtask ci"]
fn d1_an_agent_for_one_tool_and_for_thirty_builds_and_passes_its_tests() {
    let workshop = Workshop::open();
    for (name, count) in [("single", 1), ("thirty", 30)] {
        workshop.with_tools(name, count);
        workshop.switchboard(&["new", name, "--agent"]);
        let said = workshop.proves(&format!("{name}/agents"));
        assert!(AGENT_TESTS.iter().all(|test| said.contains(test)), "{said}");
    }
}

#[test]
#[ignore = "builds a project; run by the step `scaffold` of cargo xtask ci"]
fn d1_an_agent_for_the_assistant_builds_and_passes_its_tests() {
    let workshop = Workshop::open();
    let assistant = Path::new(SWITCHBOARD).with_file_name("assistant");
    assert!(assistant.exists(), "{} is built by `cargo test --workspace`", assistant.display());
    // An existing project: only its program matters.
    let project = workshop.folder.path().join("assistant");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("Cargo.toml"), "[package]\nname = \"assistant\"\n").unwrap();
    workshop.switchboard(&["new", "assistant", "--agent", "--", assistant.to_str().unwrap()]);
    let adapters = project.join("agents/operator/toolsets/assistant_mcp");
    assert_eq!(fs::read_dir(adapters).unwrap().count(), 8, "seven tools and what they share");
    let said = workshop.proves("assistant/agents");
    assert!(AGENT_TESTS.iter().all(|test| said.contains(test)), "{said}");
}
