//! Shared code of the test programs. Depends on no crate of the workspace, so that each of them can use it.

mod harness;

pub use harness::run;
