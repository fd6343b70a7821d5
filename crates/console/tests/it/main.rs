//! Tests of the console over real sockets, and of its contract with the page.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in a helper")]

mod admission;
mod assets;
mod client;
mod copied_calls;
mod events;
mod keys;
mod limits;
mod page_types;
mod read_only;
mod type_script;
