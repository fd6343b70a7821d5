//! Detects breaking changes of a published design.
//!
//! [`Lock`] is the published design as a file beside the code; [`diff`] classifies changes as breaking or compatible.

mod diff;
mod lock_file;
mod schema_diff;

pub use diff::{Change, ChangeClass, diff};
pub use lock_file::{Lock, LockError};
