//! Servers from npm, installed by `npm ci` from `interop/node/package-lock.json`, with the programs of
//! `interop/node`, which find their packages there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::stamp::Stamp;
use crate::command::{self, TaskError};
use crate::project::Project;

const OLDEST_NODE: u32 = 20;
const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];
const PROGRAMS: [&str; 11] = [
    "assistant-client.mjs",
    "authorization-server.mjs",
    "chromium-login.mjs",
    "document-server.mjs",
    "gateway-client.mjs",
    "login-client.mjs",
    "login-form.mjs",
    "loopback.mjs",
    "progress-client.mjs",
    "ts-client.mjs",
    "ts-server.mjs",
];

/// Installs the packages and returns the folder that contains `node_modules`.
pub(super) fn install(project: &Project, place: &Path) -> Result<PathBuf, TaskError> {
    let from = project.path("interop/node");
    let folder = ci(&from, place.join("node"))?;
    for name in PROGRAMS {
        fs::copy(from.join(name), folder.join(name))
            .map_err(|error| TaskError::new(format!("cannot write {}: {error}", folder.display())))?;
    }
    Ok(folder)
}

/// Installs the packages of the lock file in `from` into `folder`, and returns that.
pub(crate) fn ci(from: &Path, folder: PathBuf) -> Result<PathBuf, TaskError> {
    let version = node_version()?;
    let sources = FILES.map(|file| from.join(file));
    let stamp = Stamp::of(&folder, &sources, &[&version])?;
    if stamp.matches() && folder.join("node_modules").is_dir() {
        return Ok(folder);
    }

    stamp.remove()?;
    let io = |error: std::io::Error| TaskError::new(format!("cannot write {}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(io)?;
    for (source, name) in sources.iter().zip(FILES) {
        fs::copy(source, folder.join(name)).map_err(io)?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    command::run_to_stderr(npm.current_dir(&folder))?;
    stamp.write()?;
    Ok(folder)
}

/// Returns the Node that a package of this installation contains.
pub(crate) fn packaged(folder: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(folder.join("node_modules")).into_iter().flatten().flatten();
    let mut nodes = packages.map(|package| package.path().join("bin/node")).filter(|node| node.is_file());
    nodes.next()
}

/// Returns the major version of the installed Node.
pub(crate) fn machine_major() -> Result<u32, TaskError> {
    Ok(major(&node_version()?).unwrap_or_default())
}

fn node_version() -> Result<String, TaskError> {
    let version = command::output(Command::new("node").arg("--version")).map_err(|failure| {
        TaskError::new(format!("Node {OLDEST_NODE} or newer with npm is needed; {failure}"))
    })?;
    match major(&version) {
        Some(major) if major >= OLDEST_NODE => Ok(version),
        _ => {
            Err(TaskError::new(format!("Node {OLDEST_NODE} or newer is needed, this is {}", version.trim())))
        }
    }
}

fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("20"), None);
        assert_eq!(major("vNext"), None);
    }
}
