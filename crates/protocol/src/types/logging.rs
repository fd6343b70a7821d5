//! Log messages from server to client.

use std::fmt;
use std::str::FromStr;

use switchboard_json::Raw;

use crate::types::meta::Meta;
use crate::wire::{string_enum, wire};

/// The severity of a log message (RFC 5424). More severe levels are greater.
///
/// ```
/// use switchboard::protocol::Level;
///
/// assert!(Level::Error > Level::Warning);
/// assert_eq!("warning".parse(), Ok(Level::Warning));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Debugging information.
    Debug,
    /// Normal operation.
    Info,
    /// Normal but significant.
    NotificationMethod,
    /// Warning conditions.
    Warning,
    /// Error conditions.
    Error,
    /// Critical conditions, such as the failure of a component.
    Critical,
    /// Action must be taken immediately.
    Alert,
    /// The system is unusable.
    Emergency,
}

string_enum!(Level:
    Debug "debug",
    Info "info",
    NotificationMethod "notice",
    Warning "warning",
    Error "error",
    Critical "critical",
    Alert "alert",
    Emergency "emergency",
);

impl Level {
    /// All levels, least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::NotificationMethod,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Returns the string on the wire.
    pub const fn as_str(self) -> &'static str {
        self.as_wire_str()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error of an unknown log level.
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

/// The parameters of `logging/setLevel` (until 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetLevelParams {
    /// The minimum level.
    pub level: Level,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(SetLevelParams: required level "level"; optional meta "_meta", with_meta(Meta););

impl SetLevelParams {
    /// Creates the parameters for a minimum level.
    pub fn new(level: Level) -> Self {
        Self { level, meta: None }
    }
}

/// The parameters of `notifications/message`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogMessage {
    /// The severity.
    pub level: Level,
    /// The name of the logger.
    pub logger: Option<String>,
    /// The message: a string or any JSON.
    pub data: Raw,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(LogMessage:
    required level "level";
    optional logger "logger", with_logger(String);
    or_default data "data";
    optional meta "_meta", with_meta(Meta);
);

impl LogMessage {
    /// Creates a log message.
    pub fn new(level: Level, data: impl Into<Raw>) -> Self {
        Self { level, logger: None, data: data.into(), meta: None }
    }
}

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
