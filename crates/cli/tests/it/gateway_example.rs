//! `examples/gateway`, by the walkthrough of docs/gateway.md: its commands are run as they are written.

use std::path::Path;

use switchboard_testkit::{ReservedPort, RunningCommand, run_command};

use crate::commands::SWITCHBOARD;
use crate::home::Home;

const PAGE: &str = include_str!("../../../../docs/gateway.md");

/// A command of the walkthrough, and lines of its output, in order; `…` stands for any text.
struct Step {
    command: String,
    expected: Vec<String>,
}

impl Step {
    fn check(&self, output: &str) {
        let mut rest = output;
        for line in &self.expected {
            for part in line.split('…') {
                let (_, after) = rest.split_once(part).unwrap_or_else(|| {
                    panic!("{}\nshould print {line:?}, and printed\n{output}", self.command)
                });
                rest = after;
            }
        }
    }
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
    // Where the first command copies the example to, and the second one goes.
    let directory = home.at("switchboard-gateway");
    std::fs::create_dir_all(&directory).unwrap();
    let port = ReservedPort::new();
    let address = port.address().to_string();
    for name in ["gateway.toml", "policy.toml", "servers.json"] {
        let text = std::fs::read_to_string(source.join(name)).unwrap();
        std::fs::write(directory.join(name), text.replace("127.0.0.1:8080", &address)).unwrap();
    }
    let mut blocks = walkthrough().into_iter();
    let prepare = blocks.next().unwrap();
    assert_eq!(prepare[0].command, "cp -R examples/gateway ~/switchboard-gateway");
    assert_eq!(prepare[1].command, "cd ~/switchboard-gateway");
    for step in &prepare[2..] {
        let done = run_command(shell(&home, &directory, &step.command), "");
        assert_eq!(done.code, 0, "{}: {}", step.command, done.err);
        step.check(&done.err);
    }
    let [start] = &blocks.next().unwrap()[..] else { panic!("one command starts the gateway") };
    drop(port);
    let mut gateway = RunningCommand::start(shell(&home, &directory, &format!("exec {}", start.command)));
    for line in &start.expected {
        let mut from = 0;
        for part in line.replace("127.0.0.1:8080", &address).split('…') {
            from = gateway.err.wait_for(part, from);
        }
    }
    let mut script = String::new();
    let steps: Vec<Step> = blocks.flatten().collect();
    for (at, Step { command, .. }) in steps.iter().enumerate() {
        script += &format!("{command}\necho '=== end of step {at}'\n");
    }
    let script = format!("exec 2>&1\n{}", script.replace("127.0.0.1:8080", &address));
    let done = run_command(shell(&home, &directory, &script), "");
    let mut rest = done.out.as_str();
    for (at, step) in steps.iter().enumerate() {
        let (output, after) =
            rest.split_once(&format!("=== end of step {at}\n")).unwrap_or_else(|| panic!("{}", done.out));
        step.check(output);
        rest = after;
    }
    gateway.err.wait_for("configuration applied: policy replaced", 0);
    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0));
}
