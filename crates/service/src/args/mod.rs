//! Arguments of methods, without a type for each method: what a method takes, and what one call gives it.
//!
//! Derived types for the arguments of every method would be most of what a service costs to compile.

mod given;
mod taken;

pub use given::{Argument, Given};
pub use taken::Args;
