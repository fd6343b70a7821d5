//! One file for each command: what it asks of the session, and what it shows of the answer.

mod call;
mod complete;
mod demo;
mod info;
mod listen;
mod lists;
mod prompt;
mod prompts;
mod read;
mod resources;
mod run;
mod tools;

pub(crate) use run::run;
