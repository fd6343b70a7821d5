//! Command lines generated from a design: one for clients of a service, one for the service itself.
//!
//! ```text
//!   Design ── command ──▶ clap ──▶ given (arguments, checked) ──▶ run ──▶ a session ──▶ print
//!                                                                  └── ask: questions, at the terminal
//!   ServiceBuilder ── serve_cli ──▶ serve, design, list, call, read, prompt
//! ```
//!
//! Exit codes: 0 success, 1 link or protocol failure, 2 invalid command line or arguments, 3 user interaction
//! required, 4 tool failure.
//!
//! **Invariants.** No code is generated per tool: one engine interprets any design. Text from a server reaches the
//! terminal only through [`sanitize`]. Standard output carries results only, or protocol messages only while stdio is
//! served.

mod arguments;
mod command;
mod design;
mod error;
mod options;
mod print;
mod run;
mod serve;
mod target;
mod terminal_handler;

use switchboard_terminal::{listing as design_listing, sanitize};

pub use command::command;
pub use run::{run_cli, run_cli_with};
pub use switchboard_terminal::listing::listing;
