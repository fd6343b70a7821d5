//! Resource URIs: normalized once, matched by patterns, checked by a policy, and decoded to typed arguments.
//!
//! Invariant: policy and pattern use the same normalized [`ResourceUri`], so no spelling evades the policy.

mod glob;
mod pattern;
mod policy;
mod query;
mod resource_uri;
mod route;

pub use glob::GlobError;
pub use pattern::{PatternError, UriPattern};
pub use policy::UriPolicy;
pub use query::{coerce, decode_query, encode_query};
pub(crate) use query::{parse_integer, parse_number};
pub use resource_uri::{ResourceUri, UriError};
pub use route::{EncodeError, Route};
