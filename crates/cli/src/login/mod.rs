//! Logging in to servers with OAuth: stored tokens for every command, and the login itself.
//!
//! | file | contents |
//! |---|---|
//! | `stored_logins` | the token store of this user |
//! | `login_overview` | the logins of this user |
//! | `terminal_channel` | the login page in a browser, its callback on a loopback port or pasted |
//! | `device_prompt`, `qr_code` | the code of a login on another device |
//! | `pasted_callback` | what a user pastes instead of a callback |
//! | `login_environment` | SSH, containers, WSL, displays; which program opens a browser |
//! | `browser` | opens a browser |
//! | `login_error` | errors of a login, with the option that helps |
//! | `server_probe` | one request, to see whether a server wants a login |
//! | `token_check`, `token_claims` | why a server refuses a token |
//! | `login_client` | the HTTP client of logins |
//! | `grant_summary` | a stored login in words and as JSON |

mod browser;
mod device_prompt;
mod grant_summary;
mod login_client;
mod login_environment;
mod login_error;
mod login_overview;
mod pasted_callback;
mod qr_code;
mod server_probe;
mod stored_logins;
mod terminal_channel;
mod token_check;
mod token_claims;

pub(crate) use browser::open as open_browser;
pub(crate) use device_prompt::TerminalDevicePrompt;
pub(crate) use grant_summary::{duration_text, expiry_text, login_json};
pub(crate) use login_client::http_client;
pub(crate) use login_environment::LoginEnvironment;
pub(crate) use login_error::explain_login_error;
pub(crate) use login_overview::LoginOverview;
pub(crate) use server_probe::{ProbeOutcome, probe, read_only_authorizer};
pub(crate) use stored_logins::{open_logins, open_store};
pub(crate) use switchboard::login::AccountSelector;
pub(crate) use terminal_channel::TerminalChannel;
pub(crate) use token_check::{TokenCheck, TokenVerdict, check_token};
