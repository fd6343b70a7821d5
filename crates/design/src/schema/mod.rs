//! Passes that make a JSON Schema one that every client can read.
//!
//! Clients are picky in different ways, and most drop all tools of a server for one schema they do not like. What comes
//! out of [`input`] and [`output`] has none of what is known to break one: no `$schema`, no `$ref` or combination at the
//! root, no `type` that is a list, no `const`, no boolean in the place of a schema, no foreign `format`.
//!
//! Objects in arguments are closed at every level (`additionalProperties: false`) unless they say otherwise; results stay
//! open, so that a service may add members to them.
//!
//! Invariants: a pass is idempotent; keys come out sorted, whatever features `serde_json` was built with; whatever fits
//! the result of [`input`] fits the schema that was given, but for roots that are a choice, which are merged; whatever
//! fits the schema given to [`output`] fits its result.

mod additional;
mod canonical;
mod defs;
mod fit;
mod ordered;
mod passes;
mod simplify;
mod validator;

pub use canonical::canonical;
pub use defs::Schemas;
pub(crate) use defs::name_of as referred_name;
pub use fit::misfits;
pub(crate) use ordered::ordered_text;
pub use passes::{NotAnObject, input, is_object, output, wrapped};
pub use validator::{OverBudget, PatternBudget, SchemaError, ValidationOutcome, Validator, ValidatorOptions};
