//! End-to-end tests of the console in headless Chromium, against the built program and real servers.

use std::process::Command;

use crate::command::{self, TaskError};
use crate::console_page;
use crate::interop;
use crate::project::Project;

/// Installs the browser and the packages, builds the program, and runs the tests, which print their counts and
/// measurements.
///
/// # Errors
/// If something cannot be installed or built, or a test fails.
pub(crate) fn run(project: &Project) -> Result<(), TaskError> {
    let peers = interop::install_for_console(project)?;
    let folder = project.path("crates/console/e2e");
    console_page::install_packages(&folder)?;
    command::run(Command::new("npm").args(["run", "--silent", "types"]).current_dir(&folder))?;
    // With the features of the other steps, so that nothing is built twice.
    command::run(project.cargo().args(["test", "--workspace", "--no-run"]))?;
    let mut tests = Command::new("node");
    tests
        .args(["node_modules/@playwright/test/cli.js", "test"])
        .current_dir(&folder)
        .env("SWITCHBOARD_E2E_PROGRAM", project.target.join("debug/switchboard"))
        .env("SWITCHBOARD_E2E_OUTPUT", project.target.join("console-e2e"))
        .env("SWITCHBOARD_INTEROP_NODE", &peers.node)
        .env("SWITCHBOARD_INTEROP_CHROMIUM", &peers.chromium);
    command::run(&mut tests)
}
