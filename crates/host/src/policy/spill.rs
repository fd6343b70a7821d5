//! Large results go to a file, and the model gets the beginning and the path.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use switchboard_protocol::{CallToolResult, Content, Raw};

/// When and where large results are put into files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Spill {
    /// Where; made when it is needed, for this user alone.
    pub directory: PathBuf,
    /// Results of more bytes than this.
    pub over: usize,
    /// How many bytes of the text the model still gets.
    pub keep: usize,
    /// How many bytes of files there may be in the directory; beyond it the oldest are deleted.
    pub total: u64,
}

impl Spill {
    /// Results over 100 KB go to files in this directory; the model gets the first 2 KB.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), over: 100_000, keep: 2048, total: 256 * 1024 * 1024 }
    }

    /// The result for the model: as it is, or spilled where that harms nobody who waits.
    pub(crate) async fn shaped(self, raw: Option<Raw>, result: CallToolResult) -> CallToolResult {
        if size(raw.as_ref(), &result) <= self.over {
            return result;
        }
        let spilling = tokio::task::spawn_blocking(move || self.shape(raw.as_ref(), result));
        spilling.await.unwrap_or_else(|error| CallToolResult::error(format!("the result was lost: {error}")))
    }

    fn shape(&self, raw: Option<&Raw>, result: CallToolResult) -> CallToolResult {
        let size = size(raw, &result);
        if size <= self.over {
            return result;
        }
        let text = result.text();
        let is_plain = result.content.iter().all(|content| content.as_text().is_some());
        // Text alone is easier to read; anything else is kept whole.
        let (body, ending) = match raw {
            Some(raw) if !is_plain => (raw.as_str(), "json"),
            _ => (text.as_str(), "txt"),
        };
        match self.write(body.as_bytes(), ending) {
            Ok(path) => {
                let beginning = beginning(&text, self.keep);
                let note = format!(
                    "The result is {size} bytes, too large to show. All of it is in {}; this is its beginning:\n\n{beginning}",
                    path.display()
                );
                let mut spilled = CallToolResult::new([Content::text(note)]).with_is_error(result.is_error);
                spilled.meta = result.meta;
                spilled
            }
            Err(error) => {
                tracing::warn!(%error, "a large result could not be written to a file");
                result
            }
        }
    }

    fn write(&self, body: &[u8], ending: &str) -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        self.make_room(body.len() as u64)?;
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let path = self.directory.join(format!("result-{:016x}.{ending}", u64::from_le_bytes(name)));
        write_private(&path, body)?;
        Ok(path)
    }
}

impl Spill {
    /// Deletes the oldest results until so many more bytes fit. Files that are no results of ours stay.
    fn make_room(&self, needed: u64) -> io::Result<()> {
        let mut results = Vec::new();
        for file in std::fs::read_dir(&self.directory)? {
            let file = file?;
            let name = file.file_name();
            if !name.to_str().is_some_and(is_result) {
                continue;
            }
            // Another process may have deleted it meanwhile.
            let Ok(about) = file.metadata() else { continue };
            if about.is_file() {
                results.push((about.modified()?, about.len(), file.path()));
            }
        }
        results.sort_unstable();
        let mut total: u64 = results.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in results {
            if total.saturating_add(needed) <= self.total {
                break;
            }
            match std::fs::remove_file(path) {
                Ok(()) => total -= size,
                Err(error) if error.kind() == io::ErrorKind::NotFound => total -= size,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether a file has a name that we give to results.
fn is_result(name: &str) -> bool {
    let stem = name.strip_suffix(".txt").or_else(|| name.strip_suffix(".json"));
    let digits = stem.and_then(|stem| stem.strip_prefix("result-"));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn size(raw: Option<&Raw>, result: &CallToolResult) -> usize {
    raw.map_or_else(|| result.text().len(), Raw::len)
}

/// A new file that only this user can read.
fn write_private(path: &Path, body: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(body)
}

/// At most so many bytes, cut between characters.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_large_result_is_a_private_file_and_its_beginning() {
        let directory = tempfile::tempdir().unwrap();
        let spill = Spill::new(directory.path().join("spilled"));
        let small = CallToolResult::new([Content::text("x".repeat(99_000))]);
        assert_eq!(spill.shape(None, small.clone()), small);
        let large = "ä".repeat(60_000);
        let shaped = spill.shape(None, CallToolResult::new([Content::text(large.clone())]));
        let text = shaped.text();
        assert!(text.len() < 2400, "{}", text.len());
        let file = std::fs::read_dir(&spill.directory).unwrap().next().unwrap().unwrap();
        assert!(text.contains(file.path().to_str().unwrap()), "{text}");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), large);
        assert!(text.ends_with('ä'));
    }

    #[test]
    fn s4_the_oldest_files_give_way_within_the_budget() {
        let directory = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(directory.path());
        spill.total = 500_000;
        std::fs::write(directory.path().join("notes.txt"), "mine").unwrap();
        for _ in 0..12 {
            spill.shape(None, CallToolResult::new([Content::text("x".repeat(120_000))]));
        }
        let files = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap());
        let (ours, others): (Vec<_>, Vec<_>) =
            files.partition(|file| file.file_name().to_str().is_some_and(is_result));
        assert_eq!((ours.len(), others.len()), (4, 1));
    }

    #[test]
    fn what_is_not_text_is_kept_whole() {
        let directory = tempfile::tempdir().unwrap();
        let spill = Spill::new(directory.path());
        let result =
            CallToolResult::new([Content::text("see"), Content::image("A".repeat(200_000), "image/png")]);
        let raw = Raw::encode(&result).unwrap();
        let shaped = spill.shape(Some(&raw), result);
        assert!(shaped.text().contains(".json"), "{}", shaped.text());
        let file = std::fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), raw.as_str());
    }
}
