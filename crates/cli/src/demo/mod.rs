//! Demo server: every feature of the protocol once, in both eras, over stdio or HTTP.

mod http;
mod prompts;
mod questions;
mod resources;
mod server;
mod tools;

pub(crate) use server::{build, serve};
