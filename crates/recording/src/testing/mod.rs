//! Server tests: recorded requests are sent to a server, and its answers are compared with the recorded ones.

mod comparison;
mod ignored_path;
mod recorded_answers;
mod server_test;

pub use ignored_path::{IgnoredPath, IgnoredPathError};
pub use server_test::{ServerTest, TestReport, TestStep, TestStepOutcome};
