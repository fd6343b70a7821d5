//! A design as it was promised, and what a new one breaks of that.
//!
//! [`Lock`] is the text that is kept beside the code; [`diff`] tells breaking from compatible changes, one line each.

mod compare;
mod diff;
mod file;

pub use diff::{Change, Class, diff};
pub use file::{Lock, LockError};
