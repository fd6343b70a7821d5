//! The one reading task of a pipe: every frame in, to whoever it is for.
//!
//! Answers go to the table of requests under way; the rest goes to an [`Attend`], which differs between a client
//! and a server. It handles a bounded number of frames, then lets others run.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use switchboard_protocol::jsonrpc::{
    self, Envelope, Familiar, Malformed, Message, Notification, Request, Response, Salvaged, Version,
};
use tokio::task::JoinHandle;

use crate::link::{Frame, Inlet, LinkError, Tap, Way};
use crate::peer::{Counters, Inflight};

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
    let mut frames = Vec::new();
    let mut familiar = Familiar::new();
    // Set when the far side has stopped reading: what it still answers is heard, for a while.
    let mut write_error: Option<LinkError> = None;
    let mut grace_over = pin!(tokio::time::sleep(Duration::MAX));
    loop {
        let step = poll_fn(|cx| {
            if let Poll::Ready(read) = inlet.poll_frames(cx, &mut frames) {
                return Poll::Ready(Step::Read(read));
            }
            if write_error.is_some() {
                return grace_over.as_mut().poll(cx).map(|()| Step::GraceOver);
            }
            std::pin::Pin::new(&mut flusher)
                .poll(cx)
                .map(|end| Step::WriteFailed(end.unwrap_or(LinkError::Closed)))
        })
        .await;
        let end = match step {
            Step::Read(read) => read.err(),
            Step::WriteFailed(error) => {
                grace_over.as_mut().reset(tokio::time::Instant::now() + grace);
                write_error = Some(error);
                continue;
            }
            Step::GraceOver => write_error.clone(),
        };
        for (count, frame) in frames.drain(..).enumerate() {
            match frame {
                Frame::Message(bytes) => {
                    if let Some(tap) = &tap {
                        tap.see(Way::In, &bytes);
                    }
                    dispatch(bytes, &mut familiar, inflight, counters, attend);
                }
                Frame::Lost { salvaged, error } => {
                    counters.too_large();
                    attend.lost(salvaged, error);
                }
            }
            if count % PASS == PASS - 1 {
                attend.passed().await;
                tokio::task::yield_now().await;
            }
        }
        attend.passed().await;
        if let Some(end) = end {
            return end;
        }
    }
}

fn dispatch(
    frame: bytes::Bytes,
    familiar: &mut Familiar,
    inflight: &Arc<Inflight>,
    counters: &Counters,
    attend: &mut impl Attend,
) {
    match jsonrpc::parse_after(frame.clone(), familiar) {
        Ok(Message::Single(Envelope::Response(response))) => answer(response, inflight, counters),
        Ok(Message::Single(Envelope::Request(request))) => attend.request(request),
        Ok(Message::Single(Envelope::Notification(note))) => attend.note(note),
        Ok(Message::Batch(elements)) => {
            for response in attend.batch(elements) {
                answer(response, inflight, counters);
            }
        }
        Err(malformed) => attend.unreadable(&frame, malformed),
    }
}

fn answer(response: Response, inflight: &Arc<Inflight>, counters: &Counters) {
    if response.version == Version::Other {
        counters.unversioned();
    }
    inflight.complete(response.id, Ok(response.outcome));
}
