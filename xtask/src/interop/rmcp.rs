//! The programs written with rmcp: built from `interop/`, a workspace of its own.

use std::path::{Path, PathBuf};

use crate::command::{self, Failure};
use crate::project::Project;

#[derive(Debug)]
pub(super) struct Binaries {
    pub(super) server: PathBuf,
    pub(super) client: PathBuf,
    pub(super) assistant_client: PathBuf,
    pub(super) old_server: PathBuf,
}

/// Cargo knows by itself what is out of date, so there is no stamp.
pub(super) fn install(project: &Project, place: &Path) -> Result<Binaries, Failure> {
    let mut cargo = project.cargo();
    cargo.args(["build", "--locked", "--bins", "--manifest-path", "interop/Cargo.toml"]);
    cargo.args(["--workspace", "--exclude", "schema-oracle"]);
    command::run(cargo.env("CARGO_TARGET_DIR", place))?;
    let binary = |name: &str| place.join("debug").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    Ok(Binaries {
        server: binary("rmcp-server"),
        client: binary("rmcp-client"),
        assistant_client: binary("assistant-client"),
        old_server: binary("rmcp-old-server"),
    })
}
