//! The interface of a transport: links and exchanges.
//!
//! Independent of multiplexing, eras and methods.
//!
//! ```text
//!   session ── open(OutgoingRequest) ──▶ Link ──▶ Exchange ──▶ ExchangeEvent, ExchangeEvent, … Done
//!                             ▲
//!                the mux makes a Link of a Pipe { outlet, inlet }
//! ```

mod challenge;
mod counters;
mod dial;
mod error;
#[expect(clippy::module_inception, reason = "the trait this folder is named for")]
mod link;
mod memory;
mod observed_link;
mod outbox;
mod pending;
mod pipe;
mod queue;
mod traffic;

pub use challenge::{Challenge, LoginRequirement};
pub use counters::{Counters, Counts};
pub use dial::{Dial, DialStep, SingleLink};
pub use error::{LinkError, ServerExit, StartError, StartErrorKind, UnreachableKind};
pub(crate) use link::InboundQueue;
pub use link::{
    Agreement, BoxFuture, CloseOutcome, Exchange, ExchangeEvent, ExchangeKind, Inbound, InboundMessage,
    InboundNotification, InboundSender, Link, Mirror, OneWayMessage, OutgoingRequest, OwnedExchange,
    PeerHint, Upcall,
};
pub use memory::pair;
#[cfg(feature = "server")]
pub(crate) use observed_link::ObservedExchange;
pub use observed_link::{ObservedDial, TrafficTap};
pub(crate) use outbox::{Flush, LimitCheck, Outbox, OutboxLimits, StreamOffset};
pub(crate) use pending::ExchangeTable;
pub use pending::Pending;
pub use pipe::{Direction, Frame, Inlet, Outlet, Pipe, PipeGuard, Tap};
pub(crate) use queue::FramePart;
pub use queue::FrameQueue;
pub use traffic::{CallNumber, FrameBody, ObservedFrame, TrafficObserver, TrafficSource};
