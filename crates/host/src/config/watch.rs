//! Watches configuration files by polling.
//!
//! Invariants: a file that becomes invalid keeps its last servers, so a mistake while editing stops nothing; a change is
//! reported once, and only if it changes the resolved configuration.

use std::path::Path;
use std::time::Duration;

use switchboard_config::{Approvals, ConfigError, Layer, Locations, ResolveContext, ResolvedConfig, Scope};
use tokio::time::{Instant, sleep_until};

use crate::config::file_watcher::FileStamp;

/// The default polling interval.
const DEFAULT_INTERVAL: Duration = Duration::from_millis(500);

/// Watches the configuration files and resolves them again when they change.
pub struct ConfigWatcher {
    at: Locations,
    added: Vec<Layer>,
    variables: Variables,
    interval: Duration,
    sources: Vec<WatchedFile>,
    approvals: (Approvals, FileStamp, Option<ConfigError>),
    last: ResolvedConfig,
}

type Variables = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The files that changed since the last poll.
struct PollResult {
    sources: Vec<Option<(FileStamp, Result<Layer, ConfigError>)>>,
    approvals: Option<(FileStamp, Result<Approvals, ConfigError>)>,
}

/// One file and its last valid contents.
#[derive(Debug)]
struct WatchedFile {
    stamp: FileStamp,
    layer: Option<Layer>,
    error: Option<ConfigError>,
}

impl ConfigWatcher {
    /// Reads the files; `variables` are looked up again with every change.
    pub fn new(at: Locations, variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let sources =
            Scope::files(&at).map(|_| WatchedFile { stamp: FileStamp::Unseen, layer: None, error: None });
        let approvals = (Approvals::empty(), FileStamp::Unseen, None);
        let mut watch = Self {
            at,
            added: Vec::new(),
            variables: Box::new(variables),
            interval: DEFAULT_INTERVAL,
            sources: sources.into(),
            approvals,
            last: ResolvedConfig::default(),
        };
        let found = poll_files(&watch.at, &watch.stamps());
        watch.apply(found);
        watch.last = watch.resolve();
        watch
    }

    /// Sets the layers of the application, such as connectors.
    #[must_use]
    pub fn with_added(mut self, layers: Vec<Layer>) -> Self {
        self.added = layers;
        self.last = self.resolve();
        self
    }

    /// Sets the polling interval.
    #[must_use]
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Returns the configuration of the last poll.
    pub fn current(&self) -> &ResolvedConfig {
        &self.last
    }

    /// Waits for the next change of the resolved configuration. Files are read on the blocking pool.
    ///
    /// # Cancellation
    /// Safe to drop at any point; a change is then found by the next call.
    pub async fn changed(&mut self) -> &ResolvedConfig {
        loop {
            sleep_until(Instant::now() + self.interval).await;
            let (at, before) = (self.at.clone(), self.stamps());
            // Works on copies, so a dropped wait loses nothing.
            let found = tokio::task::spawn_blocking(move || poll_files(&at, &before)).await;
            let Ok(found) =
                found.inspect_err(|error| tracing::warn!(%error, "configuration files not polled"))
            else {
                continue;
            };
            if self.apply(found) {
                let resolved = self.resolve();
                if resolved != self.last {
                    self.last = resolved;
                    return &self.last;
                }
            }
        }
    }

    /// Returns the stamps of the files and of the approvals at the last poll.
    fn stamps(&self) -> (Vec<FileStamp>, FileStamp) {
        (self.sources.iter().map(|source| source.stamp.clone()).collect(), self.approvals.1.clone())
    }

    /// Applies the result of a poll. Returns whether anything changed.
    fn apply(&mut self, found: PollResult) -> bool {
        let mut changed = false;
        for (source, found) in self.sources.iter_mut().zip(found.sources) {
            let Some((stamp, layer)) = found else { continue };
            changed = true;
            source.stamp = stamp;
            match layer {
                Ok(layer) => (source.layer, source.error) = (Some(layer), None),
                Err(error) => source.error = Some(error),
            }
        }
        if let Some((stamp, approvals)) = found.approvals {
            changed = true;
            // Invalid approvals approve nothing: a revoked approval must not stay in effect.
            self.approvals = match approvals {
                Ok(approvals) => (approvals, stamp, None),
                Err(error) => (Approvals::empty(), stamp, Some(error)),
            };
        }
        changed
    }

    fn resolve(&self) -> ResolvedConfig {
        let mut layers = self.added.clone();
        layers.extend(self.sources.iter().filter_map(|source| source.layer.clone()));
        let context = ResolveContext {
            project: &self.at.project,
            approvals: &self.approvals.0,
            variables: &*self.variables,
        };
        let mut resolved = ResolvedConfig::from_layers(&layers, context);
        resolved.errors.extend(self.sources.iter().filter_map(|source| source.error.clone()));
        resolved.errors.extend(self.approvals.2.clone());
        resolved
    }
}

impl std::fmt::Debug for ConfigWatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigWatcher")
            .field("at", &self.at)
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

/// Reads the files whose stamps have changed. Blocking.
fn poll_files(at: &Locations, (sources, approvals): &(Vec<FileStamp>, FileStamp)) -> PollResult {
    let newer =
        |file: &Path, before: &FileStamp| Some(FileStamp::of(file)).filter(|now| now.is_newer_than(before));
    let read = |(scope, file), before| Some((newer(file, before)?, Layer::read(scope, file)));
    PollResult {
        sources: Scope::files(at).into_iter().zip(sources).map(|(file, before)| read(file, before)).collect(),
        approvals: newer(&at.approvals, approvals).map(|stamp| (stamp, Approvals::open(&at.approvals))),
    }
}
