//! The one reading task of a pipe: every frame in, to whoever it is for.
//!
//! Answers go to the table of requests under way; the rest goes to an [`Attend`], which differs between a client
//! and a server. It handles a bounded number of frames, then lets others run.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use switchboard_protocol::jsonrpc::{
    self, Envelope, Malformed, Message, MetaCache, Notification, Request, Response, Salvaged, Version,
};
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use crate::link::{Counters, Direction, Frame, Inlet, LinkError, Tap};
use crate::mux::Inflight;

/// Frames handled before other tasks get a turn.
const PASS: usize = 64;

/// What a side does with what the other side starts.
pub(crate) trait Attend: Send + 'static {
    /// A request.
    fn request(&mut self, request: Request);
    /// A notification.
    fn note(&mut self, note: Notification);
    /// An array of messages. Returns the answers in it, where arrays are allowed.
    fn batch(&mut self, elements: Vec<Result<Envelope, Malformed>>) -> Vec<Response>;
    /// A frame that is no message.
    fn unreadable(&mut self, frame: &[u8], malformed: Malformed);
    /// A frame that could not be taken.
    fn lost(&mut self, salvaged: Salvaged, error: LinkError);
    /// All frames of one pass are handled: send what has gathered.
    fn passed(&mut self) -> impl Future<Output = ()> + Send;
}

enum Step {
    Read(Result<(), LinkError>),
    WriteFailed(LinkError),
    GraceOver,
}

/// The far side has stopped reading.
struct Leaving {
    error: LinkError,
    /// When what it still answers is no longer waited for.
    over: Pin<Box<Sleep>>,
}

/// Reads until the pipe ends, and says how it did.
pub(crate) async fn read(
    mut inlet: Box<dyn Inlet>,
    mut flusher: JoinHandle<LinkError>,
    inflight: &Arc<Inflight>,
    counters: &Counters,
    grace: Duration,
    tap: Option<Tap>,
    attend: &mut impl Attend,
) -> LinkError {
    // One at a time is what most connections ever have.
    let mut frames = Vec::with_capacity(1);
    let mut desk = Desk { meta_cache: MetaCache::new(), inflight, counters, tap, attend };
    // Set when the far side has stopped reading: what it still answers is heard, for a while.
    let mut leaving: Option<Leaving> = None;
    loop {
        let stirred = poll_fn(|cx| {
            if let Poll::Ready(read) = inlet.poll_frames(cx, &mut frames) {
                return Poll::Ready(Step::Read(read));
            }
            if let Some(leaving) = &mut leaving {
                return leaving.over.as_mut().poll(cx).map(|()| Step::GraceOver);
            }
            Pin::new(&mut flusher).poll(cx).map(|end| Step::WriteFailed(end.unwrap_or(LinkError::Closed)))
        });
        let end = match stirred.await {
            Step::Read(read) => read.err(),
            Step::WriteFailed(error) => {
                leaving = Some(Leaving { error, over: Box::pin(tokio::time::sleep(grace)) });
                continue;
            }
            Step::GraceOver => leaving.take().map(|leaving| leaving.error),
        };
        // No frame is held across a wait: what is, every connection has room for all the time.
        while frames.len() >= PASS {
            desk.handle(frames.drain(..PASS));
            desk.attend.passed().await;
            tokio::task::yield_now().await;
        }
        desk.handle(frames.drain(..));
        desk.attend.passed().await;
        if let Some(end) = end {
            return end;
        }
    }
}

/// Where frames are sorted.
struct Desk<'a, A> {
    meta_cache: MetaCache,
    inflight: &'a Inflight,
    counters: &'a Counters,
    tap: Option<Tap>,
    attend: &'a mut A,
}

impl<A: Attend> Desk<'_, A> {
    fn handle(&mut self, frames: std::vec::Drain<'_, Frame>) {
        for frame in frames {
            match frame {
                Frame::Message(bytes) => {
                    if let Some(tap) = &self.tap {
                        tap.see(Direction::In, &bytes);
                    }
                    self.dispatch(bytes);
                }
                Frame::Lost { salvaged, error } => {
                    self.counters.too_large();
                    self.attend.lost(salvaged, error);
                }
            }
        }
    }

    fn dispatch(&mut self, frame: bytes::Bytes) {
        match jsonrpc::parse_with_cache(frame.clone(), &mut self.meta_cache) {
            Ok(Message::Single(Envelope::Response(response))) => self.answer(response),
            Ok(Message::Single(Envelope::Request(request))) => self.attend.request(request),
            Ok(Message::Single(Envelope::Notification(note))) => self.attend.note(note),
            Ok(Message::Batch(elements)) => {
                for response in self.attend.batch(elements) {
                    self.answer(response);
                }
            }
            Err(malformed) => self.attend.unreadable(&frame, malformed),
        }
    }

    fn answer(&self, response: Response) {
        if response.version == Version::Other {
            self.counters.unversioned();
        }
        self.inflight.complete(response.id, Ok(response.outcome));
    }
}
