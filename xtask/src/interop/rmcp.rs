//! Programs written with rmcp, built from the separate workspace `interop/`.

use std::path::{Path, PathBuf};

use crate::command::{self, TaskError};
use crate::project::Project;

#[derive(Debug)]
pub(super) struct Binaries {
    pub(super) server: PathBuf,
    pub(super) client: PathBuf,
    pub(super) assistant_client: PathBuf,
    pub(super) gateway_client: PathBuf,
    pub(super) login_client: PathBuf,
    pub(super) old_server: PathBuf,
}

/// Builds the programs. Cargo detects changes itself, so there is no stamp.
pub(super) fn install(project: &Project, place: &Path) -> Result<Binaries, TaskError> {
    let mut cargo = project.cargo();
    cargo.args(["build", "--locked", "--bins", "--manifest-path", "interop/Cargo.toml"]);
    cargo.args(["--workspace", "--exclude", "schema-oracle"]);
    command::run(cargo.env("CARGO_TARGET_DIR", place))?;
    let binary = |name: &str| place.join("debug").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    Ok(Binaries {
        server: binary("rmcp-server"),
        client: binary("rmcp-client"),
        assistant_client: binary("assistant-client"),
        gateway_client: binary("gateway-client"),
        login_client: binary("login-client"),
        old_server: binary("rmcp-old-server"),
    })
}
