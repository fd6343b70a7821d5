//! Installing the programs that the interop tests talk to, all under `<target>/interop`.
//!
//! Each part is pinned by a lock file in `interop/` and installed again only when that changes. Whatever
//! keeps a part from being installed is a failure that begins with `not run:`; the tests never pass without it.

mod node;
mod python;
mod rmcp;
mod stamp;

use std::path::PathBuf;
use std::time::Instant;

use crate::command::Failure;
use crate::project::Project;

pub(crate) use node::{ci, machine_major};
pub(crate) use python::venv;

/// Where the installed programs are.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Holds `node_modules`.
    node: PathBuf,
    /// A virtual environment; the servers are in its `bin`.
    python: PathBuf,
    rmcp: rmcp::Binaries,
}

impl Peers {
    /// What the tests are told.
    pub(crate) fn environment(&self) -> [(&'static str, &PathBuf); 6] {
        [
            ("SWITCHBOARD_INTEROP_NODE", &self.node),
            ("SWITCHBOARD_INTEROP_PYTHON", &self.python),
            ("SWITCHBOARD_INTEROP_RMCP_SERVER", &self.rmcp.server),
            ("SWITCHBOARD_INTEROP_RMCP_CLIENT", &self.rmcp.client),
            ("SWITCHBOARD_INTEROP_RMCP_ASSISTANT_CLIENT", &self.rmcp.assistant_client),
            ("SWITCHBOARD_INTEROP_RMCP_OLD_SERVER", &self.rmcp.old_server),
        ]
    }
}

/// Installs what is missing or out of date.
pub(crate) fn install(project: &Project) -> Result<Peers, Failure> {
    let place = project.target.join("interop");
    std::fs::create_dir_all(&place)
        .map_err(|error| Failure::new(format!("not run: cannot make {}: {error}", place.display())))?;
    Ok(Peers {
        rmcp: part("rmcp programs", || rmcp::install(project, &place))?,
        node: part("npm servers", || node::install(project, &place))?,
        python: part("PyPI servers", || python::install(project, &place))?,
    })
}

fn part<T>(name: &str, install: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let start = Instant::now();
    let installed = install().map_err(|failure| {
        Failure::new(format!(
            "not run: the {name} could not be installed (is the registry reachable?): {failure}"
        ))
    })?;
    eprintln!("{name}: ready after {:.1} s", start.elapsed().as_secs_f64());
    Ok(installed)
}
