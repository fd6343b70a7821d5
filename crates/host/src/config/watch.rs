//! Files that change while they are used.
//!
//! Invariants: a file that becomes unreadable keeps its last servers, so a mistake while typing stops nothing; a change
//! is reported once, and only if it changes what was resolved. Nothing is watched between polls, so nothing has to be
//! cleaned up.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use switchboard_config::{Approvals, Fault, Layer, Locations, ResolveContext, Resolved, Scope};
use tokio::time::{Instant, sleep_until};

/// How often files are looked at: a person does not notice, and five `stat`s cost nothing.
const EVERY: Duration = Duration::from_millis(500);
/// Two changes closer than the clock of a file system are told apart by looking again.
const UNSETTLED: Duration = Duration::from_millis(50);

/// Watches the files of a configuration and resolves them anew when they change.
pub struct Watch {
    at: Locations,
    added: Vec<Layer>,
    variables: Variables,
    every: Duration,
    sources: Vec<Source>,
    approvals: (Approvals, Stamp, Option<Fault>),
    last: Resolved,
}

type Variables = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a look found: what changed, and nothing of what did not.
struct Looked {
    sources: Vec<Option<(Stamp, Result<Layer, Fault>)>>,
    approvals: Option<(Stamp, Result<Approvals, Fault>)>,
}

/// One file, and what it last said.
#[derive(Debug)]
struct Source {
    stamp: Stamp,
    layer: Option<Layer>,
    fault: Option<Fault>,
}

impl Watch {
    /// Reads the files there for the first time; `variables` are looked up again with every change.
    pub fn new(at: Locations, variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let sources = Scope::files(&at).map(|_| Source { stamp: Stamp::Unseen, layer: None, fault: None });
        let approvals = (Approvals::none(), Stamp::Unseen, None);
        let mut watch = Self {
            at,
            added: Vec::new(),
            variables: Box::new(variables),
            every: EVERY,
            sources: sources.into(),
            approvals,
            last: Resolved::default(),
        };
        let found = look(&watch.at, &watch.stamps());
        watch.take(found);
        watch.last = watch.resolve();
        watch
    }

    /// With what the application adds, such as connectors.
    #[must_use]
    pub fn with_added(mut self, layers: Vec<Layer>) -> Self {
        self.added = layers;
        self.last = self.resolve();
        self
    }

    /// Looking this often.
    #[must_use]
    pub fn with_interval(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// What the files said when they were last looked at.
    pub fn current(&self) -> &Resolved {
        &self.last
    }

    /// Waits for the next set that differs from the last. Files are read on the blocking pool.
    ///
    /// # Cancellation
    /// May be dropped at any point; a change is then found by the next wait.
    pub async fn changed(&mut self) -> &Resolved {
        loop {
            sleep_until(Instant::now() + self.every).await;
            let (at, before) = (self.at.clone(), self.stamps());
            // Nothing of ours is moved there, so that a wait that is dropped loses nothing.
            let found = tokio::task::spawn_blocking(move || look(&at, &before)).await;
            let Ok(found) = found.inspect_err(|error| tracing::warn!(%error, "files could not be looked at"))
            else {
                continue;
            };
            if self.take(found) {
                let resolved = self.resolve();
                if resolved != self.last {
                    self.last = resolved;
                    return &self.last;
                }
            }
        }
    }

    /// The stamps of the files and of the approvals when they were last looked at.
    fn stamps(&self) -> (Vec<Stamp>, Stamp) {
        (self.sources.iter().map(|source| source.stamp.clone()).collect(), self.approvals.1.clone())
    }

    /// Takes over what a look found; whether that was anything.
    fn take(&mut self, found: Looked) -> bool {
        let mut changed = false;
        for (source, found) in self.sources.iter_mut().zip(found.sources) {
            let Some((stamp, layer)) = found else { continue };
            changed = true;
            source.stamp = stamp;
            match layer {
                Ok(layer) => (source.layer, source.fault) = (Some(layer), None),
                Err(fault) => source.fault = Some(fault),
            }
        }
        if let Some((stamp, approvals)) = found.approvals {
            changed = true;
            // Unreadable approvals approve nothing: what was approved must not outlive its being taken back.
            self.approvals = match approvals {
                Ok(approvals) => (approvals, stamp, None),
                Err(fault) => (Approvals::none(), stamp, Some(fault)),
            };
        }
        changed
    }

    fn resolve(&self) -> Resolved {
        let mut layers = self.added.clone();
        layers.extend(self.sources.iter().filter_map(|source| source.layer.clone()));
        let context = ResolveContext {
            project: &self.at.project,
            approvals: &self.approvals.0,
            variables: &*self.variables,
        };
        let mut resolved = Resolved::of(&layers, context);
        resolved.faults.extend(self.sources.iter().filter_map(|source| source.fault.clone()));
        resolved.faults.extend(self.approvals.2.clone());
        resolved
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("at", &self.at).field("every", &self.every).finish_non_exhaustive()
    }
}

/// Reads the files whose stamps have changed. Waits for the disk.
fn look(at: &Locations, (sources, approvals): &(Vec<Stamp>, Stamp)) -> Looked {
    let newer = |file: &Path, before: &Stamp| Some(Stamp::of(file)).filter(|now| now.tells_more_than(before));
    let read = |(scope, file), before| Some((newer(file, before)?, Layer::read(scope, file)));
    Looked {
        sources: Scope::files(at).into_iter().zip(sources).map(|(file, before)| read(file, before)).collect(),
        approvals: newer(&at.approvals, approvals).map(|stamp| (stamp, Approvals::open(&at.approvals))),
    }
}

/// What tells a file from its later self without reading it.
#[derive(Clone, Debug, PartialEq)]
enum Stamp {
    /// Not looked at yet.
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

impl Stamp {
    fn of(path: &Path) -> Self {
        let Ok(about) = fs::metadata(path) else { return Self::Absent };
        let age = about.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        Self::Present {
            inode: about.ino(),
            length: about.len(),
            changed: (about.ctime(), about.ctime_nsec()),
            settled: age.is_some_and(|age| age > UNSETTLED),
        }
    }

    fn tells_more_than(&self, before: &Self) -> bool {
        self != before || matches!(before, Self::Present { settled: false, .. })
    }
}
