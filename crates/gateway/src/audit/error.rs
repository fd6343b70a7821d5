//! Errors of the audit log.

use std::io;

/// Why a call cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The sink fails, and calls that cannot be recorded are refused.
    #[error(
        "the audit log cannot be written, and calls without a record are refused; free space or fix its file"
    )]
    Unavailable,
    /// The log was closed.
    #[error("the audit log is closed")]
    Closed,
    /// Records could not be written before the log was closed.
    #[error("{records} records could not be written to the audit log")]
    Unflushed {
        /// The number of records.
        records: u64,
    },
    /// The file cannot be opened.
    #[error("the audit log {path:?} cannot be opened: {source}")]
    Open {
        /// The path.
        path: std::path::PathBuf,
        /// The error.
        source: io::Error,
    },
}
