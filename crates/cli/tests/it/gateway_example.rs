//! `examples/gateway`, by the walkthrough of docs/gateway.md: its commands are run as they are written.

use std::path::Path;

use switchboard_testkit::{ReservedPort, RunningCommand, run_command};

use crate::commands::SWITCHBOARD;
use crate::home::Home;

const PAGE: &str = include_str!("../../../../docs/gateway.md");

/// A command of the walkthrough, and texts that its output contains.
struct Step {
    command: String,
    expected: Vec<String>,
}

/// Returns the blocks of the walkthrough.
fn walkthrough() -> Vec<Vec<Step>> {
    let section = PAGE.split("\n## Walkthrough\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let steps = |block: &str| {
        let mut steps: Vec<Step> = Vec::new();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), expected: Vec::new() }),
                None => steps.last_mut().unwrap().expected.push(line.to_owned()),
            }
        }
        steps
    };
    blocks.map(steps).collect()
}

/// Returns a shell for this user, in the directory, that finds `switchboard`.
fn shell(home: &Home, directory: &Path, script: &str) -> std::process::Command {
    let mut command = home.command(&[]);
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command = std::process::Command::new("sh");
    let folder = Path::new(SWITCHBOARD).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    command.args(["-c", script]).envs(environment).env("PATH", path).current_dir(directory);
    command
}

#[test]
fn the_walkthrough_does_what_it_says() {
    let home = Home::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
    let directory = home.at("examples/gateway");
    std::fs::create_dir_all(&directory).unwrap();
    let port = ReservedPort::new();
    let address = port.address().to_string();
    for name in ["gateway.toml", "policy.toml", "servers.json"] {
        let text = std::fs::read_to_string(source.join(name)).unwrap();
        std::fs::write(directory.join(name), text.replace("127.0.0.1:8080", &address)).unwrap();
    }
    let mut blocks = walkthrough().into_iter();
    let prepare = blocks.next().unwrap();
    assert_eq!(prepare[0].command, "cd examples/gateway");
    for step in &prepare[1..] {
        let done = run_command(shell(&home, &directory, &step.command), "");
        assert_eq!(done.code, 0, "{}: {}", step.command, done.err);
    }
    let [start] = &blocks.next().unwrap()[..] else { panic!("one command starts the gateway") };
    drop(port);
    let mut gateway = RunningCommand::start(shell(&home, &directory, &format!("exec {}", start.command)));
    for line in &start.expected {
        gateway.err.wait_for(&line.replace("127.0.0.1:8080", &address), 0);
    }
    let mut script = String::new();
    let steps: Vec<Step> = blocks.flatten().collect();
    for (at, Step { command, .. }) in steps.iter().enumerate() {
        script += &format!("{command}\necho '=== end of step {at}'\n");
    }
    let script = format!("exec 2>&1\n{}", script.replace("127.0.0.1:8080", &address));
    let done = run_command(shell(&home, &directory, &script), "");
    let mut rest = done.out.as_str();
    for (at, Step { command, expected }) in steps.iter().enumerate() {
        let (output, after) =
            rest.split_once(&format!("=== end of step {at}\n")).unwrap_or_else(|| panic!("{}", done.out));
        for line in expected {
            assert!(
                output.contains(line.as_str()),
                "{command}\nshould print {line:?}, and printed\n{output}"
            );
        }
        rest = after;
    }
    gateway.err.wait_for("configuration applied: policy replaced", 0);
    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0));
}
