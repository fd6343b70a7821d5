//! The attribute that makes a Rust trait the design of an MCP service.
//!
//! The story of an expansion: the trait is read into a `Service`, whose methods each have a role (`role.rs`) and
//! parameters (`param.rs`); all mistakes are gathered (`problems.rs`); then the trait is written out again, and, if
//! nothing was wrong, what serves and calls it (`expand/`). Everything written refers to `switchboard::__rt`.
//!
//! **Invariants.** The trait is always written out, so that an editor keeps working while something is wrong. The same
//! trait gives the same tokens. Names that are not for people are within a `const _`.

mod case;
mod docs;
mod expand;
mod json;
mod method;
mod nearest;
mod options;
mod param;
mod problems;
mod role;
mod service;
mod ty;
mod uri;

use proc_macro::TokenStream;

/// Makes a trait the design of a service.
#[proc_macro_attribute]
pub fn service(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::service(attr.into(), item.into()).into()
}
