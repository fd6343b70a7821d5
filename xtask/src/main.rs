//! Project tasks, run as `cargo xtask TASK`.
//!
//! Depends on std only, because it is built before every check.

mod bench;
mod command;
mod conformance;
mod console_e2e;
mod console_page;
mod interop;
mod project;
mod schema_suite;
mod steps;
mod systemd_unit;
mod tidy;

use std::process::ExitCode;

use crate::command::TaskError;
use crate::project::Project;

const USAGE: &str = "\
usage: cargo xtask TASK

  ci [--long] [--only STEP[,STEP]] [--list]
        run every check but `cargo test --workspace` in order and stop at the first that fails
          --long   also slow checks (SWITCHBOARD_LONG=1)
          --only   just these steps
          --list   print the steps and run nothing
  tidy  check project rules that the compiler does not check (part of ci)
  interop-install
        install the programs the interop tests talk to (part of ci)
  conformance [--role server|client] [--revision DATE] [--scenario NAME] [--all] [--through-gateway]
        run the official conformance suite, counted strictly (part of ci)
          --role      just one role
          --revision  just one revision
          --scenario  just one scenario
          --all       also at the revisions that have no set of requirements
  bench [--quick] [--json] [--build] [--against ts,python] [--only PATTERN] [--rounds N]
        measure switchboard, rmcp and the floor in one run; fails when a target is missed
          --quick    what the targets need, in a few minutes
          --json     one object instead of tables
          --build    also what a clean build of the smallest client costs
          --against  also the SDKs in other languages
          --only     only targets and rows of such a name, like 'P4*'
          --rounds   how often everything is measured
  bench --check | --record
        compare instruction and allocation counts with benches/figures.json (part of ci), or write them there
";

#[derive(Debug, PartialEq)]
enum Task {
    Help,
    List,
    Ci { long: bool, only: Vec<String> },
    Tidy,
    InteropInstall,
    Conformance(conformance::ConformanceArgs),
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let task = match parse(&words) {
        Ok(task) => task,
        Err(wrong) => {
            eprint!("xtask: {wrong}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Result<Task, String> {
    let Some((task, rest)) = words.split_first() else { return Ok(Task::Help) };
    match (task.as_str(), rest) {
        ("ci", rest) => parse_ci(rest),
        ("conformance", rest) => conformance::ConformanceArgs::parse(rest).map(Task::Conformance),
        ("bench", rest) => bench::BenchArgs::parse(rest).map(Task::Bench),
        ("tidy", []) => Ok(Task::Tidy),
        ("interop-install", []) => Ok(Task::InteropInstall),
        ("help" | "--help" | "-h", []) => Ok(Task::Help),
        ("tidy" | "interop-install" | "help", [extra, ..]) => Err(format!("`{task}` takes no `{extra}`")),
        _ => Err(format!("there is no task `{task}`")),
    }
}

fn parse_ci(words: &[String]) -> Result<Task, String> {
    let mut long = false;
    let mut only = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let steps = match word.as_str() {
            "--long" => {
                long = true;
                continue;
            }
            "--list" => return Ok(Task::List),
            "--only" => words.next().ok_or("`--only` needs the name of a step")?,
            word => match word.strip_prefix("--only=") {
                Some(steps) => steps,
                None => return Err(format!("`ci` takes no `{word}`")),
            },
        };
        for step in steps.split(',').filter(|step| !step.is_empty()) {
            if !steps::exists(step) {
                return Err(format!("there is no step `{step}`; `cargo xtask ci --list` names them"));
            }
            only.push(step.to_owned());
        }
    }
    Ok(Task::Ci { long, only })
}

fn run(task: Task) -> Result<(), TaskError> {
    match task {
        Task::Help => print!("{USAGE}"),
        Task::List => print!("{}", steps::list()),
        Task::Ci { long, only } => return steps::run(&Project::find(long)?, &only),
        Task::Conformance(args) => return conformance::run(&Project::find(false)?, &args),
        Task::Bench(args) => return bench::run(&Project::find(false)?, &args),
        Task::Tidy => return tidy::run(&Project::find(false)?),
        Task::InteropInstall => {
            let peers = interop::install(&Project::find(false)?)?;
            for (name, path) in peers.environment() {
                println!("export {name}='{}'", path.display());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Task, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn ci_takes_its_options_in_any_order() {
        let wanted = Task::Ci { long: true, only: vec!["fmt".into(), "tidy".into()] };
        assert_eq!(parse_line("ci --only fmt,tidy --long"), Ok(wanted));
        assert_eq!(parse_line("ci"), Ok(Task::Ci { long: false, only: vec![] }));
        assert_eq!(parse_line("ci --only=fmt --list"), Ok(Task::List));
    }

    #[test]
    fn an_unknown_argument_is_named() {
        assert_eq!(parse_line("tset"), Err("there is no task `tset`".into()));
        assert_eq!(parse_line("tidy now"), Err("`tidy` takes no `now`".into()));
        assert_eq!(parse_line("ci --only"), Err("`--only` needs the name of a step".into()));
        assert_eq!(
            parse_line("ci --only fmt,nope"),
            Err("there is no step `nope`; `cargo xtask ci --list` names them".into())
        );
    }
}
