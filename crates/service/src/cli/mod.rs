//! The command line of a service, made from its design: one for its clients, one for itself.
//!
//! ```text
//!   Design ── command ──▶ clap ──▶ given (arguments, checked) ──▶ run ──▶ a session ──▶ print
//!                                                                  └── ask: questions, at the terminal
//!   ServiceBuilder ── serve_cli ──▶ serve, design, list, call, read, prompt
//! ```
//!
//! Exit codes: 0 fine, 1 the link or the protocol failed, 2 the command line or the arguments are wrong, 3 a person is
//! needed, 4 the tool failed.
//!
//! **Invariants.** Nothing is derived per tool: one engine reads any design. Text that a server wrote reaches the
//! terminal through [`sanitize`] only. Standard output holds results alone; while stdio is served, messages alone.

mod ask;
mod command;
mod design;
mod failure;
mod given;
mod options;
mod print;
mod run;
mod serve;
mod target;

use switchboard_terminal::{listing as listed, sanitize};

pub use command::command;
pub use run::{run_cli, run_cli_with};
pub use switchboard_terminal::listing::listing;
