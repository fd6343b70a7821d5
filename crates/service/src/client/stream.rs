//! The events and the result of a streaming tool as one stream.

use std::task::Poll;

use switchboard_design::Error;
use switchboard_protocol::Raw;

use super::{Arguments, Caller};
use crate::wire::{STREAM_NOTE, StreamNote};
use crate::{Cx, Event, EventReceiver, EventSink, Events, FromOutput, LostEvents, Working};

/// How many events of a stream may wait to be taken.
pub(crate) const WAITING: usize = 1024;

/// One item of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<T, R> {
    /// An event.
    Event(T),
    /// The result, which comes last.
    Result(R),
}

/// The events and the result of a streaming tool, in order. Dropping it cancels the call.
///
/// The call declares the extension that events need by itself, over any session.
pub struct CallStream<T, R> {
    events: EventReceiver<T>,
    state: State<R>,
}

enum State<R> {
    Calling(Working<R>),
    /// Answered; what came before the answer is taken first.
    Answered(Result<R, Error>),
    Over,
}

/// Returns a channel for the events of one call.
pub(crate) fn channel<T: Event>() -> (EventSink, EventReceiver<T>) {
    let (sender, receiver) = Events::channel(WAITING);
    (sender.into_sink(), receiver)
}

impl<T, R: FromOutput + 'static> CallStream<T, R> {
    /// Calls a streaming tool whose events go through this channel.
    pub(crate) fn call(
        caller: &Caller,
        tool: usize,
        args: Arguments,
        cx: Option<&Cx>,
        (sink, events): (EventSink, EventReceiver<T>),
    ) -> Self {
        let (caller, cx) = (caller.clone(), cx.cloned());
        let call: Working<R> =
            Box::pin(async move { caller.tool(tool, args, cx.as_ref(), Some(sink)).await });
        Self::of(events, call)
    }
}

impl<T, R> CallStream<T, R> {
    /// What a call that is under way tells through its events.
    pub(crate) fn of(events: EventReceiver<T>, call: Working<R>) -> Self {
        Self { events, state: State::Calling(call) }
    }

    /// Begins the call without waiting for anything.
    pub(crate) async fn begin(&mut self) {
        std::future::poll_fn(|cx| {
            if let State::Calling(call) = &mut self.state
                && let Poll::Ready(answer) = call.as_mut().poll(cx)
            {
                self.state = State::Answered(answer);
            }
            Poll::Ready(())
        })
        .await;
    }

    /// The next item; none after the result or an error of the call. After an event that cannot be read, others follow.
    ///
    /// # Errors
    /// What the server said instead of a result, an event that is not of this type, or that events were
    /// [lost](LostEvents).
    ///
    /// # Cancellation
    /// Nothing is lost when the future is dropped.
    pub async fn recv(&mut self) -> Result<Option<Item<T, R>>, Error> {
        if let State::Calling(call) = &mut self.state {
            let answer = tokio::select! {
                biased;
                Some(event) = self.events.next() => return event.map(|event| Some(Item::Event(event))),
                answer = call => answer,
            };
            // The call is gone with what it sends events through, so that they come to an end.
            self.state = State::Answered(answer);
        }
        if let State::Over = self.state {
            return Ok(None);
        }
        if let Some(event) = self.events.next().await {
            return event.map(|event| Some(Item::Event(event)));
        }
        match std::mem::replace(&mut self.state, State::Over) {
            State::Answered(answer) => answer.map(|result| Some(Item::Result(result))),
            State::Calling(_) | State::Over => Ok(None),
        }
    }

    /// As [`Self::recv`], the other way round: for `while let Some(item) = stream.next().await`.
    pub async fn next(&mut self) -> Option<Result<Item<T, R>, Error>> {
        self.recv().await.transpose()
    }
}

impl<T, R> std::fmt::Debug for CallStream<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallStream")
    }
}

/// Hears what is said about a call and hands its events on.
pub(crate) fn hearing(events: EventSink) -> impl FnMut(&str, Raw) + Send + 'static {
    let mut due = 0;
    move |method, params| {
        if method != STREAM_NOTE {
            return;
        }
        let heard = match params.decode::<StreamNote>() {
            Ok(note) => {
                if note.seq > due {
                    let _ = events.tell(Err(Error::internal(LostEvents::new(note.seq - due))));
                }
                due = note.seq.saturating_add(1);
                Ok(note.content)
            }
            Err(error) => {
                due += 1;
                Err(Error::Malformed(error))
            }
        };
        // Whoever does not hear events any more still wants the result.
        let _ = events.tell(heard);
    }
}
