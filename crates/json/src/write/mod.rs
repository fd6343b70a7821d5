//! Writing compact JSON: byte for byte what `serde_json` writes, with a fraction of the work.
//!
//! The text goes straight into a `String`, so nobody has to check afterwards that it is UTF-8, and strings are copied
//! in the largest pieces that need no escape. What is rare (floats, 128 bits, bytes) is left to `serde_json` itself.
//!
//! Invariant: whatever `serde_json` accepts is accepted and gives the same text. Knows nothing of MCP.

mod compound;
mod escape;
mod key;
mod rare;
mod refuse;
mod token;
mod trust;
mod verbatim;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use escape::{escaped, quoted};
pub(crate) use key::write_key;
pub(crate) use token::raw_token;
pub(crate) use trust::trust;
pub(crate) use verbatim::OWN_TOKEN;
pub(crate) use writer::write;
