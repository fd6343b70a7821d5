//! What servers ask: answered at the terminal, or from what the user wrote beforehand.

mod keyboard;
mod scripted;
mod terminal;

use switchboard_terminal::field;
pub(crate) use switchboard_terminal::web_host;

pub(crate) use keyboard::Keyboard;
pub(crate) use scripted::{DECLARED, Nobody, Refused, Scripted};
pub(crate) use terminal::AtTerminal;
