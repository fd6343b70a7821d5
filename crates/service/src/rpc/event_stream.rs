//! Response body with the events of a call and its result last.
//!
//! The body polls the call itself while it is read: nothing is spawned, a slow reader slows the method down, and a
//! disconnect cancels it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use switchboard_transport::http::server::encode_message_event;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::event_queue::CallEventQueue;

/// A call that resolves to its encoded response.
pub(crate) type ResponseFuture = Pin<Box<dyn Future<Output = String> + Send>>;

/// The body of a streamed response.
pub(crate) struct EventStreamBody {
    queue: CallEventQueue,
    /// `None` once it is done.
    work: Option<ResponseFuture>,
    last: Option<Bytes>,
    keep_alive: Interval,
}

impl EventStreamBody {
    pub(crate) fn new(queue: CallEventQueue, work: ResponseFuture, keep_alive: Duration) -> Self {
        let period = keep_alive.max(Duration::from_millis(1));
        let mut keep_alive = tokio::time::interval_at(Instant::now() + period, period);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { queue, work: Some(work), last: None, keep_alive }
    }
}

impl Body for EventStreamBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        // Sends queued events first, so that the method does not run ahead of its reader.
        if let Poll::Ready(text) = this.queue.poll_next(cx) {
            this.keep_alive.reset();
            return Poll::Ready(Some(Ok(Frame::data(text))));
        }
        if let Some(work) = &mut this.work
            && let Poll::Ready(answer) = work.as_mut().poll(cx)
        {
            this.work = None;
            this.last = Some(encode_message_event(answer.as_bytes()));
        }
        if let Poll::Ready(text) = this.queue.poll_next(cx) {
            this.keep_alive.reset();
            return Poll::Ready(Some(Ok(Frame::data(text))));
        }
        if this.work.is_none() {
            return Poll::Ready(this.last.take().map(|text| Ok(Frame::data(text))));
        }
        this.keep_alive.poll_tick(cx).map(|_| Some(Ok(Frame::data(Bytes::from_static(b":\n\n")))))
    }

    fn is_end_stream(&self) -> bool {
        self.work.is_none() && self.last.is_none()
    }
}

impl Drop for EventStreamBody {
    fn drop(&mut self) {
        self.queue.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(stream: EventStreamBody) -> String {
        let mut stream = Box::pin(stream);
        let mut text = Vec::new();
        while let Some(frame) = std::future::poll_fn(|cx| stream.as_mut().poll_frame(cx)).await {
            text.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        String::from_utf8(text).unwrap()
    }

    #[tokio::test]
    async fn events_precede_the_response() {
        let queue = CallEventQueue::new(100);
        let sends = queue.clone();
        let work = Box::pin(async move {
            sends.push("one ".into());
            tokio::task::yield_now().await;
            sends.push("two ".into());
            "{}".to_owned()
        });
        let stream = EventStreamBody::new(queue, work, Duration::from_secs(60));
        assert_eq!(text(stream).await, "one two data: {}\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn idle_streams_are_kept_alive_and_closed_queues_reject_events() {
        let work = Box::pin(async {
            tokio::time::sleep(Duration::from_secs(25)).await;
            "1".to_owned()
        });
        let queue = CallEventQueue::new(10);
        let stream = EventStreamBody::new(queue.clone(), work, Duration::from_secs(10));
        assert_eq!(text(stream).await, ":\n\n:\n\ndata: 1\n\n");
        assert!(queue.is_closed() && !queue.push("late".into()));
        let queue = CallEventQueue::new(10);
        assert!(queue.push("0123456789".into()));
        assert!(!queue.push("x".into()));
    }
}
