//! API keys in use: a fixed set, or a file that is read again when it changes, so that a revocation needs no restart.

use std::fmt;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::resource_server::api_key::ApiKeys;
use crate::resource_server::error::ResourceServerError;

/// How often the file is looked at.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Where API keys come from.
pub(crate) enum ApiKeySource {
    Fixed(Arc<ApiKeys>),
    File(ApiKeyFile),
}

/// A file of API keys.
pub(crate) struct ApiKeyFile {
    path: PathBuf,
    // Held for a `stat` once per interval and for the reading of a changed file.
    loaded: Mutex<LoadedKeys>,
}

struct LoadedKeys {
    keys: Arc<ApiKeys>,
    version: Option<FileVersion>,
    checked: Instant,
}

/// Changes whenever the file is written.
#[derive(PartialEq, Eq)]
struct FileVersion {
    modified: Option<SystemTime>,
    length: u64,
    /// A file that is replaced is another one.
    inode: u64,
}

impl ApiKeySource {
    /// Returns the current keys.
    pub(crate) fn keys(&self) -> Arc<ApiKeys> {
        match self {
            Self::Fixed(keys) => Arc::clone(keys),
            Self::File(file) => file.keys(),
        }
    }
}

impl ApiKeyFile {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read or does not hold API keys.
    pub(crate) fn open(path: PathBuf) -> Result<Self, ResourceServerError> {
        let unreadable = |reason| ResourceServerError::ApiKeys { path: path.display().to_string(), reason };
        let version = FileVersion::of(&path).map_err(|error| unreadable(error.to_string()))?;
        let keys = read(&path).map_err(unreadable)?;
        let loaded = LoadedKeys { keys: Arc::new(keys), version: Some(version), checked: Instant::now() };
        Ok(Self { path, loaded: Mutex::new(loaded) })
    }

    fn keys(&self) -> Arc<ApiKeys> {
        let mut loaded = self.loaded.lock();
        if loaded.checked.elapsed() >= CHECK_INTERVAL {
            loaded.checked = Instant::now();
            self.reload_if_changed(&mut loaded);
        }
        Arc::clone(&loaded.keys)
    }

    fn reload_if_changed(&self, loaded: &mut LoadedKeys) {
        match FileVersion::of(&self.path) {
            Ok(version) if loaded.version.as_ref() == Some(&version) => {}
            Ok(version) => match read(&self.path) {
                Ok(keys) => {
                    loaded.keys = Arc::new(keys);
                    loaded.version = Some(version);
                }
                Err(reason) => {
                    tracing::warn!(path = %self.path.display(), reason, "cannot read the API keys; the former ones remain valid");
                }
            },
            // Removing the file revokes all keys.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                loaded.keys = Arc::default();
                loaded.version = None;
            }
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "cannot read the API keys; the former ones remain valid");
            }
        }
    }
}

impl FileVersion {
    fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self { modified: metadata.modified().ok(), length: metadata.len(), inode: metadata.ino() })
    }
}

fn read(path: &Path) -> Result<ApiKeys, String> {
    let length = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > ApiKeys::MAX_FILE_BYTES {
        return Err(format!("it has {length} bytes; at most {} are read", ApiKeys::MAX_FILE_BYTES));
    }
    ApiKeys::parse(&std::fs::read_to_string(path).map_err(|error| error.to_string())?)
}

impl fmt::Debug for ApiKeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(keys) => f.debug_tuple("Fixed").field(&keys.iter().count()).finish(),
            Self::File(file) => f.debug_tuple("File").field(&file.path).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scopes;

    #[tokio::test(start_paused = true)]
    async fn a_revocation_in_the_file_takes_effect_without_restart() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys.json");
        assert!(ApiKeyFile::open(path.clone()).is_err());
        let mut keys = ApiKeys::default();
        let key = keys.create("ci", Scopes::default(), None);
        std::fs::write(&path, keys.to_json()).unwrap();
        let file = ApiKeyFile::open(path.clone()).unwrap();
        let is_valid = || file.keys().find(key.expose(), 0).is_some();
        assert!(is_valid());
        // A damaged file locks nobody out.
        std::fs::write(&path, "{").unwrap();
        tokio::time::advance(CHECK_INTERVAL).await;
        assert!(is_valid());
        std::fs::write(&path, ApiKeys::default().to_json()).unwrap();
        assert!(is_valid());
        tokio::time::advance(CHECK_INTERVAL).await;
        assert!(!is_valid());
        std::fs::write(&path, keys.to_json()).unwrap();
        tokio::time::advance(CHECK_INTERVAL).await;
        assert!(is_valid());
        std::fs::remove_file(&path).unwrap();
        tokio::time::advance(CHECK_INTERVAL).await;
        assert!(!is_valid());
    }
}
