//! A folder of manifests, so that a server need not be started before it is used, also by another process later.
//!
//! A file is named by a digest of the server's name and masked configuration: a server with another command, argument or
//! address is listed anew. The values of variables and headers are no part of the digest; a server that lists something
//! else because of them is known by its old lists until it runs again.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::config::disk::{self, Owner};
use crate::config::update::update;
use crate::config::{ConfigError, ConfigErrorKind, Settings};
use crate::event::HostEvent;
use crate::host::Host;
use crate::manifest::Manifest;
use crate::server_spec::ServerSpec;
use crate::status::Status;
use crate::transport::Transport;

/// Size limit of one manifest.
const MAX_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;
/// The number of manifests that are kept; the oldest are deleted.
const MAX_MANIFESTS: usize = 512;
/// How long changes are collected before they are stored.
const SETTLE: Duration = Duration::from_millis(250);

/// A folder of manifests, private to the user. Several processes may share it.
///
/// ```no_run
/// use switchboard::host::config::StartPolicy;
/// use switchboard::host::{Host, ManifestStore, ServerSpec};
/// use switchboard::transport::stdio::Stdio;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let (host, store) = (Host::new(), ManifestStore::new("manifests"));
/// let spec = ServerSpec::from(Stdio::new("mcp-files")).start(StartPolicy::WhenUsed);
/// let manifest = store.load("files", &spec)?; // of an earlier run
/// host.add("files", match manifest {
///     Some(manifest) => spec.with_manifest(manifest),
///     None => spec,
/// })?;
/// tokio::spawn(async move { store.follow(&host).await });
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ManifestStore {
    directory: PathBuf,
}

impl ManifestStore {
    /// Creates a store in a folder, which is created when a manifest is stored.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the manifest of a server; `None` if there is none for this configuration.
    ///
    /// # Errors
    /// When the file cannot be read, could have been written by others, or is not a manifest.
    pub fn load(&self, server: &str, spec: &ServerSpec) -> Result<Option<Manifest>, ConfigError> {
        let Some(path) = self.path(server, spec) else { return Ok(None) };
        let Some(text) = disk::read(&path, Owner::User, MAX_MANIFEST_BYTES)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            let what = format!("this is not a manifest ({error}); delete it, and the server is listed anew");
            ConfigError::new("", ConfigErrorKind::Syntax { what }).in_file(&path)
        })
    }

    /// Stores the manifest of a server. A server of this process has none.
    ///
    /// # Errors
    /// When the file cannot be written, or the manifest is too large.
    pub fn save(&self, server: &str, spec: &ServerSpec, manifest: &Manifest) -> Result<(), ConfigError> {
        let Some(path) = self.path(server, spec) else { return Ok(()) };
        let text = serde_json::to_string(manifest)
            .map_err(|error| disk::io_error(&path, "write it", &error.into()))?;
        update(&path, Owner::User, MAX_MANIFEST_BYTES, |_| Ok((text.clone(), ())))?;
        self.delete_oldest().map_err(|error| disk::io_error(&self.directory, "clear it", &error))
    }

    /// Stores the manifest of each server of a host whenever its lists have changed, until the future is dropped.
    pub async fn follow(&self, host: &Host) -> Infallible {
        let mut events = host.events();
        let mut stored: HashMap<String, Manifest> = HashMap::new();
        let mut changed: BTreeSet<String> = host.servers().into_iter().collect();
        loop {
            // Changes come in groups: one for each list of a server.
            while let Ok(event) = tokio::time::timeout(SETTLE, events.next()).await {
                match event {
                    Some(event) => note_change(&event, host, &mut changed),
                    None => std::future::pending().await,
                }
            }
            for server in std::mem::take(&mut changed) {
                self.store_changed(host, &server, &mut stored).await;
            }
            if let Some(event) = events.next().await {
                note_change(&event, host, &mut changed);
            }
        }
    }

    async fn store_changed(&self, host: &Host, server: &str, stored: &mut HashMap<String, Manifest>) {
        let Ok(slot) = host.inner.slot(server) else { return };
        // Only lists that were fetched: neither those of a manifest, nor old ones of a server that has failed.
        if slot.last_info().is_none() || !matches!(slot.status(), Status::Ready(_) | Status::Asleep) {
            return;
        }
        let Ok(manifest) = host.manifest(server) else { return };
        if stored.get(server) == Some(&manifest) {
            return;
        }
        let (store, name, written) = (self.clone(), server.to_owned(), manifest.clone());
        let saved = tokio::task::spawn_blocking(move || store.save(&name, &slot.spec, &written)).await;
        match saved {
            Ok(Ok(())) => _ = stored.insert(server.to_owned(), manifest),
            Ok(Err(error)) => tracing::warn!(server, %error, "the manifest was not stored"),
            Err(error) => tracing::warn!(server, %error, "the manifest was not stored"),
        }
    }

    /// Returns the file of a server; `None` for a server without a configuration, such as one of this process.
    fn path(&self, server: &str, spec: &ServerSpec) -> Option<PathBuf> {
        match spec.transport {
            Transport::Stdio(_) | Transport::Http(_) | Transport::Proxy { .. } => {}
            _ => return None,
        }
        let config = spec.transport.masked(&Settings::default(), spec.oauth.as_deref());
        let digest = Sha256::digest(serde_json::json!([server, config]).to_string());
        let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.directory.join(name).with_extension("json"))
    }

    fn delete_oldest(&self) -> std::io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if is_manifest(&entry.path()) {
                files.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
        files.sort();
        let surplus = files.len().saturating_sub(MAX_MANIFESTS);
        files[..surplus].iter().try_for_each(|(_, path)| match fs::remove_file(path) {
            // Another process was faster.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
    }
}

fn is_manifest(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    path.extension().is_some_and(|extension| extension == "json") && stem.len() == 64
}

/// Notes the server whose lists may have changed.
fn note_change(event: &HostEvent, host: &Host, changed: &mut BTreeSet<String>) {
    let server: &Arc<str> = match event {
        HostEvent::Tools(tools) => &tools.server,
        HostEvent::Prompts { server } | HostEvent::Resources { server } => server,
        HostEvent::Status { server, status: Status::Ready(_) } => server,
        HostEvent::Missed(_) => return changed.extend(host.servers()),
        _ => return,
    };
    changed.insert(server.to_string());
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_protocol::Tool;
    use switchboard_transport::stdio::Stdio;

    use super::*;

    fn manifest(tool: &str) -> Manifest {
        Manifest::new([Tool::new(tool, json!({"type": "object"}))])
    }

    #[test]
    fn a_manifest_belongs_to_one_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let store = ManifestStore::new(folder.path().join("manifests"));
        let spec = |argument: &str, secret: &str| {
            ServerSpec::from(Stdio::new("server").arg(argument).env("TOKEN", secret))
        };
        assert_eq!(store.load("s", &spec("a", "x")).unwrap(), None);
        store.save("s", &spec("a", "hunter2"), &manifest("one")).unwrap();
        assert_eq!(store.load("s", &spec("a", "hunter2")).unwrap(), Some(manifest("one")));
        assert_eq!(store.load("s", &spec("b", "hunter2")).unwrap(), None, "another argument");
        assert_eq!(store.load("t", &spec("a", "hunter2")).unwrap(), None, "another name");
        store.save("s", &spec("a", "hunter2"), &manifest("two")).unwrap();
        assert_eq!(store.load("s", &spec("a", "hunter2")).unwrap(), Some(manifest("two")));
        for entry in fs::read_dir(folder.path().join("manifests")).unwrap() {
            let path = entry.unwrap().path();
            assert!(!fs::read_to_string(&path).unwrap_or_default().contains("hunter2"), "{}", path.display());
        }
    }

    #[test]
    fn a_damaged_manifest_is_an_error_that_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let store = ManifestStore::new(folder.path());
        let spec = ServerSpec::from(Stdio::new("server"));
        store.save("s", &spec, &manifest("one")).unwrap();
        fs::write(store.path("s", &spec).unwrap(), "{}").unwrap();
        let error = store.load("s", &spec).unwrap_err().to_string();
        assert!(error.contains("listed anew"), "{error}");
    }

    #[test]
    fn the_oldest_manifests_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let store = ManifestStore::new(folder.path());
        let spec = ServerSpec::from(Stdio::new("server"));
        for number in 0..MAX_MANIFESTS {
            fs::write(folder.path().join(format!("{number:064}.json")), "{}").unwrap();
        }
        store.save("s", &spec, &manifest("one")).unwrap();
        let left =
            fs::read_dir(folder.path()).unwrap().filter(|entry| is_manifest(&entry.as_ref().unwrap().path()));
        assert_eq!(left.count(), MAX_MANIFESTS);
        assert!(store.load("s", &spec).unwrap().is_some(), "the newest stays");
    }
}
