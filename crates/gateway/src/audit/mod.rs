//! Audit: one JSON line for every call, list and refusal.
//!
//! ```text
//!   AuditEntry (begin … end) ──▶ bounded queue ──▶ writer task ──▶ AuditSink (a rotated file)
//! ```
//!
//! 1. [`AuditLog::begin`] before a call: waits while the queue is full, and fails while the sink fails, if so configured.
//! 2. [`AuditEntry::end`] after it. An entry that is dropped instead is recorded as cancelled.
//! 3. One task writes the lines to the [`AuditSink`] in batches; [`AuditLog::close`] flushes them.
//!
//! **Invariants.** Every entry that was begun becomes exactly one record, unless records may be dropped or the sink is
//! lost; both are counted. Arguments and results are recorded only where an [`AuditPolicy`] says so, redacted and cut.

mod entry;
mod error;
mod file;
mod log;
mod options;
mod payload;
mod policy_section;
mod record;
mod redaction;
mod sink;
mod timestamp;
mod writer;

pub use entry::AuditEntry;
pub use error::AuditError;
pub use file::{AuditFile, AuditFileOptions};
pub use log::{AuditCounts, AuditLog};
pub use options::{AuditOptions, FailurePolicy, OverflowPolicy, SyncPolicy};
pub use policy_section::{AuditPolicy, PayloadSelection};
pub(crate) use record::strip_secrets;
pub use record::{AuditOutcome, AuditRecord};
pub use sink::AuditSink;
