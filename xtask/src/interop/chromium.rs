//! Chromium, in which the interop tests log in.

use std::path::{Path, PathBuf};

use super::debian;
use crate::command::TaskError;

const PROGRAM: &str = "/usr/bin/chromium";

/// Returns the program, which is installed if it is missing.
pub(super) fn install() -> Result<PathBuf, TaskError> {
    let program = Path::new(PROGRAM);
    if !program.exists() {
        debian::install("chromium", "Chromium is needed at /usr/bin/chromium; install the package chromium")?;
    }
    match program.exists() {
        true => Ok(program.to_path_buf()),
        false => Err(TaskError::new("the package chromium has no /usr/bin/chromium")),
    }
}
