//! A pipe: for bindings that multiplex all exchanges over one connection (stdio, HTTP+SSE of 2024, your own socket).
//!
//! A custom transport implements [`Outlet`] and [`Inlet`] and hands both over in a [`Pipe`]. Neither sees ids,
//! methods or calls: whole frames go out, whole frames come in.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use switchboard_protocol::jsonrpc::RecoveredMessage;

use crate::link::{BoxFuture, CloseOutcome, FrameQueue, LinkError};

/// The writing half of a pipe. Only one task ever waits for it, so it keeps at most one waker.
pub trait Outlet: Send + 'static {
    /// Sends as much of the queue as possible. Ready when the queue is empty; pending when it must wait for the peer.
    ///
    /// Bytes taken from the queue are not put back: a frame must never be written twice.
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>>;

    /// Signals the end of the stream to the peer.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>>;
}

/// The reading half of a pipe.
pub trait Inlet: Send + 'static {
    /// Waits for bytes and adds all complete frames of one read. An error says how the pipe ended and is final. Frames
    /// added before the error are still handled.
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>>;
}

/// One received frame.
#[derive(Debug)]
pub enum Frame {
    /// A whole frame: one message as text.
    Message(Bytes),
    /// A frame that was dropped, e.g. because it is too large.
    Lost {
        /// The parts of it that could be read: its id, and whether it was a request.
        recovered: RecoveredMessage,
        /// Why it was dropped.
        error: LinkError,
    },
}

/// Owns the peer of a pipe, e.g. the child process of a stdio pipe. Dropping it stops the peer without waiting and without
/// a runtime.
pub trait PipeGuard: Send + Sync + 'static {
    /// Stops the peer gracefully, after the outlet was closed, and returns how it ended.
    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome>;

    /// Leaves stopping the peer to a supervisor that outlives this process, after the outlet was closed. Returns false where
    /// there is no supervisor: then [`Self::close`] has to be awaited. After true, dropping this stops nothing.
    fn detach(&self) -> bool {
        false
    }
}

/// One side of a connection: an outlet for frames to the peer and an inlet for frames from it.
pub struct Pipe {
    pub(crate) outlet: Box<dyn Outlet>,
    pub(crate) inlet: Box<dyn Inlet>,
    pub(crate) guard: Option<Box<dyn PipeGuard>>,
    pub(crate) tap: Option<Tap>,
}

impl Pipe {
    /// Creates a pipe from its outlet and its inlet.
    pub fn new(outlet: impl Outlet, inlet: impl Inlet) -> Self {
        Self { outlet: Box::new(outlet), inlet: Box::new(inlet), guard: None, tap: None }
    }

    /// Sets the guard that stops the peer when the pipe is closed or dropped.
    #[must_use]
    pub fn with_guard(mut self, guard: impl PipeGuard) -> Self {
        self.guard = Some(Box::new(guard));
        self
    }

    /// Sets a tap that sees every frame.
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

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Outgoing.
    Out,
    /// Incoming.
    In,
}

/// A callback for every frame of a pipe, before it is parsed or written: also for lines that are no messages. Called on the
/// message path: it must return quickly. [`TrafficObserver`](crate::link::TrafficObserver) sees the messages of every binding.
#[derive(Clone)]
pub struct Tap {
    callback: Arc<TapCallback>,
    /// Whether it sees incoming frames only.
    is_inbound: bool,
}

type TapCallback = dyn Fn(Direction, &[u8]) + Send + Sync;

/// Two taps are equal if they are clones of each other.
impl PartialEq for Tap {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.callback, &other.callback)
    }
}

impl Tap {
    /// Creates a tap that calls `callback`.
    pub fn new(callback: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        Self { callback: Arc::new(callback), is_inbound: false }
    }

    /// Creates a tap that calls `callback` for incoming frames only: outgoing ones are not copied for it.
    pub fn inbound(callback: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self { callback: Arc::new(move |_, frame| callback(frame)), is_inbound: true }
    }

    /// Returns the tap of outgoing frames.
    pub(crate) fn outbound(tap: Option<&Self>) -> Option<Self> {
        tap.filter(|tap| !tap.is_inbound).cloned()
    }

    pub(crate) fn see(&self, direction: Direction, frame: &[u8]) {
        (self.callback)(direction, frame);
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
