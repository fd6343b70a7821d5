//! Pins kept in a file of the user's own, which several processes read and extend.
//!
//! Invariants: what one process saw first is never replaced by another process; a pin that was forgotten meanwhile is
//! not written back by a process that read it before.

use std::path::{Path, PathBuf};

use crate::config::disk::{self, Owner};
use crate::config::update::update;
use crate::config::{Fault, Problem};
use crate::registry::pin::Pins;

/// The largest file of pins: more than 100,000 tools.
const LARGEST: u64 = 32 * 1024 * 1024;

/// Definitions as they were first seen, stored in a file.
#[derive(Debug)]
pub struct PinFile {
    path: PathBuf,
    pins: Pins,
}

impl PinFile {
    /// Reads the pins kept there; a missing file is empty.
    ///
    /// # Errors
    /// When the file cannot be read, could have been written by others, or holds no pins.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Fault> {
        let path = path.into();
        let pins = parse(&path, disk::read(&path, Owner::User, LARGEST)?.as_deref())?;
        Ok(Self { path, pins })
    }

    /// The pins as they were read or written last.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Stores what changed between the pins that were read and these: definitions seen for the first time, and
    /// definitions accepted instead of the ones that were read. A definition that another process pinned meanwhile
    /// stays.
    ///
    /// # Errors
    /// When they cannot be stored.
    pub fn record(&mut self, seen: &Pins) -> Result<(), Fault> {
        if *seen == self.pins {
            return Ok(());
        }
        self.change(|stored, read| stored.merge(read, seen))
    }

    /// Forgets how a tool, or all tools of a server, were defined. Returns whether anything was pinned.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub fn forget(&mut self, server: &str, tool: Option<&str>) -> Result<bool, Fault> {
        let mut is_forgotten = false;
        self.change(|stored, _| is_forgotten = stored.forget(server, tool))?;
        Ok(is_forgotten)
    }

    /// Changes what is stored; the change gets that and what was read before.
    fn change(&mut self, mut change: impl FnMut(&mut Pins, &Pins)) -> Result<(), Fault> {
        self.pins = update(&self.path, Owner::User, LARGEST, |text| {
            let mut pins = parse(&self.path, text)?;
            change(&mut pins, &self.pins);
            let text = serde_json::to_string_pretty(&pins)
                .map_err(|error| disk::failed(&self.path, "write it", &error.into()))?;
            Ok((text + "\n", pins))
        })?;
        Ok(())
    }
}

fn parse(path: &Path, text: Option<&str>) -> Result<Pins, Fault> {
    let Some(text) = text else { return Ok(Pins::new()) };
    serde_json::from_str(text).map_err(|error| {
        let what = format!("this is not a file of pinned definitions ({error}); move it away to begin anew");
        Fault::new("", Problem::Syntax { what }).in_file(path)
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
    fn s7_processes_that_pin_at_once_lose_nothing() {
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
    fn s7_the_first_definition_stays_and_a_forgotten_one_does_not_come_back() {
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
