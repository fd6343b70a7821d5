//! Installs the programs of the interop tests under `<target>/interop`.
//!
//! Each part is pinned by a lock file in `interop/` and reinstalled only when that changes. An installation error
//! begins with `not run:`; the tests never pass without the programs.

mod chromium;
mod current_node;
mod debian;
mod node;
mod python;
mod rmcp;
mod stamp;

use std::path::PathBuf;
use std::time::Instant;

use crate::command::TaskError;
use crate::project::Project;

pub(crate) use node::{ci, machine_major, packaged};
pub(crate) use python::venv;

/// Paths of the installed programs.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Directory with `node_modules`.
    node: PathBuf,
    current_node: current_node::CurrentNode,
    /// A virtual environment; the servers are in its `bin`.
    python: PathBuf,
    rmcp: rmcp::Binaries,
    /// A browser.
    chromium: PathBuf,
}

impl Peers {
    /// Returns the environment variables for the tests.
    pub(crate) fn environment(&self) -> [(&'static str, &PathBuf); 11] {
        [
            ("SWITCHBOARD_INTEROP_NODE", &self.node),
            ("SWITCHBOARD_INTEROP_CURRENT_NODE", &self.current_node.folder),
            ("SWITCHBOARD_INTEROP_CURRENT_NODE_PROGRAM", &self.current_node.program),
            ("SWITCHBOARD_INTEROP_PYTHON", &self.python),
            ("SWITCHBOARD_INTEROP_RMCP_SERVER", &self.rmcp.server),
            ("SWITCHBOARD_INTEROP_RMCP_CLIENT", &self.rmcp.client),
            ("SWITCHBOARD_INTEROP_RMCP_ASSISTANT_CLIENT", &self.rmcp.assistant_client),
            ("SWITCHBOARD_INTEROP_RMCP_GATEWAY_CLIENT", &self.rmcp.gateway_client),
            ("SWITCHBOARD_INTEROP_RMCP_LOGIN_CLIENT", &self.rmcp.login_client),
            ("SWITCHBOARD_INTEROP_RMCP_OLD_SERVER", &self.rmcp.old_server),
            ("SWITCHBOARD_INTEROP_CHROMIUM", &self.chromium),
        ]
    }
}

/// Installs programs that are missing or out of date.
pub(crate) fn install(project: &Project) -> Result<Peers, TaskError> {
    let directory = directory(project)?;
    Ok(Peers {
        rmcp: part("rmcp programs", || rmcp::install(project, &directory))?,
        node: part("npm servers", || node::install(project, &directory))?,
        current_node: part("npm clients", || current_node::install(project, &directory))?,
        python: part("PyPI servers", || python::install(project, &directory))?,
        chromium: part("browser", chromium::install)?,
    })
}

/// Paths of the programs of the console's tests.
#[derive(Debug)]
pub(crate) struct ConsolePeers {
    /// Directory with `node_modules`.
    pub(crate) node: PathBuf,
    /// A browser.
    pub(crate) chromium: PathBuf,
}

/// Installs only the programs of the console's tests.
pub(crate) fn install_for_console(project: &Project) -> Result<ConsolePeers, TaskError> {
    let directory = directory(project)?;
    Ok(ConsolePeers {
        node: part("npm servers", || node::install(project, &directory))?,
        chromium: part("browser", chromium::install)?,
    })
}

fn directory(project: &Project) -> Result<PathBuf, TaskError> {
    let directory = project.target.join("interop");
    match std::fs::create_dir_all(&directory) {
        Ok(()) => Ok(directory),
        Err(error) => Err(TaskError::new(format!("not run: cannot make {}: {error}", directory.display()))),
    }
}

fn part<T>(name: &str, install: impl FnOnce() -> Result<T, TaskError>) -> Result<T, TaskError> {
    let start = Instant::now();
    let installed = install().map_err(|failure| {
        TaskError::new(format!(
            "not run: the {name} could not be installed (is the registry reachable?): {failure}"
        ))
    })?;
    eprintln!("{name}: ready after {:.1} s", start.elapsed().as_secs_f64());
    Ok(installed)
}
