//! Opens a browser.

use std::path::Path;
use std::process::{Command, Stdio};

/// Opens a URL with this program. Returns whether it was started.
pub(crate) fn open(program: &Path, url: &str) -> bool {
    // No shell is involved, and the caller has checked that this is an http or https URL.
    Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}
