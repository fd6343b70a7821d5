//! URIs of resources: normalised once, matched by patterns, gated by a policy, and typed by parameters.
//!
//! Invariant: policy and pattern read the same [`ResourceUri`], so nothing is allowed in one spelling and read in
//! another.

mod address;
mod glob;
mod pattern;
mod policy;
mod query;
mod route;

pub use address::{ResourceUri, UriError};
pub use glob::GlobError;
pub use pattern::{PatternError, UriPattern};
pub use policy::UriPolicy;
pub use query::{coerce, decode_query, encode_query};
pub use route::{EncodeError, Route};
