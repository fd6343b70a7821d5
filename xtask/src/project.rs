//! The root of the project and its build directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, TaskError};

/// The work tree and the settings that all tasks share.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// Cargo's target folder, wherever the environment or a configuration has put it.
    pub(crate) target: PathBuf,
    pub(crate) long: bool,
}

impl Project {
    pub(crate) fn find(long: bool) -> Result<Self, TaskError> {
        // Cargo sets it for `cargo xtask`; the value of the build is the fallback if the binary is started directly.
        let here =
            std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let here = PathBuf::from(here);
        let root = here.parent().expect("xtask is a folder of the project").to_path_buf();
        let metadata = command::output(command::cargo(&root).args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ]))?;
        let target = target_directory(&metadata)
            .ok_or_else(|| TaskError::new("cargo metadata names no target directory"))?;
        Ok(Self { root, target: PathBuf::from(target), long })
    }

    /// Returns a cargo command in the root directory.
    pub(crate) fn cargo(&self) -> Command {
        command::cargo(&self.root)
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }
}

/// Reads the only field that is needed, without a JSON parser.
fn target_directory(metadata: &str) -> Option<String> {
    let (_, rest) = metadata.split_once("\"target_directory\":\"")?;
    let mut found = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return Some(found),
            '\\' => found.push(characters.next()?),
            character => found.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_directory_is_found_in_the_metadata() {
        let metadata = r#"{"packages":[],"target_directory":"/tmp/a \"b\"","version":1}"#;
        assert_eq!(target_directory(metadata).as_deref(), Some(r#"/tmp/a "b""#));
        assert_eq!(target_directory("{}"), None);
    }

    /// The packages in `crates/` with their folders, as their manifests name them.
    fn manifests() -> Vec<(String, String)> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let folders = std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path());
        let read = |folder: PathBuf| {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(folder.join("Cargo.toml")).unwrap())
        };
        folders.map(read).collect()
    }

    #[test]
    fn a3_packages_are_switchboard_mcp_and_libraries_keep_their_names() {
        for (folder, manifest) in manifests() {
            let (package, library) = match folder.as_str() {
                "switchboard" => ("switchboard-mcp".to_owned(), "switchboard".to_owned()),
                part => (format!("switchboard-mcp-{part}"), format!("switchboard_{part}")),
            };
            assert!(manifest.contains(&format!("[package]\nname = \"{package}\"\n")), "{folder}");
            // The command line has no library.
            let library = format!("[lib]\nname = \"{library}\"\n");
            assert!(folder == "cli" || manifest.contains(&library), "{folder}: {library}");
        }
    }

    #[test]
    fn v14_a_client_or_a_service_needs_few_crates() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tree = command::cargo(&root);
        tree.args(["tree", "--offline", "-p", "switchboard-mcp", "-e", "normal,build", "--prefix", "none"]);
        let tree = command::output(&mut tree).unwrap();
        let crates: std::collections::BTreeSet<&str> =
            tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
        // The number of crates that rmcp needs for macros, client and server with HTTP.
        assert!(crates.len() <= 158, "{} crates", crates.len());
    }
    #[test]
    fn configuration_files_need_no_async_runtime() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tree = command::cargo(&root);
        tree.args(["tree", "--offline", "-p", "switchboard-mcp-config", "-e", "normal", "--prefix", "none"]);
        let tree = command::output(&mut tree).unwrap();
        let unwanted = ["tokio ", "hyper ", "switchboard-mcp-session ", "switchboard-mcp-transport "];
        let found: Vec<&str> =
            tree.lines().filter(|line| unwanted.iter().any(|name| line.starts_with(name))).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}
