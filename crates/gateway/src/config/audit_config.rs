//! `audit`: the path of the audit log, or a table that also says how it is written.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::audit::{AuditFileOptions, AuditOptions, FailurePolicy, OverflowPolicy};

/// The longest queue: records wait in memory.
const MAX_QUEUE: u64 = 1_000_000;
/// The most files: each is renamed when the log is rotated.
const MAX_FILES: u64 = 1_000;

/// The audit log of a gateway; what is left out has its default. What is recorded of a request is said by the policy.
///
/// ```
/// use switchboard::gateway::audit::{FailurePolicy, OverflowPolicy};
/// use switchboard::gateway::config::GatewayConfig;
///
/// let config = GatewayConfig::parse(r#"
///     [audit]
///     path = "audit.jsonl"
///     overflow = "drop"
///     failure = "open"
///     queue = 10_000
///     max_bytes = 1_000_000
///     files = 10
/// "#)?;
/// let audit = config.audit.unwrap();
/// assert_eq!((audit.options().overflow, audit.options().failure), (OverflowPolicy::Drop, FailurePolicy::Open));
/// assert_eq!((audit.options().queue, audit.file_options().files), (10_000, 10));
/// # Ok::<(), switchboard::gateway::config::GatewayConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditConfig {
    /// The file in which requests are recorded.
    pub path: PathBuf,
    /// What happens when the queue is full: `block` or `drop`.
    pub overflow: Option<OverflowPolicy>,
    /// What happens while the file cannot be written: `closed` or `open`.
    pub failure: Option<FailurePolicy>,
    /// The number of records that wait to be written.
    pub queue: Option<usize>,
    /// The size at which the file is rotated.
    pub max_bytes: Option<u64>,
    /// The number of files, the current one included.
    pub files: Option<usize>,
}

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditTable {
    path: PathBuf,
    #[serde(default, deserialize_with = "overflow")]
    overflow: Option<OverflowPolicy>,
    #[serde(default, deserialize_with = "failure")]
    failure: Option<FailurePolicy>,
    #[serde(default, deserialize_with = "queue")]
    queue: Option<usize>,
    #[serde(default, deserialize_with = "max_bytes")]
    max_bytes: Option<u64>,
    #[serde(default, deserialize_with = "files")]
    files: Option<usize>,
}

impl AuditConfig {
    /// Returns the configuration of a log with this path and defaults.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), overflow: None, failure: None, queue: None, max_bytes: None, files: None }
    }

    /// Returns the options of the log.
    pub fn options(&self) -> AuditOptions {
        let defaults = AuditOptions::default();
        defaults
            .with_overflow(self.overflow.unwrap_or(defaults.overflow))
            .with_failure(self.failure.unwrap_or(defaults.failure))
            .with_queue(self.queue.unwrap_or(defaults.queue))
    }

    /// Returns the options of its file.
    pub fn file_options(&self) -> AuditFileOptions {
        let defaults = AuditFileOptions::default();
        defaults
            .with_max_bytes(self.max_bytes.unwrap_or(defaults.max_bytes))
            .with_files(self.files.unwrap_or(defaults.files))
    }
}

impl<'de> Deserialize<'de> for AuditConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AuditConfigVisitor)
    }
}

struct AuditConfigVisitor;

impl<'de> Visitor<'de> for AuditConfigVisitor {
    type Value = AuditConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path of the audit log, or a table with `path`")
    }

    fn visit_str<E>(self, path: &str) -> Result<AuditConfig, E> {
        Ok(AuditConfig::new(path))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<AuditConfig, A::Error> {
        let AuditTable { path, overflow, failure, queue, max_bytes, files } =
            AuditTable::deserialize(MapAccessDeserializer::new(members))?;
        Ok(AuditConfig { path, overflow, failure, queue, max_bytes, files })
    }
}

fn overflow<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<OverflowPolicy>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "block" => Ok(Some(OverflowPolicy::Wait)),
        "drop" => Ok(Some(OverflowPolicy::Drop)),
        other => Err(D::Error::custom(format!(
            "{other:?} is not known here; write \"block\" (calls wait while the queue is full) or \"drop\" (records are lost)"
        ))),
    }
}

fn failure<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FailurePolicy>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "closed" => Ok(Some(FailurePolicy::Closed)),
        "open" => Ok(Some(FailurePolicy::Open)),
        other => Err(D::Error::custom(format!(
            "{other:?} is not known here; write \"closed\" (calls are refused while the file cannot be written) or \"open\" \
             (records are lost)"
        ))),
    }
}

fn queue<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    whole_number(deserializer, MAX_QUEUE).map(|number| usize::try_from(number).ok())
}

fn files<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    whole_number(deserializer, MAX_FILES).map(|number| usize::try_from(number).ok())
}

fn max_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    whole_number(deserializer, i64::MAX.unsigned_abs()).map(Some)
}

/// Reads a number from 1 to `max`.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D, max: u64) -> Result<u64, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let in_range = u64::try_from(number).ok().filter(|number| (1..=max).contains(number));
    in_range.ok_or_else(|| {
        D::Error::custom(format!("{number} is out of range; write a whole number from 1 to {max}"))
    })
}
