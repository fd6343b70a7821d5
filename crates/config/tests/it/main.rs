//! Configuration files as users write them: read, changed, resolved, imported.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod files;
mod import;
mod logins;
mod names;
