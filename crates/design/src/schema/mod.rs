//! JSON Schema: normalization for clients, and validation.
//!
//! Clients support different subsets of JSON Schema, and many drop all tools of a server because of one unsupported
//! schema. Schemas returned by [`normalize_input`] and [`normalize_output`] avoid the known problems: no `$schema`, no `$ref`
//! or combination at the root, no `type` array, no `const`, no boolean schemas, no unknown `format`.
//!
//! Objects in arguments are closed at every level (`additionalProperties: false`) unless they say otherwise. Results stay
//! open, so that a service can add members later.
//!
//! Invariants: normalization is idempotent; keys are sorted, independent of the features of `serde_json`; every value that is
//! valid for the result of [`normalize_input`] is valid for the original schema, except for a choice at the root, whose
//! branches are merged; every value that is valid for the original of [`normalize_output`] is valid for its result.

mod canonical;
mod close_objects;
mod declared_order;
mod normalize;
mod pool;
mod simplify;
mod validation_issues;
mod validator;

pub use canonical::canonicalize;
pub(crate) use declared_order::declared_order_text;
pub use normalize::{NotAnObjectError, is_object, normalize_input, normalize_output, wrap_in_result};
pub use pool::SchemaPool;
pub(crate) use pool::definition_name;
pub(crate) use simplify::SchemaRole;
pub use validation_issues::validation_issues;
pub use validator::{OverBudget, PatternBudget, SchemaError, ValidationOutcome, Validator, ValidatorOptions};
