//! SDKs in other languages: installs their pinned packages.

use std::fs;
use std::path::Path;

use super::args::PeerSdk;
use super::build;
use super::program::Programs;
use super::progress::Progress;
use crate::command::TaskError;
use crate::interop;
use crate::project::Project;

/// Installs the packages of these peers.
pub(super) fn install(
    project: &Project,
    progress: &Progress,
    peers: &[PeerSdk],
    programs: &mut Programs,
) -> Result<(), TaskError> {
    let directory = build::folder(project);
    for peer in peers {
        match peer {
            PeerSdk::TypeScript => {
                progress.step("install the TypeScript SDK");
                let from = project.path("benches/node");
                let folder = interop::ci(&from, directory.join("node"))?;
                // Node looks for the packages where the program is.
                copy_all(&from, &folder)?;
                programs.node = Some(folder);
            }
            PeerSdk::Python => {
                progress.step("install the Python SDK");
                let from = project.path("benches/python");
                let environment = interop::venv(&from.join("requirements.txt"), directory.join("python"))?;
                programs.python = Some((environment.join("bin/python"), from));
            }
        }
    }
    Ok(())
}

fn copy_all(from: &Path, to: &Path) -> Result<(), TaskError> {
    let failed = |error: std::io::Error| {
        TaskError::new(format!("cannot copy {} to {}: {error}", from.display(), to.display()))
    };
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).map_err(failed)?;
        }
    }
    Ok(())
}
