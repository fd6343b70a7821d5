//! Log messages from server to client.

use std::fmt;
use std::str::FromStr;

use switchboard_json::Raw;

use crate::setter::setters;
use crate::types::meta::Meta;
use crate::wire::{string_enum, wire};

/// How grave a log message is (RFC 5424). Graver levels are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// For debugging.
    Debug,
    /// Normal operation.
    Info,
    /// Normal but significant.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A component failed.
    Critical,
    /// Act at once.
    Alert,
    /// Unusable.
    Emergency,
}

string_enum!(Level:
    Debug "debug",
    Info "info",
    Notice "notice",
    Warning "warning",
    Error "error",
    Critical "critical",
    Alert "alert",
    Emergency "emergency",
);

impl Level {
    /// All levels, least first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// As it is written on the wire.
    pub const fn as_str(self) -> &'static str {
        self.as_wire_str()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no log level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLevel(pub String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown log level {:?}", self.0)
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|level| level.as_str() == text);
        found.ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

/// Asks for messages of at least a level (until 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetLevelParams {
    /// The least level wanted.
    pub level: Level,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(SetLevelParams: required level "level"; optional meta "_meta";);

impl SetLevelParams {
    /// At least this level.
    pub fn new(level: Level) -> Self {
        Self { level, meta: None }
    }
}

setters!(SetLevelParams: some with_meta meta Meta;);

/// One log message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogMessage {
    /// How grave.
    pub level: Level,
    /// Which part of the server.
    pub logger: Option<String>,
    /// The message: text or any JSON.
    pub data: Raw,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(LogMessage:
    required level "level";
    optional logger "logger";
    or_default data "data";
    optional meta "_meta";
);

impl LogMessage {
    /// A message of this level.
    pub fn new(level: Level, data: impl Into<Raw>) -> Self {
        Self { level, logger: None, data: data.into(), meta: None }
    }
}

setters!(LogMessage: some with_logger logger String; some with_meta meta Meta;);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_spelled_as_on_the_wire() {
        assert!(Level::ALL.is_sorted());
        for level in Level::ALL {
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
            assert_eq!(level.as_str().parse(), Ok(level));
        }
        assert!("warn".parse::<Level>().is_err());
    }
}
