//! Validation of arguments and results against the schemas of a tool.

mod decoded_size;
mod flat_schema;
mod validate;

pub(crate) use validate::ToolValidators;
pub use validate::Validation;
