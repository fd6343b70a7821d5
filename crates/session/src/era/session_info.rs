//! The negotiated info of a session, and the revision policy and era hint that opening starts from.

#[cfg(any(feature = "client", feature = "server"))]
use switchboard_protocol::surface::TASKS_EXTENSION;
use switchboard_protocol::{CacheHints, Era, Implementation, Revision, ServerCapabilities};

#[cfg(any(feature = "client", feature = "server"))]
use crate::era::TaskProtocol;

/// The negotiated info of a session.
///
/// ```
/// use switchboard::protocol::Revision;
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// let info = session.info()?;
/// assert_eq!(info.revision, Revision::V2026_07_28);
/// assert!(info.capabilities.declares("resources.subscribe"));
/// assert_eq!(info.instructions, None);
/// # demo::done() });
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The negotiated revision.
    pub revision: Revision,
    /// The server's own name and version. For display only: an unverified claim.
    pub server: Option<Implementation>,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// The server's instructions for the model.
    pub instructions: Option<String>,
    /// The cache hints of this info.
    pub hints: CacheHints,
}

impl SessionInfo {
    /// Returns whether requests are self-contained: a question is a result, its answer a further request, and no session is
    /// needed in between.
    pub fn is_self_contained(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    /// Returns the protocol by which the server runs tool calls as tasks; `None` if it does not.
    #[cfg(any(feature = "client", feature = "server"))]
    pub fn task_protocol(&self) -> Option<TaskProtocol> {
        match self.revision.era() {
            Era::Modern => {
                self.capabilities.has_extension(TASKS_EXTENSION).then_some(TaskProtocol::Extension)
            }
            Era::Legacy => {
                let has_tasks = self.revision >= Revision::V2025_11_25
                    && self.capabilities.declares("tasks.requests.tools.call");
                has_tasks.then_some(TaskProtocol::Core)
            }
        }
    }
}

/// The revisions that a client or server accepts.
///
/// The default is all of them: modern first, the newest legacy revision when the server is older.
///
/// ```
/// use switchboard::client::RevisionPolicy;
/// use switchboard::protocol::Revision;
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let policy = RevisionPolicy::from_names(["2025-06-18", "2025-03-26"])?;
/// assert_eq!(policy.all(), [Revision::V2025_06_18, Revision::V2025_03_26]);
///
/// let session = Client::new().with_revisions(policy).connect(InProcess::new(&demo::server())).await?;
/// assert_eq!(session.info()?.revision, Revision::V2025_06_18);
/// # demo::done() });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RevisionPolicy {
    /// All revisions; the era is detected.
    #[default]
    Any,
    /// Only revisions that need no handshake.
    ModernOnly,
    /// Only revisions that open with a handshake: no probe is sent.
    LegacyOnly,
    /// This revision and no other.
    Only(Revision),
    /// These revisions, the preferred ones first.
    Listed(RevisionList),
}

/// A list of revisions, in order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionList([Option<Revision>; Revision::ALL.len()]);

impl RevisionPolicy {
    /// Creates a policy from version names, the preferred ones first: a client that names another version is offered the first
    /// one of the same era. Duplicates are ignored; an empty list means every revision.
    ///
    /// # Errors
    /// When there is no revision of a name.
    pub fn from_names(
        names: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, switchboard_protocol::UnknownRevision> {
        let mut listed = [None; Revision::ALL.len()];
        for name in names {
            let revision: Revision = name.as_ref().parse()?;
            if !listed.contains(&Some(revision))
                && let Some(free) = listed.iter_mut().find(|slot| slot.is_none())
            {
                *free = Some(revision);
            }
        }
        Ok(if listed[0].is_none() { Self::Any } else { Self::Listed(RevisionList(listed)) })
    }

    /// Returns the revisions of the modern era, the preferred ones first: the newest unless listed.
    pub(crate) fn modern(self) -> Vec<Revision> {
        self.of_era(switchboard_protocol::Era::Modern)
    }

    /// Returns the revisions of the legacy era, the preferred ones first: the newest unless listed.
    pub(crate) fn legacy(self) -> Vec<Revision> {
        self.of_era(switchboard_protocol::Era::Legacy)
    }

    /// Returns the revisions that open with a handshake, the preferred ones first.
    pub fn with_handshake(self) -> Vec<Revision> {
        self.legacy()
    }

    /// Returns all revisions, those that need no handshake first.
    pub fn all(self) -> Vec<Revision> {
        let mut all = self.modern();
        all.extend(self.legacy());
        all
    }

    /// Returns whether a revision is accepted.
    pub(crate) fn has(self, revision: Revision) -> bool {
        use switchboard_protocol::Era::{Legacy, Modern};
        match self {
            Self::Any => true,
            Self::ModernOnly => revision.era() == Modern,
            Self::LegacyOnly => revision.era() == Legacy,
            Self::Only(only) => revision == only,
            Self::Listed(RevisionList(listed)) => listed.contains(&Some(revision)),
        }
    }

    fn of_era(self, era: switchboard_protocol::Era) -> Vec<Revision> {
        match self {
            Self::Listed(RevisionList(listed)) => {
                listed.into_iter().flatten().filter(|r| r.era() == era).collect()
            }
            _ => Revision::ALL.into_iter().rev().filter(|r| r.era() == era && self.has(*r)).collect(),
        }
    }
}

/// The era of a server as found by an earlier session, so that the next one opens without a probe.
///
/// ```
/// use switchboard::client::EraHint;
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let server = demo::server();
/// let first = Client::new().connect(InProcess::new(&server)).await?;
/// let hint = first.era_hint()?; // keep it for the next start of the program
/// assert_eq!(hint, EraHint::Modern);
/// let second = Client::new().with_era_hint(hint).connect(InProcess::new(&server)).await?;
/// assert!(second.is_ready());
/// # demo::done() });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EraHint {
    /// It speaks a modern revision: a failing probe is an outage, never a reason to fall back.
    Modern,
    /// It needs a handshake: send no probe.
    Legacy,
}
