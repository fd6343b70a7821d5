//! Watches files by polling, without reading them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The polling interval.
const INTERVAL: Duration = Duration::from_millis(500);
/// A file changed this recently is read again: the time stamps of a file system may not distinguish two changes.
const MTIME_GRANULARITY: Duration = Duration::from_millis(50);

/// Watches a set of files, which may be absent.
///
/// ```no_run
/// use switchboard::host::config::FileWatcher;
///
/// # async fn follow() {
/// let mut watcher = FileWatcher::new(["gateway.toml".into()]);
/// loop {
///     watcher.changed().await;
///     println!("{:?}", std::fs::read_to_string("gateway.toml"));
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct FileWatcher {
    files: Vec<(PathBuf, FileStamp)>,
}

impl FileWatcher {
    /// Watches these files from now on.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let stamped = |path: PathBuf| {
            let stamp = FileStamp::of(&path);
            (path, stamp)
        };
        Self { files: files.into_iter().map(stamped).collect() }
    }

    /// Watches these files instead; changes of those that were watched before are still found.
    pub fn set_files(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let known = std::mem::take(&mut self.files);
        let stamped = |path: PathBuf| {
            let before = known.iter().find(|(known, _)| *known == path).map(|(_, stamp)| stamp.clone());
            let stamp = before.unwrap_or_else(|| FileStamp::of(&path));
            (path, stamp)
        };
        self.files = files.into_iter().map(stamped).collect();
    }

    /// Waits until a file was written, replaced, created or removed. A file that was written a moment ago counts as changed
    /// once more, because its time stamp may not tell two changes apart: compare what you read.
    ///
    /// # Cancellation
    /// Safe to drop at any point; a change is then found by the next call.
    pub async fn changed(&mut self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let paths: Vec<PathBuf> = self.files.iter().map(|(path, _)| path.clone()).collect();
            let stamps = tokio::task::spawn_blocking(move || {
                paths.iter().map(|path| FileStamp::of(path)).collect::<Vec<_>>()
            });
            let Ok(stamps) = stamps.await.inspect_err(|error| tracing::warn!(%error, "files not polled"))
            else {
                continue;
            };
            let mut has_changed = false;
            for ((_, before), now) in self.files.iter_mut().zip(stamps) {
                has_changed |= now.is_newer_than(before);
                *before = now;
            }
            if has_changed {
                return;
            }
        }
    }
}

/// Identifies the version of a file without reading it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FileStamp {
    /// Not polled yet.
    Unseen,
    Absent,
    /// Inode, length, and when contents or mode last changed.
    Present {
        inode: u64,
        length: u64,
        changed: (i64, i64),
        settled: bool,
    },
}

impl FileStamp {
    pub(super) fn of(path: &Path) -> Self {
        let Ok(about) = fs::metadata(path) else { return Self::Absent };
        let age = about.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        Self::Present {
            inode: about.ino(),
            length: about.len(),
            changed: (about.ctime(), about.ctime_nsec()),
            settled: age.is_some_and(|age| age > MTIME_GRANULARITY),
        }
    }

    pub(super) fn is_newer_than(&self, before: &Self) -> bool {
        self != before || matches!(before, Self::Present { settled: false, .. })
    }
}
