//! Stamp file of an installation: records its inputs once it is complete.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::TaskError;

/// Hash of the inputs of an installation.
#[derive(Debug)]
pub(super) struct Stamp {
    note: PathBuf,
    hash: u64,
}

impl Stamp {
    /// Creates the stamp of the installation in `folder` for these files and facts.
    pub(super) fn of(folder: &Path, files: &[PathBuf], facts: &[&str]) -> Result<Self, TaskError> {
        let mut hash = Fnv::new();
        hash.take(folder.as_os_str().as_encoded_bytes());
        for file in files {
            let bytes = fs::read(file)
                .map_err(|error| TaskError::new(format!("cannot read {}: {error}", file.display())))?;
            hash.take(&bytes);
        }
        for fact in facts {
            hash.take(fact.as_bytes());
        }
        Ok(Self { note: folder.with_extension("stamp"), hash: hash.0 })
    }

    pub(super) fn matches(&self) -> bool {
        fs::read_to_string(&self.note).is_ok_and(|text| text.trim() == self.text())
    }

    /// Removes the stamp before an installation is changed: a partial one must not look complete.
    pub(super) fn remove(&self) -> Result<(), TaskError> {
        match fs::remove_file(&self.note) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(TaskError::new(format!("cannot remove {}: {error}", self.note.display())))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self) -> Result<(), TaskError> {
        fs::write(&self.note, self.text())
            .map_err(|error| TaskError::new(format!("cannot write {}: {error}", self.note.display())))
    }

    fn text(&self) -> String {
        format!("{:016x}", self.hash)
    }
}

/// FNV-1a: collisions are no threat here, and it is stable across Rust releases.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Includes the length, so that bytes cannot move between inputs unnoticed.
    fn take(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_matches_until_an_input_changes() {
        let folder = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let lock = folder.join("lock");
        fs::write(&lock, "a 1").unwrap();
        let installed = folder.join("installed");
        let stamp = |fact: &str| Stamp::of(&installed, std::slice::from_ref(&lock), &[fact]).unwrap();

        assert!(!stamp("3.11").matches());
        stamp("3.11").write().unwrap();
        assert!(stamp("3.11").matches());
        assert!(!stamp("3.12").matches());
        fs::write(&lock, "a 2").unwrap();
        assert!(!stamp("3.11").matches());
        fs::write(&lock, "a 1").unwrap();
        stamp("3.11").remove().unwrap();
        stamp("3.11").remove().unwrap();
        assert!(!stamp("3.11").matches());

        fs::remove_dir_all(&folder).unwrap();
    }
}
