//! `cargo xtask bench`: builds the programs of `benches/` in release mode and measures them in one run, interleaved.
//!
//! Targets for instructions, allocations and CPU time must hold; quantities that vary with the machine are reported. A
//! failed run fails the benchmark: no row is skipped silently.

mod args;
mod build;
mod callgrind;
mod document;
mod figures;
mod gateway_targets;
mod growth;
mod guards;
mod host;
mod json;
mod machine;
mod median;
mod peers;
mod plan;
mod plot;
mod process;
mod profile;
mod program;
mod progress;
mod proxy;
mod report;
mod rounds;
mod sample;
mod setup;
mod table;
mod target;
mod targets;
mod token_targets;

use std::time::Duration;

use self::args::BenchMode;
use self::callgrind::{Counter, Counts};
use self::figures::Figures;
use self::guards::Guards;
use self::machine::{Compiler, Machine};
use self::plan::Plan;
use self::program::Programs;
use self::progress::Progress;
use self::proxy::Rivals;
use self::report::Report;
use self::rounds::Clock;
use self::setup::{Make, Setup};
use self::target::Measurements;
use crate::command::TaskError;
use crate::project::Project;

pub(crate) use self::args::BenchArgs;

const FIGURES: &str = "benches/figures.json";
const NO_VALGRIND: &str = "valgrind is not installed";

/// Runs the benchmark.
pub(crate) fn run(project: &Project, wanted: &BenchArgs) -> Result<(), TaskError> {
    if !callgrind::is_installed() {
        return Err(TaskError::new(format!("instructions cannot be counted: {NO_VALGRIND}")));
    }
    match wanted.doing {
        BenchMode::Measure => measure(project, wanted),
        BenchMode::Record => {
            let figures = Figures::of(Compiler::find(&project.root)?, &held(project)?)?;
            figures.write(&project.path(FIGURES))?;
            println!("recorded in {FIGURES}, for rustc {}", figures.compiler);
            Ok(())
        }
        BenchMode::Check => match check(project)? {
            CheckOutcome::Held => Ok(()),
            CheckOutcome::Skipped(why) => Err(TaskError::new(format!("not checked: {why}"))),
        },
    }
}

/// Outcome of a check without regressions.
#[derive(Debug)]
pub(crate) enum CheckOutcome {
    Held,
    /// The check could not run, with the reason.
    Skipped(String),
}

/// Compares instruction and allocation counts with the recorded ones.
pub(crate) fn check(project: &Project) -> Result<CheckOutcome, TaskError> {
    if !callgrind::is_installed() {
        return Ok(CheckOutcome::Skipped(NO_VALGRIND.into()));
    }
    let recorded = Figures::read(&project.path(FIGURES))?;
    let compiler = Compiler::find(&project.root)?;
    if compiler != recorded.compiler {
        return Ok(CheckOutcome::Skipped(format!(
            "recorded with rustc {}, this is {compiler}",
            recorded.compiler
        )));
    }
    let compared = recorded.compare(&Figures::of(compiler, &held(project)?)?);
    print!("{}", compared.table.plain());
    if compared.better > 0 {
        println!(
            "\n{} counts are more than 5 % better: `cargo xtask bench --record` keeps them",
            compared.better
        );
    }
    match compared.worse {
        0 => Ok(CheckOutcome::Held),
        worse => Err(TaskError::new(format!(
            "{worse} counts are more than 5 % worse than {FIGURES}, or not in it; \
             if they must be, `cargo xtask bench --record`"
        ))),
    }
}

/// Measures the counts that are recorded.
fn held(project: &Project) -> Result<Counts, TaskError> {
    let progress = Progress::start();
    let programs = build::programs(project, &progress, &[Make::Floor, Make::Switchboard, Make::Gateway])?;
    let setups: Vec<Setup> = figures::held().into_iter().map(|(_, setup)| setup).collect();
    count(project, &programs, &progress, &setups)
}

fn count(
    project: &Project,
    programs: &Programs,
    progress: &Progress,
    setups: &[Setup],
) -> Result<Counts, TaskError> {
    let folder = build::folder(project).join("callgrind");
    Counter { programs, progress, folder }.count(setups)
}

fn measure(project: &Project, wanted: &BenchArgs) -> Result<(), TaskError> {
    let progress = Progress::start();
    let plan = if wanted.gateway { Plan::gateway(wanted) } else { Plan::new(wanted) };
    if plan.targets.is_empty() && plan.timed.is_empty() && plan.counted.is_empty() {
        return Err(TaskError::new("nothing has such a name"));
    }
    let mut programs = build::programs(project, &progress, &plan.makes())?;
    peers::install(project, &progress, &wanted.against, &mut programs)?;
    if plan.has_rivals() {
        programs.rivals = Some(Rivals::install(project, &progress)?);
    }
    let mut measurements = Measurements { guards: Some(Guards::find(project)?), ..Measurements::default() };
    for make in &plan.sizes {
        measurements.sizes.insert(*make, build::stripped_size(project, &progress, *make)?);
    }
    for make in &plan.builds {
        measurements.builds.insert(*make, build::clean_build(project, &progress, *make)?);
    }
    if !plan.checks.is_empty() {
        measurements.checks = build::checks(project, &progress, &plan.checks)?;
    }
    let rounds = wanted.rounds.unwrap_or(if wanted.gateway { 3 } else { 5 });
    let goal = Duration::from_millis(if wanted.quick { 120 } else { 400 });
    let clock = Clock { programs: &programs, progress: &progress, rounds, goal };
    if !plan.timed.is_empty() || !plan.grown.is_empty() {
        measurements.times = clock.measure(&[plan.timed.as_slice(), &plan.grown].concat())?;
    }
    if !plan.hosted.is_empty() {
        measurements.host = host::measure(&programs, &progress, rounds, &plan.hosted)?;
    }
    if !plan.counted.is_empty() {
        measurements.counts = count(project, &programs, &progress, &plan.counted)?;
    }
    progress.step("done");
    let results =
        plan.targets.iter().map(|target| target.judge(&measurements)).collect::<Result<Vec<_>, _>>()?;
    let report = Report { machine: Machine::find(&project.root)?, rounds, plan, measurements, results };
    show(&report, wanted);
    if !wanted.quick && wanted.only.is_none() {
        match wanted.gateway {
            true => document::write_gateway(project, &report)?,
            false => document::write(project, &report)?,
        }
    }
    judge(&report)
}

fn show(report: &Report, wanted: &BenchArgs) {
    if wanted.json {
        println!("{}", report.json());
        return;
    }
    println!("\n{}; medians of {} rounds", report.machine, report.rounds);
    for (title, table) in report.times() {
        println!("\n{title}\n{}", table.plain());
    }
    for table in [report.counts(), report.growth(), report.sizes(), report.targets()] {
        if !table.is_empty() {
            println!("\n{}", table.plain());
        }
    }
}

/// Fails if a required target was missed; the results have been printed.
fn judge(report: &Report) -> Result<(), TaskError> {
    let missed = report.results.iter().filter(|result| result.target.decides && !result.met);
    let missed: Vec<&str> = missed.map(|result| result.target.name.as_str()).collect();
    match missed.as_slice() {
        [] => Ok(()),
        missed => Err(TaskError::new(format!("missed: {}", missed.join(", ")))),
    }
}
