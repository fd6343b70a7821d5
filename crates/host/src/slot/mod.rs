//! Slots: the shared state of one session each, between its connection task and its users. A server has one for its main
//! session, and one for each keyed session.

mod call_limiter;
mod handle;
mod keyed_sessions;
mod server_attributes;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod slot;
mod start_pause;
mod usage;

pub(crate) use handle::{ConnectionHandle, close_all};
pub(crate) use keyed_sessions::{KeyedSessions, NoSession, SessionBudget};
pub(crate) use server_attributes::ServerAttributes;
pub(crate) use slot::{DesiredState, InitialTools, RunState, Slot, Switch};
pub(crate) use usage::SlotUse;
