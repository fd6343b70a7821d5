//! The events and the result of a streaming tool as one stream.

use std::task::Poll;

use switchboard_design::Error;
use switchboard_protocol::Raw;

use super::{CallArguments, ServiceCaller};
use crate::wire::{STREAM_NOTIFICATION, StreamNotification};
use crate::{CallFuture, Cx, EventReceiver, EventSink, Events, FromOutput, LostEvents, StreamEvent};

/// Buffer size for the events of a stream.
pub(crate) const EVENT_BUFFER: usize = 1024;

/// An item of a [`CallStream`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamItem<T, R> {
    /// An event.
    Event(T),
    /// The result, which is the last item.
    Result(R),
}

/// The events and the result of a streaming tool, in order. Dropping it cancels the call.
///
/// The call declares the stream extension itself, over any session.
pub struct CallStream<T, R> {
    events: EventReceiver<T>,
    state: CallState<R>,
}

enum CallState<R> {
    Calling(CallFuture<R>),
    /// Answered; earlier events are returned first.
    Answered(Result<R, Error>),
    Done,
}

/// Creates a channel for the events of one call.
pub(crate) fn channel<T: StreamEvent>() -> (EventSink, EventReceiver<T>) {
    let (sender, receiver) = Events::channel(EVENT_BUFFER);
    (sender.into_sink(), receiver)
}

impl<T, R: FromOutput + 'static> CallStream<T, R> {
    /// Calls a streaming tool whose events go through this channel.
    pub(crate) fn call(
        caller: &ServiceCaller,
        tool: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        (sink, events): (EventSink, EventReceiver<T>),
    ) -> Self {
        let (caller, cx) = (caller.clone(), cx.cloned());
        let call: CallFuture<R> =
            Box::pin(async move { caller.tool(tool, args, cx.as_ref(), Some(sink)).await });
        Self::new(events, call)
    }
}

impl<T, R> CallStream<T, R> {
    /// Combines a call with the receiver of its events.
    pub(crate) fn new(events: EventReceiver<T>, call: CallFuture<R>) -> Self {
        Self { events, state: CallState::Calling(call) }
    }

    /// Polls the call once, so that its request is sent.
    pub(crate) async fn poll_once(&mut self) {
        std::future::poll_fn(|cx| {
            if let CallState::Calling(call) = &mut self.state
                && let Poll::Ready(answer) = call.as_mut().poll(cx)
            {
                self.state = CallState::Answered(answer);
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Returns the next item; `None` after the result or an error of the call. The stream continues after an event
    /// that cannot be decoded.
    ///
    /// # Errors
    /// The error of the call, an event of another type, or [lost events](LostEvents).
    ///
    /// # Cancellation
    /// Cancel-safe: no item is lost.
    pub async fn recv(&mut self) -> Result<Option<StreamItem<T, R>>, Error> {
        if let CallState::Calling(call) = &mut self.state {
            let answer = tokio::select! {
                biased;
                Some(event) = self.events.next() => return event.map(|event| Some(StreamItem::Event(event))),
                answer = call => answer,
            };
            // Dropping the call dropped the sender, so the receiver ends.
            self.state = CallState::Answered(answer);
        }
        if let CallState::Done = self.state {
            return Ok(None);
        }
        if let Some(event) = self.events.next().await {
            return event.map(|event| Some(StreamItem::Event(event)));
        }
        match std::mem::replace(&mut self.state, CallState::Done) {
            CallState::Answered(answer) => answer.map(|result| Some(StreamItem::Result(result))),
            CallState::Calling(_) | CallState::Done => Ok(None),
        }
    }

    /// As [`Self::recv`], transposed for `while let Some(item) = stream.next().await`.
    pub async fn next(&mut self) -> Option<Result<StreamItem<T, R>, Error>> {
        self.recv().await.transpose()
    }
}

impl<T, R> std::fmt::Debug for CallStream<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallStream")
    }
}

/// Returns a notification handler that forwards the events of a call to a sink.
pub(crate) fn notification_handler(events: EventSink) -> impl FnMut(&str, Raw) + Send + 'static {
    let mut next_seq = 0;
    move |method, params| {
        if method != STREAM_NOTIFICATION {
            return;
        }
        let event = match params.decode::<StreamNotification>() {
            Ok(note) => {
                if note.seq > next_seq {
                    let _ = events.forward(Err(Error::internal(LostEvents::new(note.seq - next_seq))));
                }
                next_seq = note.seq.saturating_add(1);
                Ok(note.content)
            }
            Err(error) => {
                next_seq += 1;
                Err(Error::Malformed(error))
            }
        };
        // The result is still wanted if the event receiver is gone.
        let _ = events.forward(event);
    }
}
