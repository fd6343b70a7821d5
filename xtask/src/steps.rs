//! The steps of `cargo xtask ci`: a table, and the loop that runs it.
//!
//! Everything that must pass before a change lands but `cargo test --workspace`, which `.ci/run` runs first. Commands
//! that need what it built name the whole workspace too: with the same features nothing is built twice.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::bench::{self, CheckOutcome};
use crate::command::{self, TaskError};
use crate::conformance;
use crate::console_e2e;
use crate::console_page;
use crate::interop;
use crate::project::Project;
use crate::schema_suite;
use crate::systemd_unit;
use crate::tidy;

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Project) -> Result<StepOutcome, TaskError>,
}

#[derive(Debug)]
enum StepOutcome {
    Passed,
    /// Skipped, with the reason; counted separately.
    Skipped(String),
}

const STEPS: &[Step] = &[
    Step { name: "fmt", what: "formatting, here, in interop/ and in benches/", run: fmt },
    Step { name: "tidy", what: "project rules that the compiler does not check", run: tidy_step },
    Step { name: "clippy", what: "lints, warnings denied", run: clippy },
    Step { name: "features", what: "every feature builds alone", run: features },
    Step { name: "checks", what: "compile-fail tests, signatures and OpenTelemetry tests", run: checks },
    Step { name: "guide", what: "the programs of the guide, compiled as a user would", run: guide },
    Step { name: "rustdoc", what: "documentation, warnings denied", run: rustdoc },
    Step { name: "package", what: "every package can be packed for the registry", run: package },
    Step { name: "systemd", what: "the unit for systemd, by systemd's own check", run: systemd_step },
    Step { name: "deny", what: "licenses, sources, banned crates and advisories of dependencies", run: deny },
    Step {
        name: "scaffold",
        what: "projects of `switchboard new` build and pass their tests",
        run: scaffold,
    },
    Step {
        name: "console-page",
        what: "types, tests and committed build of the console's page",
        run: console_page_step,
    },
    Step { name: "interop-install", what: "programs the interop tests talk to", run: interop_install },
    Step { name: "console", what: "the console in a browser, against real servers", run: console_step },
    Step { name: "interop", what: "tests against programs that others wrote", run: interop_tests },
    Step {
        name: "schema-suite",
        what: "the schema validator: the official test suite, and another validator",
        run: schema_suite_step,
    },
    Step {
        name: LONG_COUNTS,
        what: "with --long: the tests again, with their full counts",
        run: long_counts,
    },
    Step {
        name: "bench-check",
        what: "instructions and allocations, compared with the recorded ones",
        run: bench_check,
    },
    Step {
        name: "conformance",
        what: "the official conformance suite, counted strictly",
        run: conformance_suite,
    },
];

/// The step that only `--long` and its name select.
const LONG_COUNTS: &str = "long-counts";

pub(crate) fn exists(name: &str) -> bool {
    STEPS.iter().any(|step| step.name == name)
}

pub(crate) fn list() -> String {
    table(STEPS.iter().map(|step| (step.name, step.what.to_owned())))
}

/// Runs the steps named, or all of them, and stops at the first failure.
pub(crate) fn run(project: &Project, only: &[String]) -> Result<(), TaskError> {
    let wanted = |step: &&Step| {
        let is_named = only.iter().any(|name| name == step.name);
        is_named || only.is_empty() && (project.long || step.name != LONG_COUNTS)
    };
    let start = Instant::now();
    let mut times = Vec::new();
    let mut skipped = 0;
    for step in STEPS.iter().filter(wanted) {
        println!("\n==> {}: {}", step.name, step.what);
        let start = Instant::now();
        let outcome = (step.run)(project);
        let took = seconds(start.elapsed());
        match outcome {
            Ok(StepOutcome::Passed) => {
                println!("<== {}: passed in {}", step.name, took.trim());
                times.push((step.name, took));
            }
            Ok(StepOutcome::Skipped(why)) => {
                println!("<== {}: SKIPPED, {why}", step.name);
                times.push((step.name, format!("skipped, {why}")));
                skipped += 1;
            }
            Err(failure) => {
                times.push((step.name, format!("{took}  FAILED")));
                print!("\n{}", table(times));
                let again = format!("cargo xtask ci --only {}", step.name);
                return Err(TaskError::new(format!(
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

fn fmt(project: &Project) -> Result<StepOutcome, TaskError> {
    command::run(project.cargo().args(["fmt", "--all", "--check"]))?;
    for apart in ["interop/Cargo.toml", "benches/Cargo.toml"] {
        command::run(project.cargo().args(["fmt", "--all", "--check", "--manifest-path", apart]))?;
    }
    Ok(StepOutcome::Passed)
}

fn tidy_step(project: &Project) -> Result<StepOutcome, TaskError> {
    tidy::run(project)?;
    Ok(StepOutcome::Passed)
}

fn console_page_step(project: &Project) -> Result<StepOutcome, TaskError> {
    console_page::check(project)?;
    Ok(StepOutcome::Passed)
}

fn clippy(project: &Project) -> Result<StepOutcome, TaskError> {
    command::run(project.cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(StepOutcome::Passed)
}

/// In a workspace build features are unified, which hides a feature that does not build alone.
fn features(project: &Project) -> Result<StepOutcome, TaskError> {
    for feature in [
        "",
        "client",
        "server",
        "http-client",
        "http-server",
        "http-tls",
        "host",
        "gateway",
        "console",
        "service",
    ] {
        let mut cargo = project.cargo();
        cargo.args(["check", "-p", "switchboard-mcp", "--no-default-features", "--features", feature]);
        command::run(&mut cargo)?;
    }
    command::run(project.cargo().args(["check", "-p", "switchboard-mcp-cli"]))?;
    Ok(StepOutcome::Passed)
}

/// Tests with heavy dependencies, which `cargo test --workspace` leaves out.
fn checks(project: &Project) -> Result<StepOutcome, TaskError> {
    let cargo = |arguments: &[&str]| {
        let mut cargo = project.cargo();
        // The same packages in both commands, so that the second one builds nothing again.
        cargo.args(["test", "-p", "checks", "-p", "switchboard-mcp-cli", "--all-features"]).args(arguments);
        cargo
    };
    command::run(&mut cargo(&["--test", "compile_fail", "--test", "jws", "--test", "telemetry"]))?;
    command::run(&mut cargo(&["--test", "it", "telemetry::"]))?;
    Ok(StepOutcome::Passed)
}

/// A package outside the workspace that shares the target directory, so that most dependencies are built.
fn guide(project: &Project) -> Result<StepOutcome, TaskError> {
    let mut cargo = project.cargo();
    cargo
        .args(["test", "--locked", "--manifest-path", "docs/guide/Cargo.toml", "--target-dir"])
        .arg(&project.target);
    command::run(&mut cargo)?;
    Ok(StepOutcome::Passed)
}

/// Tests marked `#[ignore]` because they build whole projects.
fn scaffold(project: &Project) -> Result<StepOutcome, TaskError> {
    let mut cargo = project.cargo();
    cargo.args(["test", "--workspace", "--test", "it", "--", "--ignored", "scaffold::"]);
    let output = command::output(&mut cargo)?;
    // A filter without matches passes, which would prove nothing.
    let passed: u32 = output.lines().filter_map(passed).sum();
    match passed {
        0 => Err(TaskError::new("not run: no ignored test begins with `scaffold::`")),
        _ => Ok(StepOutcome::Passed),
    }
}

/// Returns the number of passed tests from the last line of a test program.
fn passed(line: &str) -> Option<u32> {
    let (before, _) = line.strip_prefix("test result: ")?.split_once(" passed")?;
    before.rsplit(' ').next()?.parse().ok()
}

fn rustdoc(project: &Project) -> Result<StepOutcome, TaskError> {
    command::run(
        project.cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    Ok(StepOutcome::Passed)
}

/// Packs without building the packages again: a file that is missing from one is found by `cargo package` with
/// verification, which is run before a release.
fn package(project: &Project) -> Result<StepOutcome, TaskError> {
    command::run(project.cargo().args([
        "package",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
    ]))?;
    Ok(StepOutcome::Passed)
}

fn systemd_step(project: &Project) -> Result<StepOutcome, TaskError> {
    Ok(match systemd_unit::check(project)? {
        true => StepOutcome::Passed,
        false => StepOutcome::Skipped("systemd-analyze is not installed".into()),
    })
}

/// Version of cargo-deny to install.
const DENY: &str = "0.20.2";

/// Installs cargo-deny below the target folder, once, and checks with it.
fn deny(project: &Project) -> Result<StepOutcome, TaskError> {
    let root = project.target.join(format!("tools/cargo-deny-{DENY}"));
    let program = root.join("bin/cargo-deny");
    if !program.exists() {
        let mut cargo = project.cargo();
        // Unoptimized: it runs for a second, and would take minutes more to build.
        cargo.args(["install", "--locked", "--debug", "--quiet", "cargo-deny", "--version", DENY, "--root"]);
        command::run(cargo.arg(&root).env("CARGO_TARGET_DIR", root.join("build")))?;
    }
    let deny = |arguments: &[&str]| {
        let mut deny = std::process::Command::new(&program);
        deny.current_dir(&project.root).args(arguments);
        deny
    };
    command::run(&mut deny(&["check", "bans", "licenses", "sources"]))?;
    // The list of advisories is fetched from the network, which not every machine has.
    if command::succeeds(&mut deny(&["fetch", "db"])) {
        command::run(&mut deny(&["check", "--disable-fetch", "advisories"]))?;
    } else {
        println!("advisories NOT checked: their list could not be fetched");
    }
    Ok(StepOutcome::Passed)
}

fn interop_install(project: &Project) -> Result<StepOutcome, TaskError> {
    interop::install(project)?;
    Ok(StepOutcome::Passed)
}

fn console_step(project: &Project) -> Result<StepOutcome, TaskError> {
    console_e2e::run(project)?;
    Ok(StepOutcome::Passed)
}

/// Tests marked `#[ignore]` because plain `cargo test` has no peers for them.
fn interop_tests(project: &Project) -> Result<StepOutcome, TaskError> {
    let peers = interop::install(project)?;
    let cargo = |arguments: &[&str]| {
        let mut cargo = project.cargo();
        cargo
            .args(["test", "--workspace", "--test", "programs"])
            .args(arguments)
            .envs(peers.environment())
            .env("SWITCHBOARD_INTEROP_ASSISTANT", project.target.join("debug/assistant"))
            .env("SWITCHBOARD_INTEROP_COMMAND_LINE", project.target.join("debug/switchboard"));
        if project.long {
            cargo.env("SWITCHBOARD_LONG", "1");
        }
        cargo
    };
    // The programs under test, and the servers that peers written as clients are pointed at.
    command::run(project.cargo().args(["test", "--workspace", "--no-run"]))?;
    // A target without tests passes, which would prove nothing.
    let names = command::output(&mut cargo(&["--", "--list", "--ignored", "interop::"]))?;
    if !names.lines().any(|line| line.ends_with(": test")) {
        return Err(TaskError::new("not run: the interop target has no tests"));
    }
    // Peers start slowly: two at a time suit two cores.
    command::run(&mut cargo(&["--", "--include-ignored", "interop::", "--test-threads", "2"]))?;
    Ok(StepOutcome::Passed)
}

fn schema_suite_step(project: &Project) -> Result<StepOutcome, TaskError> {
    schema_suite::run(project)?;
    Ok(StepOutcome::Passed)
}

/// `cargo test --workspace` has run with small counts before.
fn long_counts(project: &Project) -> Result<StepOutcome, TaskError> {
    command::run(project.cargo().args(["test", "--workspace"]).env("SWITCHBOARD_LONG", "1"))?;
    Ok(StepOutcome::Passed)
}

/// Counts do not depend on load, so this check runs with the tests.
fn bench_check(project: &Project) -> Result<StepOutcome, TaskError> {
    match bench::check(project)? {
        CheckOutcome::Held => Ok(StepOutcome::Passed),
        CheckOutcome::Skipped(why) => Ok(StepOutcome::Skipped(why)),
    }
}

fn conformance_suite(project: &Project) -> Result<StepOutcome, TaskError> {
    conformance::run(project, &conformance::ConformanceArgs::everything())?;
    Ok(StepOutcome::Passed)
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
    fn passed_tests_are_counted() {
        assert_eq!(passed("test result: ok. 12 passed; 0 failed; 3 ignored"), Some(12));
        assert_eq!(passed("running 3 tests"), None);
    }

    #[test]
    fn peers_are_installed_before_they_are_needed() {
        let position = |name| STEPS.iter().position(|step| step.name == name);
        assert!(position("interop-install") < position("interop"));
    }
}
