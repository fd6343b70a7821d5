//! `cargo xtask bench`: the programs of `benches/`, built in release and measured in one run, interleaved.
//!
//! Instructions, allocations and CPU decide; what moves with the machine is reported. A run that fails fails the
//! bench: no row is ever left out in silence.

mod build;
mod callgrind;
mod document;
mod figures;
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
mod report;
mod rounds;
mod sample;
mod setup;
mod table;
mod target;
mod targets;
mod wanted;

use std::time::Duration;

use self::callgrind::{Counter, Counts};
use self::figures::Figures;
use self::guards::Guards;
use self::machine::{Compiler, Machine};
use self::plan::Plan;
use self::program::Programs;
use self::progress::Progress;
use self::report::Report;
use self::rounds::Clock;
use self::setup::{Make, Setup};
use self::target::Facts;
use self::wanted::Doing;
use crate::command::Failure;
use crate::project::Project;

pub(crate) use self::wanted::Wanted;

const FIGURES: &str = "benches/figures.json";
const NO_VALGRIND: &str = "valgrind is not installed";

/// Does what was asked for.
pub(crate) fn run(project: &Project, wanted: &Wanted) -> Result<(), Failure> {
    if !callgrind::is_installed() {
        return Err(Failure::new(format!("instructions cannot be counted: {NO_VALGRIND}")));
    }
    match wanted.doing {
        Doing::Measure => measure(project, wanted),
        Doing::Record => {
            let figures = Figures::of(Compiler::find(&project.root)?, &held(project)?)?;
            figures.write(&project.path(FIGURES))?;
            println!("recorded in {FIGURES}, for rustc {}", figures.compiler);
            Ok(())
        }
        Doing::Check => match check(project)? {
            Checked::Held => Ok(()),
            Checked::Skipped(why) => Err(Failure::new(format!("not checked: {why}"))),
        },
    }
}

/// How a check ended, when nothing got worse.
#[derive(Debug)]
pub(crate) enum Checked {
    Held,
    /// It could not be made here, and why.
    Skipped(String),
}

/// Compares instruction and allocation counts with those that are recorded.
pub(crate) fn check(project: &Project) -> Result<Checked, Failure> {
    if !callgrind::is_installed() {
        return Ok(Checked::Skipped(NO_VALGRIND.into()));
    }
    let recorded = Figures::read(&project.path(FIGURES))?;
    let compiler = Compiler::find(&project.root)?;
    if compiler != recorded.compiler {
        return Ok(Checked::Skipped(format!(
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
        0 => Ok(Checked::Held),
        worse => Err(Failure::new(format!(
            "{worse} counts are more than 5 % worse than {FIGURES}, or not in it; \
             if they must be, `cargo xtask bench --record`"
        ))),
    }
}

/// Counts what is held to its figures.
fn held(project: &Project) -> Result<Counts, Failure> {
    let progress = Progress::start();
    let programs = build::programs(project, &progress, &[Make::Floor, Make::Switchboard])?;
    let setups: Vec<Setup> = figures::held().into_iter().map(|(_, setup)| setup).collect();
    count(project, &programs, &progress, &setups)
}

fn count(
    project: &Project,
    programs: &Programs,
    progress: &Progress,
    setups: &[Setup],
) -> Result<Counts, Failure> {
    let folder = build::folder(project).join("callgrind");
    Counter { programs, progress, folder }.count(setups)
}

fn measure(project: &Project, wanted: &Wanted) -> Result<(), Failure> {
    let progress = Progress::start();
    let plan = Plan::new(wanted);
    if plan.targets.is_empty() && plan.timed.is_empty() && plan.counted.is_empty() {
        return Err(Failure::new("nothing has such a name"));
    }
    let mut programs = build::programs(project, &progress, &plan.makes())?;
    peers::install(project, &progress, &wanted.against, &mut programs)?;
    let mut facts = Facts { guards: Some(Guards::find(project)?), ..Facts::default() };
    for make in &plan.sizes {
        facts.sizes.insert(*make, build::stripped_size(project, &progress, *make)?);
    }
    for make in &plan.builds {
        facts.builds.insert(*make, build::clean_build(project, &progress, *make)?);
    }
    if !plan.checks.is_empty() {
        facts.checks = build::checks(project, &progress, &plan.checks)?;
    }
    let rounds = wanted.rounds.unwrap_or(5);
    let goal = Duration::from_millis(if wanted.quick { 120 } else { 400 });
    let clock = Clock { programs: &programs, progress: &progress, rounds, goal };
    if !plan.timed.is_empty() || !plan.grown.is_empty() {
        facts.times = clock.measure(&[plan.timed.as_slice(), &plan.grown].concat())?;
    }
    if !plan.hosted.is_empty() {
        facts.host = host::measure(&programs, &progress, rounds, &plan.hosted)?;
    }
    if !plan.counted.is_empty() {
        facts.counts = count(project, &programs, &progress, &plan.counted)?;
    }
    progress.step("done");
    let verdicts = plan.targets.iter().map(|target| target.judge(&facts)).collect::<Result<Vec<_>, _>>()?;
    let report = Report { machine: Machine::find(&project.root)?, rounds, plan, facts, verdicts };
    show(&report, wanted);
    if !wanted.quick && wanted.only.is_none() {
        document::write(project, &report)?;
    }
    judge(&report)
}

fn show(report: &Report, wanted: &Wanted) {
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

/// What was measured has been shown; a must that was missed is a failure all the same.
fn judge(report: &Report) -> Result<(), Failure> {
    let missed = report.verdicts.iter().filter(|verdict| verdict.target.decides && !verdict.met);
    let missed: Vec<&str> = missed.map(|verdict| verdict.target.name.as_str()).collect();
    match missed.as_slice() {
        [] => Ok(()),
        missed => Err(Failure::new(format!("missed: {}", missed.join(", ")))),
    }
}
