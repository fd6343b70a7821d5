//! Arguments of methods without a generated type per method: `builder.rs` builds the schema, `reader.rs` decodes a
//! call.
//!
//! Deriving a struct for the arguments of every method would dominate the compile time of a service.

mod builder;
mod reader;

pub use builder::ArgsBuilder;
pub use reader::{Argument, ArgumentReader};
