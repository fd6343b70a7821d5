//! The JSON Schema validator: every schema × value in the project is checked here, within a step budget.
//!
//! Schemas and values come from peers that are not trusted. A schema of 300 bytes can ask for 2^60 comparisons, so every
//! visit of a schema node at a value node, every comparison and all regular-expression work is charged to a budget, and
//! a value that exceeds it is [`ValidationOutcome::OverBudget`]: not validated, never a crash or a hang. Validation is
//! synchronous; the budget keeps it to some tens of milliseconds, so it needs no thread of its own and cannot hold up a
//! cancellation for longer than that.
//!
//! Knows all keywords of 2020-12, 2019-09 and drafts 4 to 7, with local references (`$ref`, `$anchor`, `$dynamicRef`,
//! embedded `$id`); a remote reference is a [`SchemaError`]. `pattern` follows ECMA-262, but for lookaround and
//! backreferences: such a pattern is not checked and listed in [`Validator::unchecked`]. `format` is an annotation
//! unless [`ValidatorOptions::assert_formats`] is set.
//!
//! `compile.rs` turns a schema into an arena of nodes (`node.rs`), with `index.rs` and `uri.rs` for references;
//! `run.rs` evaluates it, with one file per kind of value (`object.rs`, `array.rs`, `scalar.rs`) and `choice.rs` for
//! keywords that apply schemas in place. The official test suite and a comparison with the crate `jsonschema` run in
//! `interop/schema-oracle` (`cargo xtask ci --only schema-suite`).

mod array;
mod bits;
mod choice;
mod compile;
mod effort;
mod equal;
mod format;
mod index;
mod keywords;
mod node;
mod number;
mod object;
mod options;
#[cfg_attr(not(feature = "regex"), allow(dead_code, reason = "no pattern is compiled"))]
mod pattern;
mod run;
mod scalar;
#[cfg(feature = "regex")]
mod translate;
mod uri;
mod wording;

#[cfg(test)]
mod adversarial;
#[cfg(test)]
mod tests;

pub use compile::{SchemaError, Validator};
pub use options::ValidatorOptions;
pub use pattern::PatternBudget;
pub use run::{OverBudget, ValidationOutcome};
