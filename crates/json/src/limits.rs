//! Limits on the size of one JSON value.

/// The deepest nesting of arrays and objects that is accepted, counted from the outermost value of a text.
pub const MAX_DEPTH: usize = 128;

/// The most JSON values that are decoded into typed data at once. Forwarding as text is not limited.
pub const MAX_NODES: usize = 250_000;
