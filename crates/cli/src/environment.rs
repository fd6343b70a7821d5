//! The environment of this process, as what a file or an argument refers to.

/// A variable of the environment.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
