//! Spills large results to files; the model receives the beginning and the path.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use switchboard_protocol::{CallToolResult, Content, Raw};

/// When and where large results are written to files.
///
/// ```
/// use switchboard::host::SpillPolicy;
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let directory = std::env::temp_dir().join(format!("spill-example-{}", std::process::id()));
/// let mut spill = SpillPolicy::new(&directory);
/// spill.max_inline_bytes = 1; // so that every result is large
/// let host = Host::builder().with_spill(spill).build();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let result = host.execute("mcp__sums__add", json!({ "a": 19, "b": 23 })).await;
/// assert!(result.text().contains("too large to show"));
/// # std::fs::remove_dir_all(directory)?;
/// # demo::done() });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpillPolicy {
    /// The directory; created on demand with mode 0700.
    pub directory: PathBuf,
    /// Results with more bytes than this are spilled.
    pub max_inline_bytes: usize,
    /// How many bytes of the text the model receives.
    pub preview_bytes: usize,
    /// The size limit of all spilled files; the oldest are deleted.
    pub max_total_bytes: u64,
}

impl SpillPolicy {
    /// Spills results over 100 KB to files in this directory; the model receives the first 2 KB.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            max_inline_bytes: 100_000,
            preview_bytes: 2048,
            max_total_bytes: 256 * 1024 * 1024,
        }
    }

    /// Returns the result for the model, spilled on the blocking pool if it is large.
    pub(crate) async fn apply(self, raw: Option<Raw>, result: CallToolResult) -> CallToolResult {
        if size(raw.as_ref(), &result) <= self.max_inline_bytes {
            return result;
        }
        let task = tokio::task::spawn_blocking(move || self.apply_blocking(raw.as_ref(), result));
        task.await.unwrap_or_else(|error| CallToolResult::error(format!("the result was lost: {error}")))
    }

    fn apply_blocking(&self, raw: Option<&Raw>, result: CallToolResult) -> CallToolResult {
        let size = size(raw, &result);
        if size <= self.max_inline_bytes {
            return result;
        }
        let text = result.text();
        let is_plain = result.content.iter().all(|content| content.as_text().is_some());
        // Plain text is written as such; anything else as JSON.
        let (body, extension) = match raw {
            Some(raw) if !is_plain => (raw.as_str(), "json"),
            _ => (text.as_str(), "txt"),
        };
        match self.write(body.as_bytes(), extension) {
            Ok(path) => {
                let beginning = &text[..text.floor_char_boundary(self.preview_bytes)];
                let note = format!(
                    "The result is {size} bytes, too large to show. All of it is in {}; this is its beginning:\n\n{beginning}",
                    path.display()
                );
                let mut spilled = CallToolResult::new([Content::text(note)]).with_is_error(result.is_error);
                spilled.meta = result.meta;
                spilled
            }
            Err(error) => {
                tracing::warn!(%error, "large result not written to a file");
                result
            }
        }
    }

    fn write(&self, body: &[u8], extension: &str) -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        self.make_room(body.len() as u64)?;
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let path = self.directory.join(format!("result-{:016x}.{extension}", u64::from_le_bytes(name)));
        write_private(&path, body)?;
        Ok(path)
    }

    /// Deletes the oldest results until this many more bytes fit. Other files stay.
    fn make_room(&self, needed: u64) -> io::Result<()> {
        let mut results = Vec::new();
        for file in std::fs::read_dir(&self.directory)? {
            let file = file?;
            let name = file.file_name();
            if !name.to_str().is_some_and(is_result_file) {
                continue;
            }
            // Another process may have deleted it meanwhile.
            let Ok(metadata) = file.metadata() else { continue };
            if metadata.is_file() {
                results.push((metadata.modified()?, metadata.len(), file.path()));
            }
        }
        results.sort_unstable();
        let mut total: u64 = results.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in results {
            if total.saturating_add(needed) <= self.max_total_bytes {
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

/// Returns whether a file name is that of a spilled result.
fn is_result_file(name: &str) -> bool {
    let stem = name.strip_suffix(".txt").or_else(|| name.strip_suffix(".json"));
    let digits = stem.and_then(|stem| stem.strip_prefix("result-"));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn size(raw: Option<&Raw>, result: &CallToolResult) -> usize {
    raw.map_or_else(|| result.text().len(), Raw::len)
}

/// Writes a new file with mode 0600.
fn write_private(path: &Path, body: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(body)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_large_result_is_a_private_file_and_its_beginning() {
        let directory = tempfile::tempdir().unwrap();
        let spill = SpillPolicy::new(directory.path().join("spilled"));
        let small = CallToolResult::new([Content::text("x".repeat(99_000))]);
        assert_eq!(spill.apply_blocking(None, small.clone()), small);
        let large = "ä".repeat(60_000);
        let spilled = spill.apply_blocking(None, CallToolResult::new([Content::text(large.clone())]));
        let text = spilled.text();
        assert!(text.len() < 2400, "{}", text.len());
        let file = std::fs::read_dir(&spill.directory).unwrap().next().unwrap().unwrap();
        assert!(text.contains(file.path().to_str().unwrap()), "{text}");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), large);
        assert!(text.ends_with('ä'));
    }

    #[test]
    fn s4_the_oldest_files_are_deleted_within_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let mut spill = SpillPolicy::new(directory.path());
        spill.max_total_bytes = 500_000;
        std::fs::write(directory.path().join("notes.txt"), "mine").unwrap();
        for _ in 0..12 {
            spill.apply_blocking(None, CallToolResult::new([Content::text("x".repeat(120_000))]));
        }
        let files = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap());
        let (ours, others): (Vec<_>, Vec<_>) =
            files.partition(|file| file.file_name().to_str().is_some_and(is_result_file));
        assert_eq!((ours.len(), others.len()), (4, 1));
    }

    #[test]
    fn a_result_with_other_content_is_written_as_json() {
        let directory = tempfile::tempdir().unwrap();
        let spill = SpillPolicy::new(directory.path());
        let result =
            CallToolResult::new([Content::text("see"), Content::image("A".repeat(200_000), "image/png")]);
        let raw = Raw::encode(&result).unwrap();
        let spilled = spill.apply_blocking(Some(&raw), result);
        assert!(spilled.text().contains(".json"), "{}", spilled.text());
        let file = std::fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), raw.as_str());
    }
}
