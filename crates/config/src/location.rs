//! Where our files are. Every place can be set, so that no test comes near a home directory.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::expand::Lookup;

/// The files configuration is read from and remembered in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Locations {
    /// The project: approvals are bound to it, and a relative `cwd` of its servers starts there.
    pub project: PathBuf,
    /// What the administrator set for everybody.
    pub managed_file: PathBuf,
    /// The user's own servers for this project.
    pub local_file: PathBuf,
    /// The project's servers, shared with everybody who works on it.
    pub project_file: PathBuf,
    /// The user's servers everywhere.
    pub user_file: PathBuf,
    /// Which project servers the user approved.
    pub approvals: PathBuf,
    /// Which calls the user permitted.
    pub permissions: PathBuf,
}

impl Locations {
    /// The usual places for a project, by the XDG variables or `HOME`; none without any of them. Give the real path
    /// of the project: two paths to one directory are two projects.
    ///
    /// ```
    /// use switchboard::host::config::Locations;
    ///
    /// let variables = |name: &str| (name == "HOME").then(|| "/people/ada".to_owned());
    /// let at = Locations::standard("/shop", &variables).unwrap();
    /// assert_eq!(at.user_file.to_str(), Some("/people/ada/.config/switchboard/mcp.json"));
    /// assert_eq!(at.project_file.to_str(), Some("/shop/.mcp.json"));
    /// ```
    pub fn standard(project: impl Into<PathBuf>, variables: Lookup<'_>) -> Option<Self> {
        // The XDG specification: a relative path is to be ignored.
        let absolute = |name: &str| variables(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = |below: &str| absolute("HOME").map(|home| home.join(below));
        let config = absolute("XDG_CONFIG_HOME").or_else(|| home(".config"))?;
        let state = absolute("XDG_STATE_HOME").or_else(|| home(".local/state"))?;
        Some(Self::under(project, &config.join("switchboard"), &state.join("switchboard")))
    }

    /// With our files in these two directories: one for what the user writes, one for what we remember.
    pub fn under(project: impl Into<PathBuf>, config: &Path, state: &Path) -> Self {
        let project = project.into();
        Self {
            managed_file: PathBuf::from("/etc/switchboard/mcp.json"),
            local_file: state.join("projects").join(folder(&project)).join("mcp.json"),
            project_file: project.join(".mcp.json"),
            user_file: config.join("mcp.json"),
            approvals: state.join("approvals.json"),
            permissions: state.join("permissions.json"),
            project,
        }
    }

    /// With the administrator's file there.
    #[must_use]
    pub fn with_managed_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.managed_file = file.into();
        self
    }

    /// With the project's file there.
    #[must_use]
    pub fn with_project_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.project_file = file.into();
        self
    }

    /// With the user's file there.
    #[must_use]
    pub fn with_user_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.user_file = file.into();
        self
    }
}

/// A directory name for a project: its last part, to be found by people, and a hash of the whole path.
fn folder(project: &Path) -> String {
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
