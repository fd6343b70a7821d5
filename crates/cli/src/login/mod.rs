//! Logging in to servers with OAuth: stored tokens for every command, and the login itself.
//!
//! | file | contents |
//! |---|---|
//! | `stored_logins` | the token store of this user, and authorizers that use it |
//! | `terminal_channel` | the login page in a browser, its callback on a loopback port or pasted |
//! | `pasted_callback` | what a user pastes instead of a callback |
//! | `login_environment` | SSH, containers, WSL, displays; which program opens a browser |
//! | `browser` | opens a browser |
//! | `grant_summary` | a stored login in words and as JSON |

mod browser;
mod grant_summary;
mod login_environment;
mod pasted_callback;
mod stored_logins;
mod terminal_channel;

pub(crate) use grant_summary::{expiry_text, login_json};
pub(crate) use login_environment::LoginEnvironment;
pub(crate) use stored_logins::{StoredLogins, open_store};
pub(crate) use terminal_channel::TerminalChannel;
