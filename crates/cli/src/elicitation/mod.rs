//! Handlers for the questions of servers: at the terminal, from answers given in advance, or refusing.

mod refusing;
mod scripted;
mod terminal;

use switchboard::client::HandlerCapabilities;
pub(crate) use switchboard_terminal::{StdinLines, url_host};

pub(crate) use refusing::{RefusalReason, RefusingHandler};
pub(crate) use scripted::ScriptedAnswers;
pub(crate) use terminal::TerminalHandler;

/// Capabilities declared to every server: always the same, so that its lists do not depend on a terminal.
pub(crate) const CAPABILITIES: HandlerCapabilities = HandlerCapabilities::none().with_forms().with_urls();
