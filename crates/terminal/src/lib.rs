//! Terminal input and output for MCP command lines: the `switchboard` command and the command lines of services.
//!
//! - [`sanitize`]: makes untrusted text safe to show.
//! - [`field`]: the fields of an elicitation form, parsed from typed input.
//! - [`url_host`]: the host of a URL, with a warning about look-alike names.
//! - [`listing`]: the items of a service's design as text or JSON; [`check_lock`]: compares a design with its lock file.
//! - [`OutputStream`]: an output stream with its width and colors; [`TextTable`], [`wrap()`] and [`indented`] format
//!   text for it.
//! - [`Screen`]: standard error, shared by messages and one progress line.
//! - [`StdinLines`]: asynchronous lines of standard input.
//! - [`Prompter`]: asks the user the questions of a server (forms and URLs); [`confirm`]: asks a yes-or-no question of
//!   the command itself.
//!
//! Knows protocol forms and service designs, but no sessions, hosts or HTTP.

pub mod field;
pub mod listing;
mod lock_check;
mod output_stream;
mod prompt;
pub mod sanitize;
mod screen;
mod size;
mod stdin_lines;
mod table;
pub mod url_host;
mod wrap;

pub use lock_check::{LockCheckError, LockOutcome, check_lock};
pub use output_stream::OutputStream;
pub use prompt::{Confirmation, Prompter, confirm, is_interactive};
pub use screen::Screen;
pub use size::format_size;
pub use stdin_lines::StdinLines;
pub use table::TextTable;
pub use wrap::{indented, wrap};
