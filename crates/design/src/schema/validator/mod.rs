//! The JSON Schema validator of hosts, services and command lines, with a step budget.
//!
//! Schemas and values come from untrusted peers. A schema of 300 bytes can require 2^60 comparisons, so every visit of a
//! schema node at a value node, every comparison and all regular-expression work is charged to a budget. A value that
//! exceeds it is [`ValidationOutcome::OverBudget`]: not validated, but never a crash or a hang. Validation is synchronous;
//! the budget limits it to tens of milliseconds, so it needs no thread and delays a cancellation by no more than that.
//!
//! Supports all keywords of 2020-12, 2019-09 and drafts 4 to 7, with local references (`$ref`, `$anchor`, `$dynamicRef`,
//! embedded `$id`); a remote reference is a [`SchemaError`]. `pattern` follows ECMA-262 without lookaround and
//! backreferences: such patterns are not checked and are listed in [`Validator::unchecked`]. `format` is an annotation
//! unless [`ValidatorOptions::assert_formats`] is set.
//!
//! `compile.rs` compiles a schema to an arena of nodes (`node.rs`), with `index.rs` and `uri_reference.rs` for references;
//! `evaluate.rs` evaluates a value, with one file per type of value (`object.rs`, `array.rs`, `scalar.rs`) and
//! `applicators.rs` for in-place applicators. The official test suite and a comparison with the crate `jsonschema` run in
//! `interop/schema-oracle` (`cargo xtask ci --only schema-suite`).

mod applicators;
mod array;
mod bit_set;
mod compile;
#[cfg(feature = "regex")]
mod ecma_regex;
mod equality;
mod evaluate;
mod format;
mod index;
mod keywords;
mod messages;
mod node;
mod number;
mod object;
mod options;
#[cfg_attr(not(feature = "regex"), allow(dead_code, reason = "no pattern is compiled"))]
mod pattern;
mod scalar;
mod uri_reference;
mod visit_count;

#[cfg(test)]
mod adversarial;
#[cfg(test)]
mod tests;

pub use compile::{SchemaError, Validator};
pub use evaluate::{OverBudget, ValidationOutcome};
pub(super) use format::is_standard_format;
pub(super) use keywords::{KeywordContent, keyword_content};
pub use options::ValidatorOptions;
pub use pattern::PatternBudget;
