//! The lock of a design: canonical JSON, made to be committed and read by people.
//!
//! Invariant: the same design is the same text, whatever features `serde_json` was built with.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::diff::{Change, diff};
use crate::ir::Design;
use crate::schema::canonical;

/// The form of the text. A lock of another form is not read.
const FORM: u64 = 1;

/// A design as it was promised.
///
/// ```
/// use switchboard::design::{Class, Design, Lock, ToolDef};
///
/// let old = Design::new("clock", "1.0.0").with_tools([ToolDef::new("now", "The time")]);
/// let lock: Lock = Lock::of(&old).to_string().parse()?;
/// let changes = lock.changes(&Design::new("clock", "1.1.0"));
/// assert_eq!(changes[1].to_string(), "breaking: tool `now` was removed");
/// # Ok::<(), switchboard::design::LockError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lock {
    design: Design,
}

/// A text that is not a lock.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// It is not the JSON of a lock.
    #[error("not a design lock")]
    Unreadable(#[source] serde_json::Error),
    /// It is a lock of another form.
    #[error("the lock has form {found}, and this program reads form {FORM}: write it anew")]
    Form {
        /// Its form.
        found: u64,
    },
}

#[derive(Serialize, Deserialize)]
struct Written {
    form: u64,
    design: Value,
}

impl Lock {
    /// The promise that a design is.
    pub fn of(design: &Design) -> Self {
        Self { design: design.clone().pooled() }
    }

    /// What was promised.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// What a new design changes of what was promised, in order of declaration.
    pub fn changes(&self, new: &Design) -> Vec<Change> {
        diff(&self.design, new)
    }
}

/// Canonical JSON, indented, with a line feed at the end.
impl std::fmt::Display for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let design = serde_json::to_value(&self.design).map_err(|_| std::fmt::Error)?;
        writeln!(f, "{:#}", canonical(json!({"form": FORM, "design": design})))
    }
}

impl std::str::FromStr for Lock {
    type Err = LockError;

    fn from_str(text: &str) -> Result<Self, LockError> {
        let written: Written = serde_json::from_str(text).map_err(LockError::Unreadable)?;
        if written.form != FORM {
            return Err(LockError::Form { found: written.form });
        }
        Ok(Self { design: serde_json::from_value(written.design).map_err(LockError::Unreadable)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::assistant;

    #[test]
    fn a_lock_survives_being_written() {
        let lock = Lock::of(&assistant());
        let text = lock.to_string();
        assert!(text.starts_with("{\n  \"design\": {\n    \"instructions\""), "{text}");
        assert!(text.ends_with("\"form\": 1\n}\n"));
        assert_eq!(text.parse::<Lock>().unwrap(), lock);
        assert_eq!(text.parse::<Lock>().unwrap().to_string(), text);
        assert_eq!(lock.changes(&assistant()), []);
    }

    #[test]
    fn what_is_no_lock_is_refused() {
        let fails = |text: &str| text.parse::<Lock>().unwrap_err();
        assert!(matches!(fails("{}"), LockError::Unreadable(_)));
        assert!(matches!(fails(r#"{"form":1,"design":{}}"#), LockError::Unreadable(_)));
        assert!(matches!(fails(r#"{"form":2,"design":{}}"#), LockError::Form { found: 2 }));
    }
}
