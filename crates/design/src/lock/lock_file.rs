//! [`Lock`]: the published design as a file of canonical JSON under version control.
//!
//! Invariant: the same design gives the same text, independent of the features of `serde_json`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::diff::{Change, diff};
use crate::ir::Design;
use crate::schema::canonicalize;

/// The version of the file format. Other versions are rejected.
const FORMAT_VERSION: u64 = 1;

/// A published design, to compare later versions with.
///
/// ```
/// use switchboard::service::design::{ChangeClass, Design, Lock, ToolDef};
///
/// let old = Design::new("clock", "1.0.0").with_tools([ToolDef::new("now", "The time")]);
/// let lock: Lock = Lock::new(&old).to_string().parse()?;
/// let changes = lock.changes(&Design::new("clock", "1.1.0"));
/// assert_eq!(changes[1].to_string(), "breaking: tool `now` was removed");
/// # Ok::<(), switchboard::service::design::LockError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lock {
    design: Design,
}

/// The error of parsing a lock file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The text is not a lock file.
    #[error("not a design lock")]
    Unreadable(#[source] serde_json::Error),
    /// The file has an unsupported format version.
    #[error(
        "the lock has format version {found}, but this program reads version {FORMAT_VERSION}: regenerate it"
    )]
    UnsupportedFormat {
        /// The format version of the file.
        found: u64,
    },
}

/// The JSON document of a lock file.
#[derive(Serialize, Deserialize)]
struct LockFile {
    form: u64,
    design: Value,
}

impl Lock {
    /// Creates the lock of a design.
    pub fn new(design: &Design) -> Self {
        Self { design: design.clone().with_pooled_types() }
    }

    /// Returns the published design.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Returns the changes of a new design compared with the published one, in order of declaration.
    pub fn changes(&self, new: &Design) -> Vec<Change> {
        diff(&self.design, new)
    }
}

/// Writes indented canonical JSON with a trailing line feed.
impl std::fmt::Display for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let design = serde_json::to_value(&self.design).map_err(|_| std::fmt::Error)?;
        writeln!(f, "{:#}", canonicalize(json!({"form": FORMAT_VERSION, "design": design})))
    }
}

impl std::str::FromStr for Lock {
    type Err = LockError;

    fn from_str(text: &str) -> Result<Self, LockError> {
        let file: LockFile = serde_json::from_str(text).map_err(LockError::Unreadable)?;
        if file.form != FORMAT_VERSION {
            return Err(LockError::UnsupportedFormat { found: file.form });
        }
        Ok(Self { design: serde_json::from_value(file.design).map_err(LockError::Unreadable)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::assistant;

    #[test]
    fn a_lock_round_trips() {
        let lock = Lock::new(&assistant());
        let text = lock.to_string();
        assert!(text.starts_with("{\n  \"design\": {\n    \"instructions\""), "{text}");
        assert!(text.ends_with("\"form\": 1\n}\n"));
        assert_eq!(text.parse::<Lock>().unwrap(), lock);
        assert_eq!(text.parse::<Lock>().unwrap().to_string(), text);
        assert_eq!(lock.changes(&assistant()), []);
    }

    #[test]
    fn invalid_locks_are_rejected() {
        let fails = |text: &str| text.parse::<Lock>().unwrap_err();
        assert!(matches!(fails("{}"), LockError::Unreadable(_)));
        assert!(matches!(fails(r#"{"form":1,"design":{}}"#), LockError::Unreadable(_)));
        assert!(matches!(fails(r#"{"form":2,"design":{}}"#), LockError::UnsupportedFormat { found: 2 }));
    }
}
