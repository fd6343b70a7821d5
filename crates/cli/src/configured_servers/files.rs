//! The configuration files of this user and this project.

use std::path::{Path, PathBuf};

use switchboard::host::config::{
    ConfigError, ConfigFile, ConfiguredServer, Locations, ResolvedConfig, Scope,
};

use crate::environment::variable;
use crate::error::CommandError;
use crate::output::Screen;
use crate::sanitize::one_line;

/// The configuration files, as read at the start of the command.
#[derive(Debug)]
pub(crate) struct ConfigFiles {
    pub(crate) locations: Locations,
    pub(crate) resolved: ResolvedConfig,
}

impl ConfigFiles {
    /// Reads the configuration files of this user and of the project of the working directory.
    ///
    /// # Errors
    /// Returns an error if there is no home directory. ConfigFiles that cannot be read are reported by [`Self::warn`].
    pub(crate) fn read() -> Result<Self, CommandError> {
        let here = std::env::current_dir()?;
        let locations = Locations::standard(project_root(&here), &variable).ok_or_else(|| {
            CommandError::other("no_home", "neither HOME nor XDG_CONFIG_HOME is set")
                .hint("set HOME to your home directory")
        })?;
        let resolved = ResolvedConfig::read(&locations, &[], &variable);
        Ok(Self { locations, resolved })
    }

    /// Prints warnings about the files, and about files that cannot be read.
    pub(crate) fn warn(&self, screen: &Screen) {
        for fault in &self.resolved.errors {
            screen.warn(&one_line(&fault.to_string()));
        }
        for warning in &self.resolved.warnings {
            screen.warn(&one_line(&warning.to_string()));
        }
    }

    /// Returns the configured server of this name.
    ///
    /// # Errors
    /// Returns an error that lists the configured servers if there is no such server.
    pub(crate) fn server(&self, name: &str) -> Result<&ConfiguredServer, CommandError> {
        self.resolved.server(name).ok_or_else(|| self.not_configured(name))
    }

    fn not_configured(&self, name: &str) -> CommandError {
        let names: Vec<String> = self.resolved.servers.iter().map(|server| one_line(&server.name)).collect();
        let failure =
            CommandError::other("not_configured", format!("no server {:?} is configured", one_line(name)));
        match names.is_empty() {
            true => failure.hint(NO_SERVERS_HINT),
            false => failure.hint(format!("configured servers: {}", names.join(", "))),
        }
    }

    /// Returns the file of a scope; `None` for entries that come from no file.
    pub(crate) fn path(&self, scope: Scope) -> Option<&Path> {
        match scope {
            Scope::Managed => Some(&self.locations.managed_file),
            Scope::Local => Some(&self.locations.local_file),
            Scope::Project => Some(&self.locations.project_file),
            Scope::User => Some(&self.locations.user_file),
            Scope::ClaudeAi => None,
        }
    }

    /// Opens the file of a scope for editing.
    ///
    /// # Errors
    /// Returns an error if the user must not change it, or it cannot be read.
    pub(crate) fn edit(&self, scope: Scope) -> Result<ConfigFile, CommandError> {
        let opened = match scope {
            Scope::Local => ConfigFile::open(&self.locations.local_file),
            Scope::User => ConfigFile::open(&self.locations.user_file),
            Scope::Project => ConfigFile::open_shared(&self.locations.project_file),
            Scope::Managed | Scope::ClaudeAi => {
                return Err(CommandError::other(
                    "not_yours",
                    format!("a server of the scope {scope} cannot be changed"),
                )
                .hint("ask the administrator of this machine"));
            }
        };
        Ok(opened?)
    }
}

/// Hint for an empty configuration.
pub(crate) const NO_SERVERS_HINT: &str =
    "add one: switchboard add NAME -- CMD ARGS; or import those of other programs: switchboard import";

impl From<ConfigError> for CommandError {
    fn from(fault: ConfigError) -> Self {
        Self::other("configuration", fault.to_string())
    }
}

/// Returns the project of a directory: the nearest ancestor with `.mcp.json` or `.git`, else the directory itself.
fn project_root(here: &Path) -> PathBuf {
    // A directory with two paths must be one project.
    let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    let is_project = |folder: &&Path| folder.join(".mcp.json").is_file() || folder.join(".git").exists();
    here.ancestors().find(is_project).unwrap_or(&here).to_owned()
}

/// Splits `server/rest` into one of the servers and the rest. Names may contain slashes: the longest match wins.
pub(crate) fn split_server<'a>(
    servers: impl IntoIterator<Item = &'a str>,
    text: &'a str,
) -> Option<(&'a str, &'a str)> {
    let split = |server: &'a str| Some((server, text.strip_prefix(server)?.strip_prefix('/')?));
    servers.into_iter().filter_map(split).max_by_key(|(server, _)| server.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_server_name_wins() {
        let servers = ["a", "a/b", "c"];
        let split = |text| split_server(servers, text);
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
        assert_eq!(project_root(&deep), root.join("shop"));
        std::fs::write(root.join("shop/src/.mcp.json"), "{}").unwrap();
        assert_eq!(project_root(&deep), root.join("shop/src"));
    }
}
