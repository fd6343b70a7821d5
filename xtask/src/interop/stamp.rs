//! A note of what an installation was made from, left beside it when it is complete.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Failure;

/// The files and facts that decide an installation, as one number.
#[derive(Debug)]
pub(super) struct Stamp {
    note: PathBuf,
    hash: u64,
}

impl Stamp {
    /// For the installation in `folder`, made from these files and facts.
    pub(super) fn of(folder: &Path, files: &[PathBuf], facts: &[&str]) -> Result<Self, Failure> {
        let mut hash = Fnv::new();
        hash.take(folder.as_os_str().as_encoded_bytes());
        for file in files {
            let bytes = fs::read(file)
                .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
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

    /// To be called before an installation is touched: half of one must not look like a whole.
    pub(super) fn remove(&self) -> Result<(), Failure> {
        match fs::remove_file(&self.note) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::new(format!("cannot remove {}: {error}", self.note.display())))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self) -> Result<(), Failure> {
        fs::write(&self.note, self.text())
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", self.note.display())))
    }

    fn text(&self) -> String {
        format!("{:016x}", self.hash)
    }
}

/// FNV-1a: nobody attacks a stamp, and it is the same in every release of Rust.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// The length goes in too, so that bytes cannot move from one input to the next unseen.
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
