//! Clients and a server from npm that need a newer Node than the machine may have, installed with that Node from
//! `interop/current-node/package-lock.json`.

use std::path::{Path, PathBuf};

use super::node;
use crate::command::TaskError;
use crate::project::Project;

/// Paths of the installation.
#[derive(Debug)]
pub(super) struct CurrentNode {
    /// Directory with `node_modules`.
    pub(super) folder: PathBuf,
    /// The Node that runs them.
    pub(super) program: PathBuf,
}

/// Installs the packages.
pub(super) fn install(project: &Project, place: &Path) -> Result<CurrentNode, TaskError> {
    let folder = node::ci(&project.path("interop/current-node"), place.join("current-node"))?;
    let program = node::packaged(&folder)
        .ok_or_else(|| TaskError::new("npm has no Node 24 for this machine (Linux on x64 or arm64)"))?;
    Ok(CurrentNode { folder, program })
}
