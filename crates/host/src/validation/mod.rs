//! Whether arguments and results fit the schemas of a tool.

mod flat;
mod validate;
mod weight;

pub(crate) use validate::Checks;
pub use validate::Validation;
