//! The servers from PyPI, in a virtual environment made from `interop/python/requirements.txt`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::stamp::Stamp;
use crate::command::{self, Failure};
use crate::project::Project;

/// Returns the virtual environment.
pub(super) fn install(project: &Project, place: &Path) -> Result<PathBuf, Failure> {
    venv(&project.path("interop/python/requirements.txt"), place.join("python"))
}

/// Installs what the file pins into a virtual environment in `folder`, and returns that.
pub(crate) fn venv(requirements: &Path, folder: PathBuf) -> Result<PathBuf, Failure> {
    let interpreter = "import sys; print(sys.executable, sys.version)";
    let interpreter = command::output(Command::new("python3").args(["-c", interpreter]))
        .map_err(|failure| Failure::new(format!("Python 3 is needed; {failure}")))?;
    let stamp = Stamp::of(&folder, &[requirements.to_path_buf()], &[&interpreter])?;
    if stamp.matches() && folder.join("bin").is_dir() {
        return Ok(folder);
    }

    stamp.remove()?;
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| Failure::new(format!("cannot remove {}: {error}", folder.display())))?;
    }
    have_venv()?;
    command::run_aside(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    // Everything is pinned, so nothing is resolved; `check` says when a pin is missing.
    let pip = || {
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "--disable-pip-version-check", "--quiet"]);
        pip
    };
    command::run_aside(pip().args(["install", "--no-deps", "--requirement"]).arg(requirements))?;
    command::run_aside(pip().arg("check"))?;
    stamp.write()?;
    Ok(folder)
}

/// Debian ships `venv` without the part that puts pip into a new environment.
fn have_venv() -> Result<(), Failure> {
    let complete = || command::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]));
    if complete() {
        return Ok(());
    }
    let ask = "python3 cannot make virtual environments; install the package python3-venv";
    let root = command::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || !command::succeeds(Command::new("apt-get").arg("--version")) {
        return Err(Failure::new(ask));
    }
    command::run_aside(Command::new("apt-get").args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet", "--no-install-recommends", "python3-venv"]);
    command::run_aside(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    match complete() {
        true => Ok(()),
        false => Err(Failure::new(format!("{ask} that belongs to the python3 found first in PATH"))),
    }
}
