//! One file for each command: what it asks of the session, and what it shows of the answer.

mod add;
mod approve;
mod call;
mod catalogue;
mod complete;
mod demo;
mod design;
mod doctor;
mod forget;
mod import;
mod info;
mod list;
mod listen;
mod lists;
mod new;
mod prompt;
mod prompts;
mod ps;
mod quickstart;
mod read;
mod resources;
mod routed;
mod run;
mod scripts;
mod status;
mod tools;
mod tour;
mod watch;
mod why;

pub(crate) use run::run;
