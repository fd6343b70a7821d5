//! Templates of a new project, embedded in this program.

use std::path::{Path, PathBuf};

/// A template: the path of the file, and its text before names are filled in.
pub(crate) type Template = (&'static str, &'static str);

macro_rules! files {
    ($folder:literal, $prefix:literal: $($from:literal => $to:literal,)+) => {
        &[$((concat!($prefix, $to), include_str!(concat!("../../templates/", $folder, "/", $from)))),+]
    };
}

/// Templates of a service, its test and its documents.
pub(crate) const SERVICE_TEMPLATES: &[Template] = files!("service", "":
    // Named `Cargo.toml`, cargo would treat the folder as a package and not include it.
    "Cargo.toml.in" => "Cargo.toml",
    // Named `.gitignore`, git would apply it to this repository.
    "gitignore" => ".gitignore",
    "README.md" => "README.md",
    "AGENTS.md" => "AGENTS.md",
    "src/lib.rs" => "src/lib.rs",
    "src/in_memory.rs" => "src/in_memory.rs",
    "src/main.rs" => "src/main.rs",
    "src/cli.rs" => "src/cli.rs",
    "tests/service.rs" => "tests/service.rs",
);

/// Includes a template of the agent.
macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../templates/agents/", $name))
    };
}
pub(crate) use template;

/// Design of the service in [`SERVICE`], before names are filled in.
pub(crate) const DESIGN_TEMPLATE: &str = include_str!("../../templates/service/design.json");

/// The dependency of a project on switchboard.
#[derive(Debug)]
pub(crate) enum Dependency {
    /// The published crate, in the version of this program.
    Published,
    /// The sources in a folder.
    Path(PathBuf),
}

/// Name of the package.
const PACKAGE: &str = "switchboard-mcp";

impl Dependency {
    /// Returns the sources in the given folder; by default the sources this program was built from if they still exist,
    /// else the published crate.
    ///
    /// # Errors
    /// Returns an error if the given folder does not contain the sources.
    pub(crate) fn choose(folder: Option<&Path>) -> Result<Self, String> {
        match folder {
            Some(folder) => Self::from_folder(folder)
                .ok_or_else(|| format!("{} does not contain the sources of switchboard", folder.display())),
            None => Ok(Self::from_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
                .unwrap_or(Self::Published)),
        }
    }

    /// Returns the sources in a folder: the folder of the crate, or the repository.
    fn from_folder(folder: &Path) -> Option<Self> {
        let is_package = |folder: &Path| {
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
            manifest.lines().any(|line| line.trim() == format!("name = \"{PACKAGE}\""))
        };
        let found = [folder.join("crates/switchboard"), folder.to_owned()]
            .into_iter()
            .find(|folder| is_package(folder))?;
        Some(Self::Path(found.canonicalize().ok()?))
    }

    /// Returns the dependency as TOML, with these features.
    pub(crate) fn to_toml(&self, features: &str) -> String {
        let from = match self {
            Self::Published => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
            // Quoted as JSON, which TOML reads the same.
            Self::Path(path) => format!("path = {}", serde_json::Value::from(path.to_string_lossy())),
        };
        format!("{{ package = \"{PACKAGE}\", {from}, features = [\"{features}\"] }}")
    }
}
