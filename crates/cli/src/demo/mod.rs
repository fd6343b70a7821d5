//! A small server to try things on: every feature of the protocol once, in both eras, over stdin and stdout.

mod prompts;
mod questions;
mod resources;
mod server;
mod tools;

pub(crate) use server::serve;
