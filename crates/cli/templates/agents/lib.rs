//! The agents of __package__: a runtime they share, and a folder for each.
//!
//! Written once by `switchboard new --agent`; it is yours. Another agent is another folder and one line here.

pub mod bootstrap;
pub mod operator;
