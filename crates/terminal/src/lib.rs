//! What command lines for MCP need at a terminal. Shared by the command lines of services and by the `switchboard`
//! command.
//!
//! - [`sanitize`]: text of a server made safe to show.
//! - [`field`]: the fields of an elicitation form, parsed from what a person types.
//! - [`web_host`]: the host of a URL, with a warning where it can be mistaken for another.
//! - [`listing`]: the items of a service's design as text or JSON; [`check_lock`]: the design against its lock file.
//! - [`Paper`]: an output stream with its width and colors; [`Table`], [`wrap()`] and [`indented`] lay text out for it.
//! - [`Screen`]: standard error, shared by messages and one line of progress.
//! - [`Keyboard`]: lines of standard input, as something to await.
//! - [`Prompter`]: forms and URLs of a server, asked at the terminal; [`confirm`]: a yes-or-no question of our own.
//!
//! Knows the forms of the protocol and the design of a service; no sessions, no hosts, no HTTP.

pub mod field;
mod keyboard;
pub mod listing;
mod lock_check;
mod paper;
mod prompt;
pub mod sanitize;
mod screen;
mod size;
mod table;
pub mod web_host;
mod wrap;

pub use keyboard::Keyboard;
pub use lock_check::{LockCheckError, LockOutcome, check_lock};
pub use paper::Paper;
pub use prompt::{Confirmation, Prompter, confirm, is_interactive};
pub use screen::Screen;
pub use size::size;
pub use table::Table;
pub use wrap::{indented, wrap};
