//! The agents of __package__: a runtime they share, and a folder for each.
//!
//! Written once by `switchboard new --agent`; it is yours. Another agent is another folder and two lines here.

pub mod bootstrap;
#[path = "scribe/toolsets/notes/adapter.rs"]
pub mod notes;
#[path = "scribe/planner.rs"]
pub mod planner;
