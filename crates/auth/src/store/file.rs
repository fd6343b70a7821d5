//! A token store in a directory, shared by all processes of a user.
//!
//! | name in the directory | contents |
//! |---|---|
//! | `grants.json` | grants and registered clients; replaced as a whole |
//! | `grants.lock` | held while `grants.json` is read, changed and replaced |
//! | `refresh-HASH.lock` | held while a process refreshes the grant whose key has this hash |
//!
//! Invariants: `grants.json` changes only under `grants.lock`, by the generation of the grant; the kernel releases the locks
//! of a process that dies, at whatever point; file names say nothing about grants.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_http::BoxFuture;

use crate::error::StoreError;
use crate::random::sha256;
use crate::store::contents::Contents;
use crate::store::grant::{Grant, GrantKey, ServerAccount, StoredClient};
use crate::store::private_directory::{OpenDirectory, PrivateDirectory};
use crate::store::token_store::{Generation, StoreLock, StoredGrant, SwapOutcome, TokenStore};

const GRANTS: &str = "grants.json";
const GRANTS_LOCK: &str = "grants.lock";
/// The largest file that is read or written.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How long to wait for another process that refreshes a grant. It may take [`TOKEN_TIMEOUT`](crate::fetch::TOKEN_TIMEOUT).
const REFRESH_LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// How long to wait for another process that replaces the file, which takes it two syncs.
const GRANTS_LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// The pauses between two attempts to take a lock.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// A token store in a directory, shared by all processes of a user. Clones share the cache.
///
/// The directory has mode 0700 and its files 0600. A directory or file that others can read or change is refused with
/// [`StoreError::Unsafe`]. A token that one process stores is found by the others at their next lookup.
///
/// ```
/// use std::sync::Arc;
/// use switchboard::auth::{FileStore, OAuthAuthorizer, OAuthOptions, TokenStore};
/// use switchboard::transport::http_client::{Address, HttpClient, HttpClientOptions, PlainHttp};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let directory = folder.path().join("auth");
/// // An application uses `FileStore::default_directory()`.
/// let store = Arc::new(FileStore::open(directory)?);
/// let http = HttpClient::new(HttpClientOptions::from_environment())?;
/// let server = Address::parse("https://mcp.example.com/mcp", PlainHttp::LoopbackOnly)?;
/// let authorizer = OAuthAuthorizer::new(http, server, OAuthOptions::default()).with_store(store.clone());
/// assert!(store.list().await?.is_empty());
/// # _ = authorizer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FileStore {
    shared: Arc<SharedStore>,
}

struct SharedStore {
    directory: PrivateDirectory,
    /// The contents of the file when it was last read. Held for a clone of the pointer, never during I/O.
    cache: Mutex<Option<CachedContents>>,
    /// The turns of the tasks of this process, by lock file: only one of them waits for other processes.
    turns: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

struct CachedContents {
    identity: FileIdentity,
    contents: Arc<Contents>,
    /// While it is open, no other file gets its inode, so equal inodes mean the same file.
    _file: File,
}

/// Identifies one state of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl FileStore {
    /// Returns the store in a directory, which is created when the first grant is stored.
    ///
    /// # Errors
    /// When the directory exists and is not safe, or holds a file that is not a token store.
    pub fn new(directory: impl AsRef<Path>) -> Result<Self, StoreError> {
        let directory = PrivateDirectory::new(directory.as_ref())?;
        let shared = SharedStore { directory, cache: Mutex::default(), turns: Mutex::default() };
        if let Some(opened) = shared.directory.open()? {
            shared.read(&opened)?;
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Opens the store in a directory, which is created if it does not exist.
    ///
    /// # Errors
    /// When the directory cannot be created, is not safe, or holds a file that is not a token store.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, StoreError> {
        let store = Self::new(directory)?;
        store.shared.directory.create()?;
        Ok(store)
    }

    /// Returns the standard directory: `switchboard/auth` in `$XDG_STATE_HOME` or in `~/.local/state`; `None` without both
    /// variables.
    pub fn default_directory() -> Option<PathBuf> {
        standard_directory(|name| std::env::var_os(name))
    }

    /// Reads the current contents.
    async fn contents(&self) -> Result<Arc<Contents>, StoreError> {
        let shared = Arc::clone(&self.shared);
        run_blocking(move || match shared.directory.open()? {
            Some(directory) => shared.read(&directory),
            None => Ok(Arc::default()),
        })
        .await
    }
}

impl SharedStore {
    /// Returns the contents of the file, which is read only if it was replaced since.
    fn read(&self, directory: &OpenDirectory) -> Result<Arc<Contents>, StoreError> {
        let Some((file, metadata)) = directory.open_file(GRANTS)? else { return Ok(Arc::default()) };
        let identity = FileIdentity::of(&metadata);
        if let Some(cached) = &*self.cache.lock()
            && cached.identity == identity
        {
            return Ok(Arc::clone(&cached.contents));
        }
        let text = directory.read(GRANTS, &file, MAX_BYTES)?;
        let contents = Contents::from_json(&text).map_err(|reason| StoreError::Damaged {
            path: self.directory.join(GRANTS).display().to_string(),
            reason,
        })?;
        let contents = Arc::new(contents);
        *self.cache.lock() = Some(CachedContents { identity, contents: Arc::clone(&contents), _file: file });
        Ok(contents)
    }

    /// Changes the contents; a change that returns `false` is not written.
    fn update<T>(&self, change: impl FnOnce(&mut Contents) -> (T, bool)) -> Result<T, StoreError> {
        let directory = self.directory.create()?;
        let _lock = self.lock_grants(&directory)?;
        let mut contents = (*self.read(&directory)?).clone();
        let (outcome, is_changed) = change(&mut contents);
        if is_changed {
            let text = contents.to_json();
            if text.len() as u64 > MAX_BYTES {
                let limit = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
                return Err(StoreError::Full { what: "bytes", limit });
            }
            directory.replace(GRANTS, &text)?;
        }
        Ok(outcome)
    }

    fn lock_grants(&self, directory: &OpenDirectory) -> Result<File, StoreError> {
        let deadline = Instant::now() + GRANTS_LOCK_TIMEOUT;
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(lock) = directory.try_lock(GRANTS_LOCK)? {
                return Ok(lock);
            }
            if Instant::now() >= deadline {
                return Err(StoreError::File {
                    action: "lock",
                    path: self.directory.join(GRANTS_LOCK).display().to_string(),
                    reason: format!("another process has held it for {} s", GRANTS_LOCK_TIMEOUT.as_secs()),
                });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn turn(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.turns.lock().entry(name.to_owned()).or_default())
    }
}

impl TokenStore for FileStore {
    fn find<'a>(
        &'a self,
        server: &'a ServerAccount,
    ) -> BoxFuture<'a, Result<Option<StoredGrant>, StoreError>> {
        Box::pin(async move { Ok(self.contents().await?.find(server)) })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredGrant>, StoreError>> {
        Box::pin(async move { Ok(self.contents().await?.list()) })
    }

    fn compare_and_set<'a>(
        &'a self,
        key: &'a GrantKey,
        expected: Option<Generation>,
        grant: Option<Grant>,
    ) -> BoxFuture<'a, Result<SwapOutcome, StoreError>> {
        let (shared, key) = (Arc::clone(&self.shared), key.clone());
        Box::pin(run_blocking(move || {
            shared.update(|contents| {
                let outcome = contents.compare_and_set(&key, expected, grant);
                let is_changed = matches!(outcome, Ok(SwapOutcome::Written(_)));
                (outcome, is_changed)
            })?
        }))
    }

    fn lock<'a>(&'a self, key: &'a GrantKey) -> BoxFuture<'a, Result<StoreLock, StoreError>> {
        let name = refresh_lock_name(key);
        Box::pin(async move {
            let busy = || StoreError::Busy { seconds: REFRESH_LOCK_TIMEOUT.as_secs() };
            let deadline = tokio::time::Instant::now() + REFRESH_LOCK_TIMEOUT;
            let turn = self.shared.turn(&name).lock_owned();
            let turn = tokio::time::timeout_at(deadline, turn).await.map_err(|_| busy())?;
            let mut pause = FIRST_PAUSE;
            loop {
                let (shared, name) = (Arc::clone(&self.shared), name.clone());
                let lock = run_blocking(move || shared.directory.create()?.try_lock(&name)).await?;
                if let Some(lock) = lock {
                    // The file is closed before the next task of this process has its turn.
                    return Ok(StoreLock::new((lock, turn)));
                }
                if tokio::time::Instant::now() >= deadline {
                    return Err(busy());
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        })
    }

    fn client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredClient>, StoreError>> {
        Box::pin(async move { Ok(self.contents().await?.client(issuer, redirect_uri)) })
    }

    fn set_client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
        client: Option<StoredClient>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let (shared, issuer, redirect_uri) =
            (Arc::clone(&self.shared), issuer.to_owned(), redirect_uri.to_owned());
        Box::pin(run_blocking(move || {
            shared.update(|contents| (contents.set_client(&issuer, &redirect_uri, client), true))
        }))
    }
}

impl FileIdentity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore").field("directory", &self.shared.directory).finish_non_exhaustive()
    }
}

fn standard_directory(variables: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG specification: a relative path is to be ignored.
    let absolute = |name: &str| variables(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("switchboard").join("auth"))
}

/// Returns the name of the lock file of a grant.
fn refresh_lock_name(key: &GrantKey) -> String {
    let GrantKey { issuer, resource, client_id, account } = key;
    let text = serde_json::to_string(&[issuer, resource, client_id, account]).expect("strings serialize");
    format!("refresh-{}.lock", sha256(&text))
}

/// Runs file operations on a thread where they may block. They finish even if the caller is dropped.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(StoreError::Other(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_directory_follows_the_xdg_specification() {
        let directory = |state: Option<&str>, home: Option<&str>| {
            let (state, home) = (state.map(OsString::from), home.map(OsString::from));
            standard_directory(|name| match name {
                "XDG_STATE_HOME" => state.clone(),
                "HOME" => home.clone(),
                _ => None,
            })
        };
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(directory(Some("/s"), Some("/h")), path("/s/switchboard/auth"));
        assert_eq!(directory(None, Some("/h")), path("/h/.local/state/switchboard/auth"));
        assert_eq!(directory(Some("relative"), Some("/h")), path("/h/.local/state/switchboard/auth"));
        assert_eq!(directory(Some(""), None), None);
        assert_eq!(directory(None, Some("relative")), None);
    }

    #[test]
    fn lock_names_differ_where_parts_of_a_key_touch() {
        let key = |issuer: &str, resource: &str| GrantKey {
            issuer: issuer.to_owned(),
            resource: resource.to_owned(),
            client_id: String::new(),
            account: String::new(),
        };
        assert_ne!(refresh_lock_name(&key("ab", "c")), refresh_lock_name(&key("a", "bc")));
        assert_ne!(refresh_lock_name(&key("a\",\"b", "")), refresh_lock_name(&key("a", "b\",\"")));
    }
}
