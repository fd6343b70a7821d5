//! Checks the unit for systemd with `systemd-analyze verify`: unknown keys and values are errors.

use std::fs;
use std::process::{Command, Stdio};

use crate::command::{self, TaskError};
use crate::project::Project;

const UNIT: &str = "packaging/systemd/switchboard-gateway.service";
/// The program of the unit, which need not be installed here.
const PROGRAM: &str = "/usr/local/bin/switchboard";

/// Checks the unit; returns false if systemd is not installed.
pub(crate) fn check(project: &Project) -> Result<bool, TaskError> {
    let probe = Command::new("systemd-analyze").arg("--version").stdout(Stdio::null()).status();
    if probe.is_err() {
        return Ok(false);
    }
    let failed = |error: std::io::Error| TaskError::new(format!("{UNIT}: {error}"));
    let unit = fs::read_to_string(project.root.join(UNIT)).map_err(failed)?;
    // This program stands for the one of the unit: a program that does not exist is an error, too.
    let own = std::env::current_exe().map_err(failed)?;
    let unit = unit.replace(PROGRAM, &own.to_string_lossy());
    let folder = project.target.join("systemd");
    fs::create_dir_all(&folder).map_err(failed)?;
    let copy = folder.join("switchboard-gateway.service");
    fs::write(&copy, unit).map_err(failed)?;
    command::run(Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy))?;
    Ok(true)
}
