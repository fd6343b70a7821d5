//! The events of a streaming tool: sent while it works, typed on both sides.
//!
//! An [`Events`] is a parameter of the method. On the server it leads to the caller; a caller makes a pair with
//! [`Events::channel`] and keeps the receiving end.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard_design::{Error, OutputDef};
use switchboard_protocol::{Content, Raw};

use crate::Contents;
use crate::lane::{LaneReceiver, LaneSender, lane};
use crate::stream_json::{StreamJson, held_text};

/// What can be sent as an event: any data, or [`Contents`].
pub trait Event: Sized + Send + 'static {
    /// What it is, for the design.
    fn describe() -> Value;

    /// As content items.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn to_items(&self, json: StreamJson) -> Result<Vec<Content>, Error>;

    /// From content items, however they hold JSON.
    ///
    /// # Errors
    /// When they hold something else.
    fn from_items(items: Vec<Content>) -> Result<Self, Error>;
}

impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> Event for T {
    fn describe() -> Value {
        OutputDef::from_type::<T>().schema().cloned().unwrap_or(Value::Bool(true))
    }

    fn to_items(&self, json: StreamJson) -> Result<Vec<Content>, Error> {
        Ok(vec![json.item(&Raw::encode(self)?)?])
    }

    fn from_items(items: Vec<Content>) -> Result<Self, Error> {
        crate::output::from_text(items.iter().find_map(held_text).unwrap_or("null"))
    }
}

impl Event for Contents {
    fn describe() -> Value {
        Value::Bool(true)
    }

    fn to_items(&self, _: StreamJson) -> Result<Vec<Content>, Error> {
        Ok(self.blocks.clone())
    }

    fn from_items(items: Vec<Content>) -> Result<Self, Error> {
        Ok(Self::new(items))
    }
}

/// Where the events of one call go, whatever their type: to the wire, or nowhere.
#[derive(Clone, Default)]
pub struct EventSink {
    send: Option<Telling>,
    behind: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// How often whoever is behind is looked at again.
const PAUSE: Duration = Duration::from_millis(5);

/// Takes the content items of one event, or what came instead of it.
type Telling = Arc<dyn Fn(Result<Vec<Content>, Error>) -> Result<(), Error> + Send + Sync>;

impl EventSink {
    /// Nobody hears them.
    pub fn nowhere() -> Self {
        Self::default()
    }

    /// They go here, each as its content items.
    pub fn new(send: impl Fn(Vec<Content>) -> Result<(), Error> + Send + Sync + 'static) -> Self {
        // An error in the stream is for a typed receiver; here only events count.
        Self::hearing(move |items| items.map_or(Ok(()), &send))
    }

    /// They go here, and what came instead of one too.
    pub(crate) fn hearing(
        send: impl Fn(Result<Vec<Content>, Error>) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        Self { send: Some(Arc::new(send)), behind: None }
    }

    /// The same; nothing is sent while whoever hears it is behind.
    #[must_use]
    pub(crate) fn slowed_by(mut self, behind: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.behind = Some(Arc::new(behind));
        self
    }

    /// Waits until whoever hears it is not behind.
    async fn ready(&self) {
        if let Some(behind) = &self.behind {
            while behind() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Sends one event, or what came instead of it.
    ///
    /// # Errors
    /// When nobody hears it any more.
    #[cfg(feature = "client")]
    pub(crate) fn tell(&self, items: Result<Vec<Content>, Error>) -> Result<(), Error> {
        self.send.as_ref().map_or(Ok(()), |send| send(items))
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.send.is_some() { "EventSink(heard)" } else { "EventSink(nowhere)" })
    }
}

/// The events of one call of a streaming tool. As a parameter it makes the tool a streaming one.
pub struct Events<T> {
    way: Way<T>,
}

enum Way<T> {
    Wire { sink: EventSink, json: StreamJson, _event: PhantomData<fn(T)> },
    Channel(LaneSender<T>),
}

impl<T: Event> Events<T> {
    /// A pair for a caller: the events arrive at the other end, in order, and an error in the stream as one.
    ///
    /// Over the wire nobody can be made to wait: of events that come while `capacity` are not taken yet, the receiver
    /// gets the number, as an error with [`LostEvents`](crate::LostEvents) in it.
    pub fn channel(capacity: usize) -> (Self, EventReceiver<T>) {
        let (sender, receiver) = lane(capacity);
        (Self { way: Way::Channel(sender) }, EventReceiver { receiver })
    }

    /// Events that nobody hears.
    pub fn nowhere() -> Self {
        Self::to_sink(EventSink::nowhere(), StreamJson::default())
    }

    /// Events that go to a sink.
    pub fn to_sink(sink: EventSink, json: StreamJson) -> Self {
        Self { way: Way::Wire { sink, json, _event: PhantomData } }
    }

    /// Sends one event. Waits while whoever hears it is behind.
    ///
    /// # Errors
    /// When it cannot be written, or nobody will hear it any more.
    pub async fn send(&self, event: T) -> Result<(), Error> {
        match &self.way {
            Way::Wire { sink, json, .. } => match &sink.send {
                Some(send) => {
                    let items = event.to_items(*json)?;
                    sink.ready().await;
                    send(Ok(items))
                }
                None => Ok(()),
            },
            Way::Channel(sender) => sender.send(event).await,
        }
    }

    /// A sink that decodes what comes over the wire into these events: what a typed client hears with. What does not
    /// decode arrives as an error.
    pub fn into_sink(self) -> EventSink {
        match self.way {
            Way::Wire { sink, .. } => sink,
            Way::Channel(sender) => {
                EventSink::hearing(move |items| sender.offer(items.and_then(T::from_items)))
            }
        }
    }
}

impl<T> fmt::Debug for Events<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

/// Receives the events of one call.
#[derive(Debug)]
pub struct EventReceiver<T> {
    receiver: LaneReceiver<T>,
}

impl<T> EventReceiver<T> {
    /// Receives what comes out of a lane.
    #[cfg(feature = "client")]
    pub(crate) fn of(receiver: LaneReceiver<T>) -> Self {
        Self { receiver }
    }

    /// The next event; none once the call is over.
    ///
    /// # Errors
    /// What the server said instead of an event, or an event that is not of this type.
    pub async fn recv(&mut self) -> Result<Option<T>, Error> {
        self.next().await.transpose()
    }

    /// As [`Self::recv`], the other way round: for `while let Some(event) = events.next().await`.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        self.receiver.recv().await
    }
}
