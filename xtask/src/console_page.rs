//! The page of the console: its types, its tests, and whether the committed files are what its sources build.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::command::{self, TaskError};
use crate::project::Project;

/// Checks the page.
///
/// # Errors
/// If a package cannot be installed, a check fails, or `crates/console/assets` differs from its sources.
pub(crate) fn check(project: &Project) -> Result<(), TaskError> {
    let page = project.path("crates/console/page");
    install_packages(&page)?;
    for script in ["types", "test", "check"] {
        command::run(Command::new("npm").args(["run", "--silent", script]).current_dir(&page))?;
    }
    Ok(())
}

/// Installs the packages of a folder from its lock file, once.
pub(crate) fn install_packages(folder: &Path) -> Result<(), TaskError> {
    if is_installed(folder) {
        return Ok(());
    }
    let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
    command::run_to_stderr(Command::new("npm").args(options).current_dir(folder))
}

/// Returns whether the packages were installed after the lock file was written.
fn is_installed(page: &Path) -> bool {
    let written = |file: &str| -> Option<SystemTime> { fs::metadata(page.join(file)).ok()?.modified().ok() };
    written("node_modules/.package-lock.json") >= written("package-lock.json")
}
