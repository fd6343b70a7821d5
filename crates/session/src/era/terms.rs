//! What both sides agreed on, decided once when a session opens.

use switchboard_protocol::{CacheHints, Implementation, Revision, ServerCapabilities};

/// What both sides agreed on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Terms {
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
pub enum Offer {
    /// All revisions; find out what the server speaks.
    #[default]
    Any,
    /// Only revisions that need no handshake.
    ModernOnly,
    /// Only revisions that open with a handshake: no probe is sent.
    LegacyOnly,
    /// This revision and no other.
    Only(Revision),
    /// These revisions; see [`Offer::named`].
    These(Revisions),
}

/// A set of revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Revisions(u8);

impl Revisions {
    fn has(self, revision: Revision) -> bool {
        Revision::ALL
            .into_iter()
            .position(|known| known == revision)
            .is_some_and(|at| self.0 & (1 << at) != 0)
    }
}

impl Offer {
    /// The revisions of these names and no others; all of them when there is no name.
    ///
    /// # Errors
    /// Gives back the first name that no revision has.
    pub fn named<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Result<Self, String> {
        let mut these = Revisions::default();
        for name in names {
            let at = Revision::ALL.into_iter().position(|known| known.as_str() == name.as_ref());
            these.0 |= 1 << at.ok_or_else(|| name.as_ref().to_owned())?;
        }
        Ok(if these == Revisions::default() { Self::Any } else { Self::These(these) })
    }

    /// The revisions of the modern era in this offer, newest first.
    pub(crate) fn modern(self) -> Vec<Revision> {
        self.of_era(switchboard_protocol::Era::Modern)
    }

    /// The revisions of the legacy era in this offer, newest first.
    pub(crate) fn legacy(self) -> Vec<Revision> {
        self.of_era(switchboard_protocol::Era::Legacy)
    }

    /// All revisions in this offer, newest first.
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
            Self::These(these) => these.has(revision),
        }
    }

    fn of_era(self, era: switchboard_protocol::Era) -> Vec<Revision> {
        Revision::ALL.into_iter().rev().filter(|r| r.era() == era && self.has(*r)).collect()
    }
}

/// What is known of a server from an earlier connection, so that the next one opens faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It speaks a modern revision: a failing probe is an outage, never a reason to fall back.
    Modern,
    /// It needs a handshake: send no probe.
    Legacy,
}
