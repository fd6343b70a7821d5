//! A small server to try things on: every feature of the protocol once, in both eras, over stdin and stdout or HTTP.

mod prompts;
mod questions;
mod resources;
mod server;
mod tools;
mod web;

pub(crate) use server::{build, serve};
