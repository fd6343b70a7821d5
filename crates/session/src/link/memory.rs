//! In-memory pipes: two pipes in one process, connected to each other. Bounded; frames are passed without copying.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::link::{Frame, FrameQueue, Inlet, LinkError, Outlet, Pipe};

/// Frames that one direction holds before the writer waits.
const CAPACITY: usize = 1024;

/// Creates two connected pipes: each receives the frames that the other sends.
pub fn pair() -> (Pipe, Pipe) {
    let (left_to_right, right_to_left) =
        (Arc::new(FrameChannel::default()), Arc::new(FrameChannel::default()));
    let left = Pipe::new(MemoryOutlet(Arc::clone(&left_to_right)), MemoryInlet(Arc::clone(&right_to_left)));
    let right = Pipe::new(MemoryOutlet(right_to_left), MemoryInlet(left_to_right));
    (left, right)
}

/// One direction of a pair of pipes.
#[derive(Debug, Default)]
struct FrameChannel {
    state: Mutex<ChannelState>,
}

#[derive(Debug, Default)]
struct ChannelState {
    frames: VecDeque<Bytes>,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl FrameChannel {
    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

#[derive(Debug)]
struct MemoryOutlet(Arc<FrameChannel>);

#[derive(Debug)]
struct MemoryInlet(Arc<FrameChannel>);

impl Outlet for MemoryOutlet {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
        let mut state = self.0.state.lock();
        let outcome = loop {
            if state.closed {
                break Poll::Ready(Err(LinkError::lost("the other side is gone")));
            }
            if state.frames.len() >= CAPACITY {
                state.writer = Some(cx.waker().clone());
                break Poll::Pending;
            }
            match queue.pop_frame() {
                Some(frame) => state.frames.push_back(frame),
                None => break Poll::Ready(Ok(())),
            }
        };
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        outcome
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

impl Inlet for MemoryInlet {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        let mut state = self.0.state.lock();
        if state.frames.is_empty() {
            if state.closed {
                return Poll::Ready(Err(LinkError::lost("the other side is gone")));
            }
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        into.extend(state.frames.drain(..).map(Frame::Message));
        let writer = state.writer.take();
        drop(state);
        writer.inspect(Waker::wake_by_ref);
        Poll::Ready(Ok(()))
    }
}

impl Drop for MemoryOutlet {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Drop for MemoryInlet {
    fn drop(&mut self) {
        self.0.close();
    }
}
