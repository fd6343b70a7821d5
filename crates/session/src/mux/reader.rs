//! The reading task of a pipe: parses and dispatches every frame.
//!
//! Responses go to the table of requests in flight; all other messages go to a [`FrameHandler`], which differs between a
//! client and a server. The task yields after a bounded number of frames.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use switchboard_protocol::jsonrpc::{
    self, Envelope, MalformedMessage, Message, MetaCache, Notification, RecoveredMessage, Request, Response,
    Version,
};
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use crate::link::{Counters, Direction, Frame, Inlet, LinkError, Tap};
use crate::mux::Inflight;

/// Frames handled before the task yields.
const FRAMES_PER_TURN: usize = 64;

/// Handles the messages of the peer other than responses: the client's or the server's side of a connection.
pub(crate) trait FrameHandler: Send + 'static {
    /// Handles a request.
    fn request(&mut self, request: Request);
    /// Handles a notification.
    fn note(&mut self, note: Notification);
    /// Handles a batch. Returns the responses in it, where batches are allowed.
    fn batch(&mut self, elements: Vec<Result<Envelope, MalformedMessage>>) -> Vec<Response>;
    /// Handles a frame that is not a message.
    fn unreadable(&mut self, frame: &[u8], malformed: MalformedMessage);
    /// Handles a frame that the inlet dropped.
    fn lost(&mut self, recovered: RecoveredMessage, error: LinkError);
    /// Called after each group of frames: writes the responses that were enqueued for them.
    fn flush(&mut self) -> impl Future<Output = ()> + Send;
}

/// The reason why the reading task woke up.
enum ReaderEvent {
    Read(Result<(), LinkError>),
    WriteFailed(LinkError),
    GraceOver,
}

/// Writing has failed; reading goes on for a grace period.
struct WriteFailure {
    error: LinkError,
    /// Fires at the end of the grace period.
    grace_timer: Pin<Box<Sleep>>,
}

/// Reads until the pipe ends, and returns why it ended.
pub(crate) async fn read(
    mut inlet: Box<dyn Inlet>,
    mut flusher: JoinHandle<LinkError>,
    inflight: &Arc<Inflight>,
    counters: &Counters,
    grace: Duration,
    tap: Option<Tap>,
    handler: &mut impl FrameHandler,
) -> LinkError {
    // Most connections never receive more than one frame at a time.
    let mut frames = Vec::with_capacity(1);
    let mut dispatcher = FrameDispatcher { meta_cache: MetaCache::new(), inflight, counters, tap, handler };
    // Set when writing has failed: responses are still read for a grace period.
    let mut write_failure: Option<WriteFailure> = None;
    loop {
        let wakeup = poll_fn(|cx| {
            if let Poll::Ready(read) = inlet.poll_frames(cx, &mut frames) {
                return Poll::Ready(ReaderEvent::Read(read));
            }
            if let Some(write_failure) = &mut write_failure {
                return write_failure.grace_timer.as_mut().poll(cx).map(|()| ReaderEvent::GraceOver);
            }
            Pin::new(&mut flusher)
                .poll(cx)
                .map(|end| ReaderEvent::WriteFailed(end.unwrap_or(LinkError::Closed)))
        });
        let end = match wakeup.await {
            ReaderEvent::Read(read) => read.err(),
            ReaderEvent::WriteFailed(error) => {
                write_failure =
                    Some(WriteFailure { error, grace_timer: Box::pin(tokio::time::sleep(grace)) });
                continue;
            }
            ReaderEvent::GraceOver => write_failure.take().map(|write_failure| write_failure.error),
        };
        // No frame is held across an await: it would enlarge the future of every connection.
        while frames.len() >= FRAMES_PER_TURN {
            dispatcher.handle(frames.drain(..FRAMES_PER_TURN));
            dispatcher.handler.flush().await;
            tokio::task::yield_now().await;
        }
        dispatcher.handle(frames.drain(..));
        dispatcher.handler.flush().await;
        if let Some(end) = end {
            return end;
        }
    }
}

/// Parses frames and hands each message to the table of requests or to the handler.
struct FrameDispatcher<'a, A> {
    meta_cache: MetaCache,
    inflight: &'a Inflight,
    counters: &'a Counters,
    tap: Option<Tap>,
    handler: &'a mut A,
}

impl<A: FrameHandler> FrameDispatcher<'_, A> {
    fn handle(&mut self, frames: std::vec::Drain<'_, Frame>) {
        for frame in frames {
            match frame {
                Frame::Message(bytes) => {
                    if let Some(tap) = &self.tap {
                        tap.see(Direction::In, &bytes);
                    }
                    self.dispatch(bytes);
                }
                Frame::Lost { recovered, error } => {
                    self.counters.too_large();
                    self.handler.lost(recovered, error);
                }
            }
        }
    }

    fn dispatch(&mut self, frame: bytes::Bytes) {
        match jsonrpc::parse_with_cache(frame.clone(), &mut self.meta_cache) {
            Ok(Message::Single(Envelope::Response(response))) => self.complete(response),
            Ok(Message::Single(Envelope::Request(request))) => self.handler.request(request),
            Ok(Message::Single(Envelope::Notification(note))) => self.handler.note(note),
            Ok(Message::Batch(elements)) => {
                for response in self.handler.batch(elements) {
                    self.complete(response);
                }
            }
            Err(malformed) => self.handler.unreadable(&frame, malformed),
        }
    }

    fn complete(&self, response: Response) {
        if response.version == Version::Other {
            self.counters.unversioned();
        }
        self.inflight.complete(response.id, Ok(response.outcome));
    }
}
