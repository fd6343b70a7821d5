//! Logging in to servers with OAuth: stored tokens for every command, and the login itself.
//!
//! | file | contents |
//! |---|---|
//! | `stored_logins` | the token store of this user, and authorizers that use it |
//! | `terminal_channel` | the login page in a browser, its callback on a loopback port or pasted |
//! | `browser` | opens a browser, or explains why no browser can be opened |

mod browser;
mod stored_logins;
mod terminal_channel;

pub(crate) use stored_logins::{StoredLogins, open_store};
pub(crate) use terminal_channel::TerminalChannel;
