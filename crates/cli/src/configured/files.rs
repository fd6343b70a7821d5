//! Where the configuration of this user and this project is, and what it says.

use std::path::{Path, PathBuf};

use switchboard::host::config::{
    ConfigError, ConfigFile, ConfiguredServer, Locations, ResolvedConfig, Scope,
};

use crate::environment::variable;
use crate::failure::{Failure, Status};
use crate::output::Screen;
use crate::sanitize::one_line;

/// The files, as they were read when the command began.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) at: Locations,
    pub(crate) resolved: ResolvedConfig,
}

impl Files {
    /// Reads the files of this user for the project of the working directory.
    ///
    /// # Errors
    /// When there is no place for files of this user. A file that cannot be read is told with [`Self::warn`].
    pub(crate) fn read() -> Result<Self, Failure> {
        let here = std::env::current_dir()?;
        let at = Locations::standard(project(&here), &variable).ok_or_else(|| {
            Failure::new(Status::Other, "no_home", "neither HOME nor XDG_CONFIG_HOME is set")
                .hint("set HOME to your home directory")
        })?;
        let resolved = ResolvedConfig::read(&at, &[], &variable);
        Ok(Self { at, resolved })
    }

    /// Says what is odd about them, and which could not be read.
    pub(crate) fn warn(&self, screen: &Screen) {
        for fault in &self.resolved.errors {
            screen.warn(&one_line(&fault.to_string()));
        }
        for warning in &self.resolved.warnings {
            screen.warn(&one_line(&warning.to_string()));
        }
    }

    /// The server of this name.
    ///
    /// # Errors
    /// When there is none, with those there are.
    pub(crate) fn server(&self, name: &str) -> Result<&ConfiguredServer, Failure> {
        self.resolved.server(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Failure {
        let names: Vec<String> = self.resolved.servers.iter().map(|server| one_line(&server.name)).collect();
        let failure = Failure::new(
            Status::Other,
            "not_configured",
            format!("no server {:?} is configured", one_line(name)),
        );
        match names.is_empty() {
            true => failure.hint(NONE),
            false => failure.hint(format!("configured servers: {}", names.join(", "))),
        }
    }

    /// The file of a scope; none where entries come from no file.
    pub(crate) fn of(&self, scope: Scope) -> Option<&Path> {
        match scope {
            Scope::Managed => Some(&self.at.managed_file),
            Scope::Local => Some(&self.at.local_file),
            Scope::Project => Some(&self.at.project_file),
            Scope::User => Some(&self.at.user_file),
            Scope::ClaudeAi => None,
        }
    }

    /// The file of a scope, to be changed.
    ///
    /// # Errors
    /// When it is not this user's to change, or cannot be read.
    pub(crate) fn edit(&self, scope: Scope) -> Result<ConfigFile, Failure> {
        let opened = match scope {
            Scope::Local => ConfigFile::open(&self.at.local_file),
            Scope::User => ConfigFile::open(&self.at.user_file),
            Scope::Project => ConfigFile::open_shared(&self.at.project_file),
            Scope::Managed | Scope::ClaudeAi => {
                return Err(Failure::new(
                    Status::Other,
                    "not_yours",
                    format!("a server of the scope {scope} cannot be changed"),
                )
                .hint("ask whoever manages this machine"));
            }
        };
        Ok(opened?)
    }
}

/// What to do where no server is remembered.
pub(crate) const NONE: &str =
    "add one: switchboard add NAME -- CMD ARGS; or `switchboard import` those of other programs";

impl From<ConfigError> for Failure {
    fn from(fault: ConfigError) -> Self {
        Self::new(Status::Other, "configuration", fault.to_string())
    }
}

/// The project a directory belongs to: the nearest one above that has servers or a repository, else itself.
fn project(here: &Path) -> PathBuf {
    // Two paths to one directory must not be two projects.
    let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    let is_project = |folder: &&Path| folder.join(".mcp.json").is_file() || folder.join(".git").exists();
    here.ancestors().find(is_project).unwrap_or(&here).to_owned()
}

/// A server of these and what stands behind it, in `server/rest`. Names may hold slashes: the longest that fits counts.
pub(crate) fn server_and_rest<'a>(
    servers: impl IntoIterator<Item = &'a str>,
    text: &'a str,
) -> Option<(&'a str, &'a str)> {
    let behind = |server: &'a str| Some((server, text.strip_prefix(server)?.strip_prefix('/')?));
    servers.into_iter().filter_map(behind).max_by_key(|(server, _)| server.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_server_name_counts() {
        let servers = ["a", "a/b", "c"];
        let split = |text| server_and_rest(servers, text);
        assert_eq!(split("a/b/c"), Some(("a/b", "c")));
        assert_eq!(split("a/x"), Some(("a", "x")));
        assert_eq!(split("ab/x"), None);
        assert_eq!(split("echo"), None);
    }

    #[test]
    fn a_project_is_the_nearest_folder_with_servers_or_a_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let deep = root.join("shop/src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(root.join("shop/.git")).unwrap();
        assert_eq!(project(&deep), root.join("shop"));
        std::fs::write(root.join("shop/src/.mcp.json"), "{}").unwrap();
        assert_eq!(project(&deep), root.join("shop/src"));
    }
}
