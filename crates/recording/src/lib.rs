//! Recorded MCP sessions: the text format of talks, value patterns, and the masking of secrets.

mod masking;

pub use masking::{MASK, SecretMask};
