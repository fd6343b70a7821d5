//! Paths of our files. Each can be set, so tests never touch a home directory.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::expand::VariableLookup;

/// The paths of configuration and state files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Locations {
    /// The project directory: approvals are bound to it, and a relative `cwd` of its servers is resolved against it.
    pub project: PathBuf,
    /// The administrator's file for all users.
    pub managed_file: PathBuf,
    /// The user's own file for this project.
    pub local_file: PathBuf,
    /// The project's file, shared with everybody who works on it.
    pub project_file: PathBuf,
    /// The user's file for all projects.
    pub user_file: PathBuf,
    /// Approvals of project servers.
    pub approvals: PathBuf,
    /// Remembered answers about calls.
    pub permissions: PathBuf,
}

impl Locations {
    /// Returns the standard paths for a project, from the XDG variables or `HOME`; `None` without any of them. Pass the
    /// canonical path of the project: two paths to one directory are two projects.
    ///
    /// ```
    /// use switchboard::host::config::Locations;
    ///
    /// let variables = |name: &str| (name == "HOME").then(|| "/people/ada".to_owned());
    /// let at = Locations::standard("/shop", &variables).unwrap();
    /// assert_eq!(at.user_file.to_str(), Some("/people/ada/.config/switchboard/mcp.json"));
    /// assert_eq!(at.project_file.to_str(), Some("/shop/.mcp.json"));
    /// ```
    pub fn standard(project: impl Into<PathBuf>, variables: VariableLookup<'_>) -> Option<Self> {
        // The XDG specification: a relative path is to be ignored.
        let absolute = |name: &str| variables(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = |below: &str| absolute("HOME").map(|home| home.join(below));
        let config = absolute("XDG_CONFIG_HOME").or_else(|| home(".config"))?;
        let state = absolute("XDG_STATE_HOME").or_else(|| home(".local/state"))?;
        Some(Self::under(project, &config.join("switchboard"), &state.join("switchboard")))
    }

    /// Returns paths in these two directories: one for configuration, one for state.
    pub fn under(project: impl Into<PathBuf>, config: &Path, state: &Path) -> Self {
        let project = project.into();
        Self {
            managed_file: PathBuf::from("/etc/switchboard/mcp.json"),
            local_file: state.join("projects").join(directory_name(&project)).join("mcp.json"),
            project_file: project.join(".mcp.json"),
            user_file: config.join("mcp.json"),
            approvals: state.join("approvals.json"),
            permissions: state.join("permissions.json"),
            project,
        }
    }

    /// Sets the administrator's file.
    #[must_use]
    pub fn with_managed_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.managed_file = file.into();
        self
    }

    /// Sets the project's file.
    #[must_use]
    pub fn with_project_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.project_file = file.into();
        self
    }

    /// Sets the user's file.
    #[must_use]
    pub fn with_user_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.user_file = file.into();
        self
    }
}

/// Returns the directory name of a project: the last component of its path and a hash of the whole path.
fn directory_name(project: &Path) -> String {
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    let hash: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let last = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let last: String = last
        .chars()
        .filter(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_'))
        .take(40)
        .collect();
    format!("{last}-{hash}")
}
