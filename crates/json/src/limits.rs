//! Limits on the size of one JSON value.

/// The maximum nesting of arrays and objects, counted from the outermost value of a text.
pub const MAX_DEPTH: usize = 128;

/// The maximum number of JSON values that are decoded into typed data at once. Forwarding as text is not limited.
pub const MAX_NODES: usize = 250_000;
