//! The five dated revisions of the protocol, and the two eras they belong to.
//!
//! Which method exists in which revision is in the `surface` table.

use std::fmt;
use std::str::FromStr;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

/// A revision of the protocol. Later revisions are greater.
///
/// ```
/// use switchboard::protocol::{Era, Revision};
///
/// let revision: Revision = "2025-06-18".parse()?;
/// assert!(revision < Revision::LATEST);
/// assert_eq!(revision.era(), Era::Legacy);
/// # Ok::<(), switchboard::protocol::UnknownRevision>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05: the first revision.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, audio, tool annotations, batches.
    V2025_03_26,
    /// 2025-06-18: elicitation, structured output, resource links, titles; batches removed.
    V2025_06_18,
    /// 2025-11-25: URL elicitation, sampling with tools, icons, experimental tasks.
    V2025_11_25,
    /// 2026-07-28: stateless; no handshake and no requests from the server.
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The newest revision with the `initialize` handshake.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// Returns the date, as on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the era of the revision.
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => Era::Legacy,
            Self::V2026_07_28 => Era::Modern,
        }
    }
}

/// The two fundamentally different modes of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// Stateful: a session opened by `initialize`, in which both sides send requests.
    Legacy,
    /// Stateless: every request describes itself in `_meta`, and only the client sends requests.
    Modern,
}

impl Era {
    /// Returns the era as a word, for labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// The error of an unknown protocol version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRevision(pub String);

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown protocol version {:?}", self.0)
    }
}

impl std::error::Error for UnknownRevision {}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde_core::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_ordered_by_date() {
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::ALL.map(Revision::as_str).is_sorted());
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
            let json = serde_json::to_string(&revision).unwrap();
            assert_eq!(serde_json::from_str::<Revision>(&json).unwrap(), revision);
        }
        assert!("2025-06-17".parse::<Revision>().is_err());
    }

    #[test]
    fn the_latest_constants_are_the_newest_of_their_era() {
        assert_eq!(Revision::LATEST.era(), Era::Modern);
        let legacy = Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy);
        assert_eq!(legacy.max(), Some(Revision::LATEST_LEGACY));
    }
}
