//! What a transport offers: exchanges. Knows no multiplexing, no era and no tool.
//!
//! ```text
//!   session ── open(Ask) ──▶ Link ──▶ Exchange ──▶ Event, Event, … Done
//!                             ▲
//!                a Pipe{outlet, inlet} is made one by the mux
//! ```

mod counters;
mod dial;
mod error;
#[expect(clippy::module_inception, reason = "the trait this folder is named for")]
mod link;
mod memory;
mod outbox;
mod pending;
mod pipe;
mod queue;

pub use counters::{Counters, Counts};
pub use dial::{Dial, Once, Rung};
pub use error::{Challenge, Exit, LinkError, NotStarted, StartFault, UnreachableKind};
pub(crate) use link::Lane;
pub use link::{
    Agreement, Ask, BoxFuture, CloseOutcome, Event, Exchange, Flow, Hint, Inbound, InboundSender, Inward,
    Life, Link, Mirror, Note, Post, Upcall,
};
pub use memory::pair;
pub(crate) use outbox::{Claim, Flush, Outbox, Room, Ticket};
pub(crate) use pending::ExchangeTable;
pub use pending::Pending;
pub use pipe::{Direction, Frame, Inlet, Outlet, Pipe, PipeGuard, Tap};
pub(crate) use queue::Part;
pub use queue::Queue;
