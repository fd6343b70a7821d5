//! The files of a new project, from templates that are part of this program.

use std::path::{Path, PathBuf};

/// One file: where, and what is in it before the names are filled in.
pub(crate) type File = (&'static str, &'static str);

macro_rules! files {
    ($folder:literal, $place:literal: $($from:literal => $to:literal,)+) => {
        &[$((concat!($place, $to), include_str!(concat!("../../templates/", $folder, "/", $from)))),+]
    };
}

/// A service, its test, and what tells about it.
const SERVICE: &[File] = files!("service", "":
    // Under its own name cargo would take the folder for a package of its own, and not pack it.
    "Cargo.toml.in" => "Cargo.toml",
    // Under its own name it would count for our own repository.
    "gitignore" => ".gitignore",
    "README.md" => "README.md",
    "AGENTS.md" => "AGENTS.md",
    "src/lib.rs" => "src/lib.rs",
    "src/in_memory.rs" => "src/in_memory.rs",
    "src/main.rs" => "src/main.rs",
    "src/cli.rs" => "src/cli.rs",
    "tests/service.rs" => "tests/service.rs",
);

/// A template of the agent.
macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../templates/agents/", $name))
    };
}
pub(crate) use template;

/// The design of the service in [`SERVICE`], with the same names left open.
const DESIGN: &str = include_str!("../../templates/service/design.json");

pub(crate) fn service() -> &'static [File] {
    SERVICE
}

/// The design of a new project, before the names are filled in.
pub(crate) fn design() -> &'static str {
    DESIGN
}

/// Where a project gets switchboard from.
#[derive(Debug)]
pub(crate) enum Dependency {
    /// The published crate, in the version of this program.
    Published,
    /// The sources in a folder.
    Path(PathBuf),
}

/// The package a project depends on.
const PACKAGE: &str = "switchboard-mcp";

impl Dependency {
    /// The sources that were named; without any, those that this program was built from if they are still there, and the
    /// published crate otherwise.
    ///
    /// # Errors
    /// When a folder was named that does not hold the sources.
    pub(crate) fn choose(named: Option<&Path>) -> Result<Self, String> {
        match named {
            Some(folder) => Self::at(folder)
                .ok_or_else(|| format!("{} does not hold the sources of switchboard", folder.display())),
            None => {
                Ok(Self::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap_or(Self::Published))
            }
        }
    }

    /// The sources in a folder: that of the crate, or the whole repository.
    fn at(folder: &Path) -> Option<Self> {
        let holds = |folder: &Path| {
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
            manifest.lines().any(|line| line.trim() == format!("name = \"{PACKAGE}\""))
        };
        let found = [folder.join("crates/switchboard"), folder.to_owned()]
            .into_iter()
            .find(|folder| holds(folder))?;
        Some(Self::Path(found.canonicalize().ok()?))
    }

    /// As the manifest has it, with these features.
    pub(crate) fn line(&self, features: &str) -> String {
        let from = match self {
            Self::Published => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
            // Quoted as JSON, which TOML reads the same.
            Self::Path(path) => format!("path = {}", serde_json::Value::from(path.to_string_lossy())),
        };
        format!("{{ package = \"{PACKAGE}\", {from}, features = [\"{features}\"] }}")
    }
}
