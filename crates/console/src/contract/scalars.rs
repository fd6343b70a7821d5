//! Scalars that have a meaning of their own.

/// JSON as text, exactly as it was on the wire.
pub type JsonText = String;

/// Milliseconds since the Unix epoch.
pub type UnixMs = u64;
