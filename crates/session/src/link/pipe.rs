//! A pipe: for bindings that multiplex all exchanges over one connection (stdio, HTTP+SSE of 2024, your own socket).
//!
//! A custom transport implements [`Outlet`] and [`Inlet`] and hands both over in a [`Pipe`]. Neither sees ids,
//! methods or calls: whole frames go out, whole frames come in.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use switchboard_protocol::jsonrpc::Salvaged;

use crate::link::{BoxFuture, CloseOutcome, LinkError, Queue};

/// Where frames leave. Only one task ever waits on it, so it keeps at most one waker.
pub trait Outlet: Send + 'static {
    /// Sends what it can of the queue. Ready when the queue is empty; pending when it must wait for room.
    ///
    /// Bytes taken from the queue are taken for good: a frame must never be written twice.
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Queue) -> Poll<Result<(), LinkError>>;

    /// Says to the far side that nothing more will come.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>>;
}

/// Where frames arrive.
pub trait Inlet: Send + 'static {
    /// Waits for bytes and adds all the complete frames of one read. An error says how the pipe ended, and is
    /// final. Frames added before the error still count.
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>>;
}

/// One thing that arrived.
#[derive(Debug)]
pub enum Frame {
    /// A whole frame: one message as text.
    Message(Bytes),
    /// A frame that could not be taken, with whatever is known of whose it was.
    Lost {
        /// What could be told of it all the same: its id, and whether it was a request.
        salvaged: Salvaged,
        /// Why it was not taken.
        error: LinkError,
    },
}

/// What keeps the far side alive, and ends it: the child process of a stdio pipe. Dropping it ends the far side
/// without waiting and without a runtime.
pub trait PipeGuard: Send + Sync + 'static {
    /// Ends the far side in order, after the outlet was closed, and says how that went.
    fn leave(&self, within: Duration) -> BoxFuture<'_, CloseOutcome>;

    /// Leaves ending the far side to a supervisor that outlives us, after the outlet was closed. Returns false where
    /// there is none: then [`Self::leave`] has to be waited for. After true, dropping this ends nothing.
    fn detach(&self) -> bool {
        false
    }
}

/// Both ends of a pipe.
pub struct Pipe {
    pub(crate) outlet: Box<dyn Outlet>,
    pub(crate) inlet: Box<dyn Inlet>,
    pub(crate) guard: Option<Box<dyn PipeGuard>>,
    pub(crate) tap: Option<Tap>,
}

impl Pipe {
    /// A pipe of these ends.
    pub fn new(outlet: impl Outlet, inlet: impl Inlet) -> Self {
        Self { outlet: Box::new(outlet), inlet: Box::new(inlet), guard: None, tap: None }
    }

    /// With something that ends the far side when the pipe is left or dropped.
    #[must_use]
    pub fn with_guard(mut self, guard: impl PipeGuard) -> Self {
        self.guard = Some(Box::new(guard));
        self
    }

    /// With a look at everything that goes by.
    #[must_use]
    pub fn with_tap(mut self, tap: Tap) -> Self {
        self.tap = Some(tap);
        self
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe").field("has_guard", &self.guard.is_some()).finish_non_exhaustive()
    }
}

/// Which way a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From us.
    Out,
    /// To us.
    In,
}

/// Sees every frame that goes by, before it is read or written. Called on the path of the message: be quick.
#[derive(Clone)]
pub struct Tap(Arc<See>);

type See = dyn Fn(Direction, &[u8]) + Send + Sync;

/// Two taps are equal if they are clones of each other.
impl PartialEq for Tap {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Tap {
    /// A tap that calls this.
    pub fn new(see: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    pub(crate) fn see(&self, direction: Direction, frame: &[u8]) {
        (self.0)(direction, frame);
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
