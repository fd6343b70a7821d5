//! The steps of `cargo xtask test`: a table, and the loop that runs it.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::bench::{self, Checked};
use crate::command::{self, Failure};
use crate::conformance;
use crate::interop;
use crate::project::Project;
use crate::tidy;

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Project) -> Result<Outcome, Failure>,
}

#[derive(Debug)]
enum Outcome {
    Passed,
    /// There was nothing to run, and why: shown, and counted apart.
    Skipped(String),
}

const STEPS: &[Step] = &[
    Step { name: "fmt", what: "formatting, here, in interop/ and in benches/", run: fmt },
    Step { name: "tidy", what: "the rules that no compiler knows", run: tidy_step },
    Step { name: "clippy", what: "lints, warnings denied", run: clippy },
    Step { name: "features", what: "every feature builds alone", run: features },
    Step { name: "test", what: "unit, integration and doc tests", run: test },
    Step { name: "checks", what: "compile-fail and OpenTelemetry tests", run: checks },
    Step {
        name: "scaffold",
        what: "a project of `switchboard new` builds and passes its tests",
        run: scaffold,
    },
    Step { name: "rustdoc", what: "documentation, warnings denied", run: rustdoc },
    Step { name: "deny", what: "licences and advisories, where cargo-deny is installed", run: deny },
    Step { name: "interop-install", what: "programs the interop tests talk to", run: interop_install },
    Step { name: "interop", what: "tests against programs that others wrote", run: interop_tests },
    Step {
        name: "bench-check",
        what: "instructions and allocations, against what is recorded",
        run: bench_check,
    },
    Step {
        name: "conformance",
        what: "the official conformance suite, counted strictly",
        run: conformance_suite,
    },
];

pub(crate) fn exists(name: &str) -> bool {
    STEPS.iter().any(|step| step.name == name)
}

pub(crate) fn list() -> String {
    table(STEPS.iter().map(|step| (step.name, step.what.to_owned())))
}

/// Runs the steps named, or all of them, and stops at the first failure.
pub(crate) fn run(project: &Project, only: &[String]) -> Result<(), Failure> {
    let wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    let start = Instant::now();
    let mut times = Vec::new();
    let mut skipped = 0;
    for step in STEPS.iter().filter(wanted) {
        println!("\n==> {}: {}", step.name, step.what);
        let start = Instant::now();
        let outcome = (step.run)(project);
        let took = seconds(start.elapsed());
        match outcome {
            Ok(Outcome::Passed) => {
                println!("<== {}: passed in {}", step.name, took.trim());
                times.push((step.name, took));
            }
            Ok(Outcome::Skipped(why)) => {
                println!("<== {}: SKIPPED, {why}", step.name);
                times.push((step.name, format!("skipped, {why}")));
                skipped += 1;
            }
            Err(failure) => {
                times.push((step.name, format!("{took}  FAILED")));
                print!("\n{}", table(times));
                let again = format!("cargo xtask test --only {}", step.name);
                return Err(Failure::new(format!(
                    "step `{}` failed: {failure}\nto run only it again: {again}",
                    step.name
                )));
            }
        }
    }
    let passed = times.len() - skipped;
    times.push(("all", seconds(start.elapsed())));
    print!("\n{}", table(times));
    println!("\nsteps: {passed} passed, 0 failed, {skipped} skipped");
    Ok(())
}

fn fmt(project: &Project) -> Result<Outcome, Failure> {
    command::run(project.cargo().args(["fmt", "--all", "--check"]))?;
    for apart in ["interop/Cargo.toml", "benches/Cargo.toml"] {
        command::run(project.cargo().args(["fmt", "--all", "--check", "--manifest-path", apart]))?;
    }
    Ok(Outcome::Passed)
}

fn tidy_step(project: &Project) -> Result<Outcome, Failure> {
    tidy::run(project)?;
    Ok(Outcome::Passed)
}

fn clippy(project: &Project) -> Result<Outcome, Failure> {
    command::run(project.cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(Outcome::Passed)
}

/// In a workspace build features add up, which hides one that does not stand alone.
fn features(project: &Project) -> Result<Outcome, Failure> {
    for feature in ["", "client", "server", "http-client", "http-server", "host", "service"] {
        let mut cargo = project.cargo();
        cargo.args(["check", "-p", "switchboard-mcp", "--no-default-features", "--features", feature]);
        command::run(&mut cargo)?;
    }
    command::run(project.cargo().args(["check", "-p", "switchboard-mcp-cli"]))?;
    Ok(Outcome::Passed)
}

/// Without a choice of targets cargo runs them all, doc tests too.
fn test(project: &Project) -> Result<Outcome, Failure> {
    let mut cargo = project.cargo();
    cargo.args(["test", "--workspace"]);
    if project.long {
        cargo.env("SWITCHBOARD_LONG", "1");
    }
    command::run(&mut cargo)?;
    Ok(Outcome::Passed)
}

/// Tests with heavy dependencies, which `cargo test --workspace` leaves out.
fn checks(project: &Project) -> Result<Outcome, Failure> {
    command::run(project.cargo().args(["test", "-p", "checks", "--all-features"]))?;
    Ok(Outcome::Passed)
}

/// Marked `#[ignore]`, because it builds a whole project.
fn scaffold(project: &Project) -> Result<Outcome, Failure> {
    if !project.long {
        let why =
            "a new project is built whole, which takes minutes: run with --long, or `--only scaffold --long`";
        return Ok(Outcome::Skipped(why.into()));
    }
    let test = "services::a_new_project_builds_and_passes_its_tests";
    let mut cargo = project.cargo();
    // As the tests were built, so that nothing of it is built again.
    cargo.args(["test", "--workspace", "--all-features", "--test", "it", "--", "--ignored", "--exact", test]);
    // A name that is not there passes, and would look like proof.
    if !command::output(&mut cargo)?.contains("1 passed") {
        return Err(Failure::new(format!("not run: there is no test `{test}`")));
    }
    Ok(Outcome::Passed)
}

fn rustdoc(project: &Project) -> Result<Outcome, Failure> {
    command::run(
        project.cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    Ok(Outcome::Passed)
}

fn deny(project: &Project) -> Result<Outcome, Failure> {
    if !command::succeeds(project.cargo().args(["deny", "--version"])) {
        return Ok(Outcome::Skipped("cargo-deny is not installed".into()));
    }
    command::run(project.cargo().args(["deny", "check"]))?;
    Ok(Outcome::Passed)
}

fn interop_install(project: &Project) -> Result<Outcome, Failure> {
    interop::install(project)?;
    Ok(Outcome::Passed)
}

/// The tests are marked `#[ignore]`, because plain `cargo test` has no peers for them.
fn interop_tests(project: &Project) -> Result<Outcome, Failure> {
    let peers = interop::install(project)?;
    let cargo = |arguments: &[&str]| {
        let mut cargo = project.cargo();
        cargo
            .args(["test", "-p", "switchboard-mcp", "--test", "programs"])
            .args(arguments)
            .envs(peers.environment())
            .env("SWITCHBOARD_INTEROP_ASSISTANT", project.target.join("debug/assistant"));
        if project.long {
            cargo.env("SWITCHBOARD_LONG", "1");
        }
        cargo
    };
    command::run(&mut cargo(&["--no-run"]))?;
    // The servers that peers written as clients are pointed at.
    command::run(project.cargo().args(["build", "-p", "switchboard-mcp", "--example", "serve_tools"]))?;
    command::run(project.cargo().args(["build", "-p", "assistant", "--bin", "assistant"]))?;
    // An empty target passes, and would look like proof.
    let names = command::output(&mut cargo(&["--", "--list", "--ignored", "interop::"]))?;
    if !names.lines().any(|line| line.ends_with(": test")) {
        return Err(Failure::new("not run: the interop target holds no test"));
    }
    // The peers are slow to start: two at once is what two cores bear.
    command::run(&mut cargo(&["--", "--include-ignored", "interop::", "--test-threads", "2"]))?;
    Ok(Outcome::Passed)
}

/// Counts are the same on a busy machine, so this can stand among the tests.
fn bench_check(project: &Project) -> Result<Outcome, Failure> {
    match bench::check(project)? {
        Checked::Held => Ok(Outcome::Passed),
        Checked::Skipped(why) => Ok(Outcome::Skipped(why)),
    }
}

fn conformance_suite(project: &Project) -> Result<Outcome, Failure> {
    conformance::run(project, &conformance::Wanted::everything())?;
    Ok(Outcome::Passed)
}

fn seconds(time: Duration) -> String {
    format!("{:7.1} s", time.as_secs_f64())
}

fn table(rows: impl IntoIterator<Item = (&'static str, String)>) -> String {
    rows.into_iter().fold(String::new(), |mut table, (name, value)| {
        writeln!(table, "  {name:<16} {value}").expect("a String takes everything");
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_listed_once() {
        let list = list();
        for step in STEPS {
            assert_eq!(list.matches(&format!("  {:<16} ", step.name)).count(), 1, "{}", step.name);
        }
    }

    #[test]
    fn peers_are_installed_before_they_are_needed() {
        let place = |name| STEPS.iter().position(|step| step.name == name);
        assert!(place("interop-install") < place("interop"));
    }
}
