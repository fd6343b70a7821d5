//! What both sides agreed on when a session opened, and the policy and the hint that opening it starts from.

use switchboard_protocol::{CacheHints, Implementation, Revision, ServerCapabilities};

/// What both sides agreed on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The revision that is spoken.
    pub revision: Revision,
    /// Who the server says it is. For display only: nothing may depend on it.
    pub server: Option<Implementation>,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// What the server tells the model about itself.
    pub instructions: Option<String>,
    /// How long the server says this may be kept.
    pub hints: CacheHints,
}

/// Which revisions a side is ready to speak.
///
/// The default is all of them: modern first, the newest legacy revision when the server is older.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RevisionPolicy {
    /// All revisions; find out what the server speaks.
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

/// Some revisions, in order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionList([Option<Revision>; Revision::ALL.len()]);

impl RevisionPolicy {
    /// The revisions of these names, the preferred ones first: a client that names one that is not among them is offered
    /// the first that opens as it does. A name that comes twice counts once; no name at all is every revision.
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

    /// The revisions of the modern era in this offer, the preferred ones first: the newest unless listed.
    pub(crate) fn modern(self) -> Vec<Revision> {
        self.of_era(switchboard_protocol::Era::Modern)
    }

    /// The revisions of the legacy era in this offer, the preferred ones first: the newest unless listed.
    pub(crate) fn legacy(self) -> Vec<Revision> {
        self.of_era(switchboard_protocol::Era::Legacy)
    }

    /// The revisions in this offer that open with a handshake, the preferred ones first.
    pub fn with_handshake(self) -> Vec<Revision> {
        self.legacy()
    }

    /// All revisions in this offer, those that need no handshake first.
    pub fn all(self) -> Vec<Revision> {
        let mut all = self.modern();
        all.extend(self.legacy());
        all
    }

    /// Whether a revision is in this offer.
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

/// What is known of a server from an earlier connection, so that the next one opens faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EraHint {
    /// It speaks a modern revision: a failing probe is an outage, never a reason to fall back.
    Modern,
    /// It needs a handshake: send no probe.
    Legacy,
}
