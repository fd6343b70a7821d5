//! Configuration scopes and their precedence.

use std::fmt;
use std::path::Path;

use crate::location::Locations;

/// The scope of an entry, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The administrator's file.
    Managed,
    /// The user's file for this project.
    Local,
    /// The project's file.
    Project,
    /// The user's file.
    User,
    /// Connectors of the user's claude.ai account, passed by the application.
    ClaudeAi,
}

impl Scope {
    /// Returns the name that a status shows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
            Self::ClaudeAi => "claudeai",
        }
    }

    /// Returns the files of the scopes that have one, strongest first.
    pub fn files(at: &Locations) -> [(Self, &Path); 4] {
        [
            (Self::Managed, &at.managed_file),
            (Self::Local, &at.local_file),
            (Self::Project, &at.project_file),
            (Self::User, &at.user_file),
        ]
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
