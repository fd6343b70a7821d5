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

/// An agent that uses the service.
const AGENT: &[File] = files!("agents", "agents/":
    "Cargo.toml.in" => "Cargo.toml",
    "lib.rs" => "lib.rs",
    "main.rs" => "main.rs",
    "bootstrap.rs" => "bootstrap.rs",
    "scribe/planner.rs" => "scribe/planner.rs",
    "scribe/toolsets/notes/adapter.rs" => "scribe/toolsets/notes/adapter.rs",
    "tests/plan.rs" => "tests/plan.rs",
);

pub(crate) fn service() -> &'static [File] {
    SERVICE
}

pub(crate) fn agent() -> &'static [File] {
    AGENT
}

/// Where a project gets switchboard from.
#[derive(Debug)]
pub(crate) enum Dependency {
    /// The published crate, in the version of this program.
    Published,
    /// The sources in a folder.
    Path(PathBuf),
}

impl Dependency {
    /// The sources in a folder: that of the crate, or the whole repository.
    pub(crate) fn at(folder: &Path) -> Self {
        let within = folder.join("crates/switchboard");
        let folder = if within.is_dir() { within } else { folder.to_owned() };
        Self::Path(std::path::absolute(&folder).unwrap_or(folder))
    }

    /// As the manifest has it.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Published => {
                format!(
                    "{{ package = \"switchboard-mcp\", version = \"{}\", features = [\"service-cli\"] }}",
                    env!("CARGO_PKG_VERSION")
                )
            }
            // Quoted as JSON, which TOML reads the same.
            Self::Path(path) => {
                let path = serde_json::Value::from(path.to_string_lossy());
                format!("{{ package = \"switchboard-mcp\", path = {path}, features = [\"service-cli\"] }}")
            }
        }
    }
}
