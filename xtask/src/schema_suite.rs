//! The official JSON-Schema-Test-Suite, and the comparison with another validator.
//!
//! The suite is in the source distribution of the Python package `jsonschema`, which pip fetches by name and version into
//! `<target>/interop`. Both are judged by `interop/schema-oracle`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, TaskError};
use crate::project::Project;

const PACKAGE: &str = "jsonschema";
const VERSION: &str = "4.26.0";
/// Number of generated pairs of schema and value: by default, and with `--long`.
const PAIRS: u64 = 10_000;
const LONG_PAIRS: u64 = 300_000;

pub(crate) fn run(project: &Project) -> Result<(), TaskError> {
    let directory = project.target.join("interop");
    let suite = suite(&directory).map_err(|failure| {
        TaskError::new(format!("not run: the test suite could not be fetched: {failure}"))
    })?;
    let mut cargo = project.cargo();
    cargo.args(["build", "--locked", "--manifest-path", "interop/Cargo.toml", "-p", "schema-oracle"]);
    command::run(cargo.env("CARGO_TARGET_DIR", &directory))?;
    let oracle =
        directory.join("debug").join("schema-oracle").with_extension(std::env::consts::EXE_EXTENSION);
    command::run(Command::new(&oracle).arg("suite").arg(suite))?;
    let pairs = if project.long { LONG_PAIRS } else { PAIRS };
    command::run(Command::new(&oracle).arg("agree").arg(pairs.to_string()))
}

/// Returns the folder of the suite, fetched once for each version.
fn suite(directory: &Path) -> Result<PathBuf, TaskError> {
    let folder = directory.join("json-schema");
    let source = folder.join(format!("{PACKAGE}-{VERSION}"));
    let tests = source.join("json").join("tests");
    if tests.is_dir() {
        return Ok(tests);
    }
    fs::create_dir_all(&folder)
        .map_err(|error| TaskError::new(format!("cannot create {}: {error}", folder.display())))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--no-deps"])
        .args(["--no-binary", PACKAGE])
        .arg("--dest")
        .arg(&folder)
        .arg(format!("{PACKAGE}=={VERSION}"));
    command::run_to_stderr(&mut pip)?;
    // Unpacked next to its destination and then moved: a partial suite must not look complete.
    let partial = folder.join("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)
            .map_err(|error| TaskError::new(format!("cannot remove {}: {error}", partial.display())))?;
    }
    fs::create_dir_all(&partial)
        .map_err(|error| TaskError::new(format!("cannot create {}: {error}", partial.display())))?;
    let archive = folder.join(format!("{PACKAGE}-{VERSION}.tar.gz"));
    command::run_to_stderr(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&partial))?;
    fs::rename(partial.join(format!("{PACKAGE}-{VERSION}")), &source)
        .map_err(|error| TaskError::new(format!("cannot move {}: {error}", source.display())))?;
    if tests.is_dir() { Ok(tests) } else { Err(TaskError::new("the package has no test suite in it")) }
}
