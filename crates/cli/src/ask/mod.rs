//! What servers ask: answered at the terminal, or from what the user wrote beforehand.

mod scripted;
mod terminal;

use switchboard_terminal::field;
pub(crate) use switchboard_terminal::{Keyboard, web_host};

pub(crate) use scripted::{DECLARED, Nobody, Refused, Scripted};
pub(crate) use terminal::AtTerminal;
