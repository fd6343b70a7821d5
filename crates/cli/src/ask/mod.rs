//! What servers ask: answered at the terminal, or from what the user wrote beforehand.

mod field;
mod keyboard;
mod scripted;
mod terminal;

pub(crate) use keyboard::Keyboard;
pub(crate) use scripted::{Refused, Scripted};
pub(crate) use terminal::AtTerminal;
