//! Events of a streaming tool: sent during the call, typed on both sides.
//!
//! [`Events`] is a parameter of the method. On the server it sends to the caller; a client creates a channel with
//! [`Events::channel`] and keeps the receiver.

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
use crate::lossy_channel::{LossyReceiver, LossySender, lossy_channel};
use crate::stream_json::{StreamJson, item_text};

/// A type that can be sent as an event of a streaming tool: any data, or [`Contents`].
pub trait StreamEvent: Sized + Send + 'static {
    /// Describes the type for the design.
    fn describe() -> Value;

    /// Encodes the event as content items.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn to_items(&self, json: StreamJson) -> Result<Vec<Content>, Error>;

    /// Decodes content items in any [`StreamJson`] encoding.
    ///
    /// # Errors
    /// When the items do not match the type.
    fn from_items(items: Vec<Content>) -> Result<Self, Error>;
}

impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> StreamEvent for T {
    fn describe() -> Value {
        OutputDef::from_type::<T>().schema().cloned().unwrap_or(Value::Bool(true))
    }

    fn to_items(&self, json: StreamJson) -> Result<Vec<Content>, Error> {
        Ok(vec![json.item(&Raw::encode(self)?)?])
    }

    fn from_items(items: Vec<Content>) -> Result<Self, Error> {
        crate::output::from_text(items.iter().find_map(item_text).unwrap_or("null"))
    }
}

impl StreamEvent for Contents {
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

/// Untyped destination of the events of one call: the wire, or nowhere.
#[derive(Clone, Default)]
pub struct EventSink {
    send: Option<SendItems>,
    is_behind: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// Poll interval while the receiver is behind.
const BACKPRESSURE_POLL: Duration = Duration::from_millis(5);

/// Takes the content items of one event, or the error that replaces it.
type SendItems = Arc<dyn Fn(Result<Vec<Content>, Error>) -> Result<(), Error> + Send + Sync>;

impl EventSink {
    /// Creates a sink that discards all events.
    pub fn discard() -> Self {
        Self::default()
    }

    /// Creates a sink that passes the content items of each event to `send`.
    pub fn new(send: impl Fn(Vec<Content>) -> Result<(), Error> + Send + Sync + 'static) -> Self {
        // Errors in the stream are for typed receivers.
        Self::with_errors(move |items| items.map_or(Ok(()), &send))
    }

    /// Creates a sink that also receives errors in the stream.
    pub(crate) fn with_errors(
        send: impl Fn(Result<Vec<Content>, Error>) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        Self { send: Some(Arc::new(send)), is_behind: None }
    }

    /// Makes senders wait while `is_behind` returns true.
    #[must_use]
    pub(crate) fn with_backpressure(mut self, is_behind: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.is_behind = Some(Arc::new(is_behind));
        self
    }

    /// Waits until the receiver has caught up.
    async fn wait_until_caught_up(&self) {
        if let Some(is_behind) = &self.is_behind {
            while is_behind() {
                tokio::time::sleep(BACKPRESSURE_POLL).await;
            }
        }
    }

    /// Forwards one event, or the error that replaces it.
    ///
    /// # Errors
    /// When the receiver is gone.
    #[cfg(feature = "client")]
    pub(crate) fn forward(&self, items: Result<Vec<Content>, Error>) -> Result<(), Error> {
        self.send.as_ref().map_or(Ok(()), |send| send(items))
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.send.is_some() { "EventSink(connected)" } else { "EventSink(discarding)" })
    }
}

/// Sends the events of one call. A tool with a parameter of this type is a streaming tool.
///
/// ```
/// use switchboard::service::{Events, Result};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// /// Counts.
/// #[switchboard::service(name = "counter", version = "1.0.0")]
/// pub trait Counter {
///     /// Counts down.
///     #[tool]
///     async fn count_down(&self, events: Events<u32>, from: u32) -> Result<()>;
/// }
///
/// struct Down;
///
/// impl Counter for Down {
///     async fn count_down(&self, events: Events<u32>, from: u32) -> Result<()> {
///         for number in (0..from).rev() {
///             events.send(number).await?;
///         }
///         Ok(())
///     }
/// }
///
/// let (events, mut received) = Events::channel(16);
/// Down.count_down(events, 2).await?;
/// assert_eq!(received.recv().await?, Some(1));
/// assert_eq!(received.recv().await?, Some(0));
/// # demo::done() });
/// ```
pub struct Events<T> {
    target: EventTarget<T>,
}

/// The receiver of events: a client over the wire, or a channel in this process.
enum EventTarget<T> {
    Wire { sink: EventSink, json: StreamJson, _event: PhantomData<fn(T)> },
    Channel(LossySender<T>),
}

impl<T: StreamEvent> Events<T> {
    /// Creates a channel for a client: events arrive in order, and errors in the stream as errors.
    ///
    /// A remote sender cannot be made to wait: while `capacity` events are pending, further ones are dropped, and the
    /// receiver gets their number as an error with [`LostEvents`](crate::LostEvents).
    pub fn channel(capacity: usize) -> (Self, EventReceiver<T>) {
        let (sender, receiver) = lossy_channel(capacity);
        (Self { target: EventTarget::Channel(sender) }, EventReceiver { receiver })
    }

    /// Creates a sender that discards all events.
    pub fn discard() -> Self {
        Self::to_sink(EventSink::discard(), StreamJson::default())
    }

    /// Creates a sender that writes to a sink.
    pub fn to_sink(sink: EventSink, json: StreamJson) -> Self {
        Self { target: EventTarget::Wire { sink, json, _event: PhantomData } }
    }

    /// Sends one event. Waits while the receiver is behind.
    ///
    /// # Errors
    /// When the event cannot be encoded, or the receiver is gone.
    pub async fn send(&self, event: T) -> Result<(), Error> {
        match &self.target {
            EventTarget::Wire { sink, json, .. } => match &sink.send {
                Some(send) => {
                    let items = event.to_items(*json)?;
                    sink.wait_until_caught_up().await;
                    send(Ok(items))
                }
                None => Ok(()),
            },
            EventTarget::Channel(sender) => sender.send(event).await,
        }
    }

    /// Converts the sender to a sink that decodes content items into events of this type. Decoding errors arrive as
    /// errors.
    pub fn into_sink(self) -> EventSink {
        match self.target {
            EventTarget::Wire { sink, .. } => sink,
            EventTarget::Channel(sender) => {
                EventSink::with_errors(move |items| sender.try_send(items.and_then(T::from_items)))
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
    receiver: LossyReceiver<T>,
}

impl<T> EventReceiver<T> {
    /// Wraps a channel receiver.
    #[cfg(feature = "client")]
    pub(crate) fn new(receiver: LossyReceiver<T>) -> Self {
        Self { receiver }
    }

    /// Returns the next event; `None` after the call has ended.
    ///
    /// # Errors
    /// The error that the server sent instead of an event, or an event of another type.
    pub async fn recv(&mut self) -> Result<Option<T>, Error> {
        self.next().await.transpose()
    }

    /// As [`Self::recv`], transposed for `while let Some(event) = events.next().await`.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        self.receiver.recv().await
    }
}
