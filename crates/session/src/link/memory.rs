//! Two pipes in one process, joined end to end: frames pass as they are, bounded, with no bytes copied.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::link::{Frame, Inlet, LinkError, Outlet, Pipe, Queue};

/// How many frames may lie between the two ends before the writer waits.
const ROOM: usize = 1024;

/// Two pipes: what goes into one comes out of the other.
pub fn pair() -> (Pipe, Pipe) {
    let (there, back) = (Arc::new(Hose::default()), Arc::new(Hose::default()));
    let left = Pipe::new(Sender(Arc::clone(&there)), Receiver(Arc::clone(&back)));
    let right = Pipe::new(Sender(back), Receiver(there));
    (left, right)
}

#[derive(Debug, Default)]
struct Hose {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Bytes>,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Hose {
    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

#[derive(Debug)]
struct Sender(Arc<Hose>);

#[derive(Debug)]
struct Receiver(Arc<Hose>);

impl Outlet for Sender {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Queue) -> Poll<Result<(), LinkError>> {
        let mut state = self.0.state.lock();
        let outcome = loop {
            if state.closed {
                break Poll::Ready(Err(LinkError::lost("the other side is gone")));
            }
            if state.frames.len() >= ROOM {
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

impl Inlet for Receiver {
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

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.0.close();
    }
}
