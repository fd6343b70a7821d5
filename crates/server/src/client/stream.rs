//! The events and the result of a streaming tool as one stream.

use switchboard_design::Error;

use super::{Arguments, Caller};
use crate::{Cx, Event, EventReceiver, Events, FromOutput, Working};

/// One item of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<T, R> {
    /// An event.
    Event(T),
    /// The result, which comes last.
    Result(R),
}

/// The events and the result of a streaming tool, in order. Dropping it cancels the call.
pub struct CallStream<T, R> {
    events: EventReceiver<T>,
    call: Option<Working<R>>,
}

impl<T: Event, R: FromOutput + 'static> CallStream<T, R> {
    pub(crate) fn new(caller: Caller, tool: usize, args: Arguments, cx: Option<Cx>) -> Self {
        let (sender, events) = Events::<T>::channel(64);
        let call: Working<R> =
            Box::pin(async move { caller.tool(tool, args, cx.as_ref(), Some(sender.into_sink())).await });
        Self { events, call: Some(call) }
    }

    /// The next item; none after the result or an error.
    ///
    /// # Errors
    /// What the server said instead, or an event that is not of this type.
    pub async fn recv(&mut self) -> Result<Option<Item<T, R>>, Error> {
        let Some(call) = &mut self.call else { return Ok(None) };
        tokio::select! {
            biased;
            event = self.events.recv() => {
                if let Some(event) = event? {
                    return Ok(Some(Item::Event(event)));
                }
                let result = call.await;
                self.call = None;
                result.map(|result| Some(Item::Result(result)))
            }
            result = &mut *call => {
                self.call = None;
                result.map(|result| Some(Item::Result(result)))
            }
        }
    }
}

impl<T, R> std::fmt::Debug for CallStream<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallStream")
    }
}
