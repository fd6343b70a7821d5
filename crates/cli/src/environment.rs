//! Environment variables of this process.

/// Returns the value of an environment variable.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
