//! Client side of service events: subscribes, preserves order and reports lost events.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_design::{Design, Error, InvalidParams, Issue, ItemKind};
use switchboard_protocol::Raw;

use super::error::{CallTarget, to_error};
use super::stream::EVENT_BUFFER;
use super::{CallStream, ServiceCaller, StreamItem};
use crate::lossy_channel::{LossySender, lossy_channel};
use crate::wire::{EVENT_NOTIFICATION, EVENTS_METHOD, EventNotification, NOTIFY_PREFIX};
use crate::{EventReceiver, LostEvents};

/// One event of a service with an undecoded payload.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceEvent {
    /// The event's name in the design.
    pub name: String,
    /// The payload.
    pub data: Raw,
}

impl ServiceEvent {
    /// Decodes the payload.
    ///
    /// # Errors
    /// When the payload does not match the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.data.decode().map_err(Error::Malformed)
    }
}

/// A stream of service events, until it is dropped.
#[derive(Debug)]
pub struct ServiceEvents<T> {
    stream: CallStream<T, ()>,
}

impl<T> ServiceEvents<T> {
    pub(crate) fn new(stream: CallStream<T, ()>) -> Self {
        Self { stream }
    }

    /// Returns the next event; `None` after the server or the connection ended the stream.
    ///
    /// # Errors
    /// An error of the server, an event of another type, or [lost events](crate::LostEvents). The stream continues
    /// after the last two.
    ///
    /// # Cancellation
    /// Cancel-safe: no event is lost.
    pub async fn recv(&mut self) -> Result<Option<T>, Error> {
        match self.stream.recv().await? {
            Some(StreamItem::Event(event)) => Ok(Some(event)),
            Some(StreamItem::Result(())) | None => Ok(None),
        }
    }

    /// As [`Self::recv`], transposed for `while let Some(event) = events.next().await`.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        self.recv().await.transpose()
    }
}

impl ServiceCaller {
    /// Subscribes to one event of the service by its name in the design. The subscription takes effect shortly after
    /// this returns; events are processed while they are received.
    ///
    /// # Errors
    /// When the design has no such event.
    pub async fn events<T: DeserializeOwned + Send + 'static>(
        &self,
        name: &str,
    ) -> Result<ServiceEvents<T>, Error> {
        check_event_exists(&self.design, name)?;
        Ok(self.listen(decode_named(name)).await)
    }

    /// Subscribes to all events of the service.
    pub async fn listen_events(&self) -> ServiceEvents<ServiceEvent> {
        self.listen(decode_any).await
    }

    async fn listen<T: Send + 'static>(
        &self,
        decode: impl FnMut(EventNotification) -> Option<Result<T, Error>> + Send + 'static,
    ) -> ServiceEvents<T> {
        let (sender, receiver) = lossy_channel(EVENT_BUFFER);
        // Answered when the server ends the stream, possibly never.
        let call = self.session.raw_call(EVENTS_METHOD, Raw::empty_object()).timeout(Duration::MAX);
        let call = call.on_notification(notification_handler(sender, decode));
        let work = Box::pin(async move {
            let ended = call.await;
            ended.map(drop).map_err(|error| to_error(error, CallTarget::Other(EVENTS_METHOD), |_| None))
        });
        let mut stream = CallStream::new(EventReceiver::new(receiver), work);
        stream.poll_once().await;
        ServiceEvents::new(stream)
    }

    /// Publishes an event of the service to all listeners, where the server accepts that from clients.
    ///
    /// # Errors
    /// When the server rejects it, or the payload is invalid.
    pub async fn notify(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let (method, params) = publish_request(&self.design, name, payload)?;
        let answered = self.session.raw_call(method.as_str(), params).await;
        answered.map(drop).map_err(|error| to_error(error, CallTarget::Other(&method), |_| None))
    }

    /// As [`Self::notify`], as a notification without a response. A modern-era server receives notifications only
    /// over a pipe.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn notify_only(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let (method, params) = publish_request(&self.design, name, payload)?;
        let sent = self.session.notify(&method, Some(&params));
        sent.map_err(|error| to_error(error, CallTarget::Other(&method), |_| None))
    }
}

/// Returns the method and parameters that publish an event.
pub(crate) fn publish_request(
    design: &Design,
    name: &str,
    payload: &(impl Serialize + ?Sized),
) -> Result<(String, Raw), Error> {
    check_event_exists(design, name)?;
    let params = Raw::encode(payload)?;
    if !params.is_object() {
        let issue = Issue::new("", "an event that a client publishes must be an object");
        return Err(InvalidParams::from_issues(vec![issue]).into());
    }
    Ok((format!("{NOTIFY_PREFIX}{name}"), params))
}

pub(crate) fn check_event_exists(design: &Design, name: &str) -> Result<(), Error> {
    if design.notifications.iter().any(|known| known.name == name) {
        return Ok(());
    }
    Err(Error::unknown(ItemKind::Notification, name.to_owned()))
}

/// Decodes events of one name and skips others.
pub(crate) fn decode_named<T: DeserializeOwned>(
    name: &str,
) -> impl FnMut(EventNotification) -> Option<Result<T, Error>> + use<T> {
    let name = name.to_owned();
    move |note| (note.name == name).then(|| note.data.decode().map_err(Error::Malformed))
}

/// Passes every event on.
pub(crate) fn decode_any(note: EventNotification) -> Option<Result<ServiceEvent, Error>> {
    Some(Ok(ServiceEvent { name: note.name, data: note.data }))
}

/// Returns a notification handler that sends events to a channel, after `decode`.
pub(crate) fn notification_handler<T: Send + 'static>(
    sender: LossySender<T>,
    mut decode: impl FnMut(EventNotification) -> Option<Result<T, Error>> + Send + 'static,
) -> impl FnMut(&str, Raw) + Send + 'static {
    let mut next_seq = 0;
    move |method, params| {
        if method != EVENT_NOTIFICATION {
            return;
        }
        // If the receiver is gone, the call is about to be dropped.
        let _ = match params.decode::<EventNotification>() {
            Ok(note) => {
                let lost = note.lost.max(note.seq.saturating_sub(next_seq));
                next_seq = note.seq.saturating_add(1);
                if lost > 0 {
                    let _ = sender.try_send(Err(Error::internal(LostEvents::new(lost))));
                }
                decode(note).map_or(Ok(()), |event| sender.try_send(event))
            }
            Err(error) => sender.try_send(Err(Error::Malformed(error))),
        };
    }
}
