//! A file of pinned definitions, shared by several processes.
//!
//! Invariants: a definition that one process pinned is never replaced by another process; a pin that was removed
//! meanwhile is not written back by a process that read it before.

use std::path::{Path, PathBuf};

use crate::config::disk::{self, Owner};
use crate::config::update::update;
use crate::config::{ConfigError, ConfigErrorKind};
use crate::registry::pin::Pins;

/// Size limit of the file: more than 100,000 tools.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Pinned definitions stored in a file.
#[derive(Debug)]
pub struct PinFile {
    path: PathBuf,
    pins: Pins,
}

impl PinFile {
    /// Reads a file of pins; a missing file is empty.
    ///
    /// # Errors
    /// When the file cannot be read, could have been written by others, or is not a file of pins.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        let pins = parse(&path, disk::read(&path, Owner::User, MAX_FILE_BYTES)?.as_deref())?;
        Ok(Self { path, pins })
    }

    /// Returns the pins as last read or written.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Stores the changes from the pins that were read to these: new definitions, and accepted ones. A definition that
    /// another process pinned meanwhile stays.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn record(&mut self, seen: &Pins) -> Result<(), ConfigError> {
        if *seen == self.pins {
            return Ok(());
        }
        self.change(|stored, read| stored.merge(read, seen))
    }

    /// Removes the pin of a tool, or of all tools of a server. Returns whether a pin was removed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn forget(&mut self, server: &str, tool: Option<&str>) -> Result<bool, ConfigError> {
        let mut is_forgotten = false;
        self.change(|stored, _| is_forgotten = stored.forget(server, tool))?;
        Ok(is_forgotten)
    }

    /// Changes the stored pins; the change receives them and the pins that were read before.
    fn change(&mut self, mut change: impl FnMut(&mut Pins, &Pins)) -> Result<(), ConfigError> {
        self.pins = update(&self.path, Owner::User, MAX_FILE_BYTES, |text| {
            let mut pins = parse(&self.path, text)?;
            change(&mut pins, &self.pins);
            let text = serde_json::to_string_pretty(&pins)
                .map_err(|error| disk::io_error(&self.path, "write it", &error.into()))?;
            Ok((text + "\n", pins))
        })?;
        Ok(())
    }
}

fn parse(path: &Path, text: Option<&str>) -> Result<Pins, ConfigError> {
    let Some(text) = text else { return Ok(Pins::new()) };
    serde_json::from_str(text).map_err(|error| {
        let what = format!("this is not a file of pinned definitions ({error}); move it away to start over");
        ConfigError::new("", ConfigErrorKind::Syntax { what }).in_file(path)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_protocol::Tool;

    use super::*;
    use crate::permission::DefinitionHash;

    fn digest(description: &str) -> DefinitionHash {
        DefinitionHash::of(&Tool::new("t", json!({"type": "object"})).with_description(description))
    }

    #[test]
    fn s7_concurrent_pins_are_all_stored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("definitions.json");
        std::thread::scope(|scope| {
            for worker in 0..12 {
                let path = &path;
                scope.spawn(move || {
                    for round in 0..8 {
                        let mut file = PinFile::open(path).unwrap();
                        let mut seen = file.pins().clone();
                        seen.pin(&format!("server-{worker}"), &format!("tool-{round}"), digest("first"));
                        file.record(&seen).unwrap();
                    }
                });
            }
        });
        assert_eq!(PinFile::open(&path).unwrap().pins().len(), 12 * 8);
    }

    #[test]
    fn s7_the_first_definition_stays_and_a_removed_one_does_not_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("definitions.json");
        let pinned = |pins: &Pins, text| !pins.differs("s", "t", digest(text)) && !pins.is_empty();
        let (mut first, mut second) = (PinFile::open(&path).unwrap(), PinFile::open(&path).unwrap());
        let seen = |text| {
            let mut seen = Pins::new();
            seen.pin("s", "t", digest(text));
            seen
        };
        first.record(&seen("harmless")).unwrap();
        second.record(&seen("changed")).unwrap();
        assert!(pinned(second.pins(), "harmless"), "what was seen first is what counts");
        assert!(first.forget("s", None).unwrap());
        assert!(!first.forget("s", Some("t")).unwrap());
        let mut more = second.pins().clone();
        more.pin("s", "other", digest("x"));
        second.record(&more).unwrap();
        assert_eq!(second.pins().len(), 1, "only what is new is added");
        let mut accepted = second.pins().clone();
        accepted.pin("s", "other", digest("y"));
        second.record(&accepted).unwrap();
        assert!(!second.pins().differs("s", "other", digest("y")), "an accepted definition takes its place");
    }
}
