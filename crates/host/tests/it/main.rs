//! The host as applications see it.
