//! Servers from PyPI, in a virtual environment created from `interop/python/requirements.txt`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::debian;
use super::stamp::Stamp;
use crate::command::{self, TaskError};
use crate::project::Project;

/// Installs the packages and returns the virtual environment.
pub(super) fn install(project: &Project, place: &Path) -> Result<PathBuf, TaskError> {
    venv(&project.path("interop/python/requirements.txt"), place.join("python"))
}

/// Installs the packages of a requirements file into a virtual environment in `folder`, and returns that.
pub(crate) fn venv(requirements: &Path, folder: PathBuf) -> Result<PathBuf, TaskError> {
    let interpreter = "import sys; print(sys.executable, sys.version)";
    let interpreter = command::output(Command::new("python3").args(["-c", interpreter]))
        .map_err(|failure| TaskError::new(format!("Python 3 is needed; {failure}")))?;
    let stamp = Stamp::of(&folder, &[requirements.to_path_buf()], &[&interpreter])?;
    if stamp.matches() && folder.join("bin").is_dir() {
        return Ok(folder);
    }

    stamp.remove()?;
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| TaskError::new(format!("cannot remove {}: {error}", folder.display())))?;
    }
    have_venv()?;
    command::run_to_stderr(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    // Everything is pinned, so nothing is resolved; `check` says when a pin is missing.
    let pip = || {
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "--disable-pip-version-check", "--quiet"]);
        pip
    };
    command::run_to_stderr(pip().args(["install", "--no-deps", "--requirement"]).arg(requirements))?;
    command::run_to_stderr(pip().arg("check"))?;
    stamp.write()?;
    Ok(folder)
}

/// Debian ships `venv` without `ensurepip`, which installs pip into a new environment.
fn have_venv() -> Result<(), TaskError> {
    let complete = || command::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]));
    if complete() {
        return Ok(());
    }
    let ask = "python3 cannot make virtual environments; install the package python3-venv";
    debian::install("python3-venv", ask)?;
    match complete() {
        true => Ok(()),
        false => Err(TaskError::new(format!("{ask} that belongs to the python3 found first in PATH"))),
    }
}
