//! A serde serializer for compact JSON: the same bytes as `serde_json`, with a fraction of the work.
//!
//! Writes into a `String`, so that no UTF-8 check is needed afterwards, and copies strings in the longest runs that
//! need no escape. Rare values (floats, 128-bit integers) are delegated to `serde_json`.
//!
//! Invariant: every value that `serde_json` accepts is accepted and gives the same text. Knows nothing of MCP.

mod compound;
mod escape;
mod fallback;
mod key;
mod raw_text;
mod raw_value;
mod token;
mod unsupported;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use escape::{write_escaped, write_quoted};
pub(crate) use key::write_key;
pub(crate) use raw_text::OWN_TOKEN;
pub(crate) use raw_value::as_raw_value;
pub(crate) use token::serde_json_raw_token;
pub(crate) use writer::write;
