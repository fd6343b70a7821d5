//! Building the programs of `benches/`, and what a clean build and a stripped program come to.
//!
//! Every package is built alone: built together, the features that one asks of a shared dependency would be on in
//! the others too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::Programs;
use super::progress::Progress;
use super::setup::Make;
use crate::command::{self, Failure};
use crate::project::Project;

const MANIFEST: &str = "benches/Cargo.toml";

/// Where everything of the bench is kept.
pub(super) fn folder(project: &Project) -> PathBuf {
    project.target.join("benches")
}

/// The programs of these makes.
pub(super) fn programs(project: &Project, progress: &Progress, makes: &[Make]) -> Result<Programs, Failure> {
    let folder = folder(project);
    for make in makes {
        package(project, progress, &format!("bench-{make}"), &folder)?;
    }
    Ok(Programs { release: folder.join("release"), node: None, python: None })
}

/// Megabytes of the smallest client of this make, stripped.
pub(super) fn stripped_size(project: &Project, progress: &Progress, make: Make) -> Result<f64, Failure> {
    let folder = folder(project);
    let name = format!("minimal-{make}");
    package(project, progress, &name, &folder)?;
    let built = folder.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let stripped = folder.join(format!("{name}.stripped"));
    command::output(Command::new("strip").arg("-o").arg(&stripped).arg(&built))?;
    let size = std::fs::metadata(&stripped)
        .map_err(|error| Failure::new(format!("cannot look at {}: {error}", stripped.display())))?;
    Ok(size.len() as f64 / 1e6)
}

/// Seconds of user and system time that a build of the smallest client takes from nothing.
pub(super) fn clean_build(project: &Project, progress: &Progress, make: Make) -> Result<f64, Failure> {
    let clean = folder(project).join("clean");
    let empty = || match std::fs::remove_dir_all(&clean) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::new(format!("cannot empty {}: {error}", clean.display())))
        }
        _ => Ok(()),
    };
    empty()?;
    let before = children_seconds()?;
    package(project, progress, &format!("minimal-{make}"), &clean)?;
    let seconds = children_seconds()? - before;
    empty()?;
    Ok(seconds)
}

/// Seconds of user time that checking a hundred tools takes, five times for each make in turn, everything else built.
pub(super) fn checks(
    project: &Project,
    progress: &Progress,
    makes: &[Make],
) -> Result<HashMap<Make, Vec<f64>>, Failure> {
    let folder = folder(project);
    let check = |make: Make| {
        let mut cargo = project.cargo();
        cargo.args(["check", "--locked", "--quiet", "--manifest-path", MANIFEST, "--package"]);
        cargo.arg(format!("hundred-{make}"));
        // The same code, compiled anew: nothing of the last time may be used.
        command::output(cargo.env("CARGO_TARGET_DIR", &folder).env("CARGO_INCREMENTAL", "0")).map(drop)
    };
    progress.step("check a hundred tools, five times each");
    for make in makes {
        check(*make)?;
    }
    let mut found: HashMap<Make, Vec<f64>> = HashMap::new();
    for _ in 0..5 {
        for make in makes {
            let source = project.path(format!("benches/hundred/{make}/src/lib.rs"));
            let touched = std::fs::File::options().append(true).open(&source);
            let touched = touched.and_then(|file| file.set_modified(std::time::SystemTime::now()));
            touched.map_err(|error| Failure::new(format!("cannot touch {}: {error}", source.display())))?;
            let before = children(|user, _| user)?;
            check(*make)?;
            found.entry(*make).or_default().push(children(|user, _| user)? - before);
        }
    }
    Ok(found)
}

fn package(project: &Project, progress: &Progress, name: &str, folder: &Path) -> Result<(), Failure> {
    progress.step(&format!("build {name}"));
    let mut cargo = project.cargo();
    cargo.args(["build", "--release", "--locked", "--quiet", "--manifest-path", MANIFEST, "--package", name]);
    command::output(cargo.env("CARGO_TARGET_DIR", folder)).map(drop)
}

/// User and system time of every process that we started and that has ended, and of those they waited for.
fn children_seconds() -> Result<f64, Failure> {
    children(|user, system| user + system)
}

fn children(of: impl Fn(u64, u64) -> u64) -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (user, system) =
        children_ticks(&stat).ok_or_else(|| Failure::new("the system keeps no time of processes"))?;
    let each = command::output(Command::new("getconf").arg("CLK_TCK"))?;
    let each: f64 = each.trim().parse().map_err(|_| Failure::new("getconf CLK_TCK said no number"))?;
    Ok(of(user, system) as f64 / each)
}

/// Fields 16 and 17, counted behind the name, which may hold anything.
fn children_ticks(stat: &str) -> Option<(u64, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_read() {
        let stat = "12 (a) b) R 1 2 3 4 5 6 7 8 9 10 100 200 30 40 20 0 1";
        assert_eq!(children_ticks(stat), Some((30, 40)));
        assert_eq!(children_ticks("12 (a) R 1"), None);
    }
}
