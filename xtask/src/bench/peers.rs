//! The SDKs in other languages: their packages, pinned beside the programs that are written with them.

use std::fs;
use std::path::Path;

use super::build;
use super::program::Programs;
use super::progress::Progress;
use super::wanted::Peer;
use crate::command::Failure;
use crate::interop;
use crate::project::Project;

/// Makes the programs of these peers ready to run.
pub(super) fn install(
    project: &Project,
    progress: &Progress,
    peers: &[Peer],
    programs: &mut Programs,
) -> Result<(), Failure> {
    let place = build::folder(project);
    for peer in peers {
        match peer {
            Peer::TypeScript => {
                progress.step("install the TypeScript SDK");
                let from = project.path("benches/node");
                let folder = interop::ci(&from, place.join("node"))?;
                // Node looks for the packages where the program is.
                copy_all(&from, &folder)?;
                programs.node = Some(folder);
            }
            Peer::Python => {
                progress.step("install the Python SDK");
                let from = project.path("benches/python");
                let environment = interop::venv(&from.join("requirements.txt"), place.join("python"))?;
                programs.python = Some((environment.join("bin/python"), from));
            }
        }
    }
    Ok(())
}

fn copy_all(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("cannot copy {} to {}: {error}", from.display(), to.display()))
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
