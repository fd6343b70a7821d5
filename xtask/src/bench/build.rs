//! Builds the programs of `benches/`, and measures clean builds and stripped binaries.
//!
//! Every package is built alone: built together, the features that one asks of a shared dependency would be on in
//! the others too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::Programs;
use super::progress::Progress;
use super::setup::Make;
use crate::command::{self, TaskError};
use crate::project::Project;

const MANIFEST: &str = "benches/Cargo.toml";

/// Directory of all files of the benchmark.
pub(super) fn folder(project: &Project) -> PathBuf {
    project.target.join("benches")
}

/// Builds the programs of these implementations.
pub(super) fn programs(
    project: &Project,
    progress: &Progress,
    makes: &[Make],
) -> Result<Programs, TaskError> {
    let folder = folder(project);
    for make in makes {
        package(project, progress, &format!("bench-{make}"), &folder)?;
    }
    Ok(Programs { release: folder.join("release"), node: None, python: None, rivals: None })
}

/// Returns the size of the smallest client in megabytes, stripped.
pub(super) fn stripped_size(project: &Project, progress: &Progress, make: Make) -> Result<f64, TaskError> {
    let folder = folder(project);
    let name = format!("minimal-{make}");
    package(project, progress, &name, &folder)?;
    let built = folder.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let stripped = folder.join(format!("{name}.stripped"));
    command::output(Command::new("strip").arg("-o").arg(&stripped).arg(&built))?;
    let size = std::fs::metadata(&stripped)
        .map_err(|error| TaskError::new(format!("cannot look at {}: {error}", stripped.display())))?;
    Ok(size.len() as f64 / 1e6)
}

/// Returns the user and system time of a clean build of the smallest client in seconds.
pub(super) fn clean_build(project: &Project, progress: &Progress, make: Make) -> Result<f64, TaskError> {
    let clean = folder(project).join("clean");
    let empty = || match std::fs::remove_dir_all(&clean) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(TaskError::new(format!("cannot empty {}: {error}", clean.display())))
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

/// Returns the user time of checking a hundred tools in seconds, five times for each implementation in turn.
pub(super) fn checks(
    project: &Project,
    progress: &Progress,
    makes: &[Make],
) -> Result<HashMap<Make, Vec<f64>>, TaskError> {
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
            touched.map_err(|error| TaskError::new(format!("cannot touch {}: {error}", source.display())))?;
            let before = children(|user, _| user)?;
            check(*make)?;
            found.entry(*make).or_default().push(children(|user, _| user)? - before);
        }
    }
    Ok(found)
}

fn package(project: &Project, progress: &Progress, name: &str, folder: &Path) -> Result<(), TaskError> {
    progress.step(&format!("build {name}"));
    let mut cargo = project.cargo();
    cargo.args(["build", "--release", "--locked", "--quiet", "--manifest-path", MANIFEST, "--package", name]);
    command::output(cargo.env("CARGO_TARGET_DIR", folder)).map(drop)
}

/// Returns the user and system time of all finished child processes and their descendants.
fn children_seconds() -> Result<f64, TaskError> {
    children(|user, system| user + system)
}

fn children(of: impl Fn(u64, u64) -> u64) -> Result<f64, TaskError> {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (user, system) =
        children_ticks(&stat).ok_or_else(|| TaskError::new("the system keeps no time of processes"))?;
    let each = command::output(Command::new("getconf").arg("CLK_TCK"))?;
    let each: f64 = each.trim().parse().map_err(|_| TaskError::new("getconf CLK_TCK said no number"))?;
    Ok(of(user, system) as f64 / each)
}

/// Fields 16 and 17, counted after the name, which may contain anything.
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
