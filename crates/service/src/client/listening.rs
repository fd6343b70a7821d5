//! Events of the service itself: heard while somebody listens, in order, and never lost without a word.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_design::{Design, Error, InvalidParams, Issue, ItemKind};
use switchboard_protocol::Raw;

use super::failure::{Called, failed};
use super::stream::WAITING;
use super::{CallStream, Caller, Item};
use crate::lane::{LaneSender, lane};
use crate::wire::{EVENT_NOTE, EVENTS_METHOD, EventNote, NOTIFY_PREFIX};
use crate::{EventReceiver, LostEvents};

/// One event of a service, whatever it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceEvent {
    /// Its name in the design.
    pub name: String,
    /// What it carries.
    pub data: Raw,
}

impl ServiceEvent {
    /// What it carries, as this.
    ///
    /// # Errors
    /// When it is something else.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.data.decode().map_err(Error::Malformed)
    }
}

/// Events of a service, until it is dropped.
#[derive(Debug)]
pub struct ServiceEvents<T> {
    stream: CallStream<T, ()>,
}

impl<T> ServiceEvents<T> {
    pub(crate) fn new(stream: CallStream<T, ()>) -> Self {
        Self { stream }
    }

    /// The next event; none once the server or the connection is done with it.
    ///
    /// # Errors
    /// What the server said instead, an event that is not of this type, or that events were
    /// [lost](crate::LostEvents). After the last two others follow.
    ///
    /// # Cancellation
    /// Nothing is lost when the future is dropped.
    pub async fn recv(&mut self) -> Result<Option<T>, Error> {
        match self.stream.recv().await? {
            Some(Item::Event(event)) => Ok(Some(event)),
            Some(Item::Result(())) | None => Ok(None),
        }
    }

    /// As [`Self::recv`], the other way round: for `while let Some(event) = events.next().await`.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        self.recv().await.transpose()
    }
}

impl Caller {
    /// Listens for one of the service's events, by its name in the design. What is published from a moment after this
    /// returns on is heard; the events arrive while they are received.
    ///
    /// # Errors
    /// When the design has no such event.
    pub async fn events<T: DeserializeOwned + Send + 'static>(
        &self,
        name: &str,
    ) -> Result<ServiceEvents<T>, Error> {
        check_known(&self.design, name)?;
        Ok(self.listen(only(name)).await)
    }

    /// Listens for all of the service's events.
    pub async fn listen_events(&self) -> ServiceEvents<ServiceEvent> {
        self.listen(any).await
    }

    async fn listen<T: Send + 'static>(
        &self,
        read: impl FnMut(EventNote) -> Option<Result<T, Error>> + Send + 'static,
    ) -> ServiceEvents<T> {
        let (sender, receiver) = lane(WAITING);
        // It is answered when the server is done, which may be never.
        let call = self.session.raw_call(EVENTS_METHOD, Raw::empty_object()).timeout(Duration::MAX);
        let call = call.on_notification(hearing(sender, read));
        let work = Box::pin(async move {
            let ended = call.await;
            ended.map(drop).map_err(|error| failed(error, Called::Other(EVENTS_METHOD), |_| None))
        });
        let mut stream = CallStream::of(EventReceiver::of(receiver), work);
        stream.begin().await;
        ServiceEvents::new(stream)
    }

    /// Publishes one of the service's events to all who listen, where the server accepts that from clients.
    ///
    /// # Errors
    /// When the server does not, or the event does not fit.
    pub async fn notify(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let (method, params) = published(&self.design, name, payload)?;
        let answered = self.session.raw_call(method.as_str(), params).await;
        answered.map(drop).map_err(|error| failed(error, Called::Other(&method), |_| None))
    }

    /// As [`Self::notify`], without waiting for an answer: what becomes of it is not told. A server of the modern era
    /// hears only requests, unless it is at the other end of a pipe.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn notify_only(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let (method, params) = published(&self.design, name, payload)?;
        let sent = self.session.notify(&method, Some(&params));
        sent.map_err(|error| failed(error, Called::Other(&method), |_| None))
    }
}

/// The method that publishes an event, and its parameters.
pub(crate) fn published(
    design: &Design,
    name: &str,
    payload: &(impl Serialize + ?Sized),
) -> Result<(String, Raw), Error> {
    check_known(design, name)?;
    let params = Raw::encode(payload)?;
    if !params.is_object() {
        let issue = Issue::new("", "an event that a client publishes must be an object");
        return Err(InvalidParams::from_issues(vec![issue]).into());
    }
    Ok((format!("{NOTIFY_PREFIX}{name}"), params))
}

pub(crate) fn check_known(design: &Design, name: &str) -> Result<(), Error> {
    if design.notifications.iter().any(|known| known.name == name) {
        return Ok(());
    }
    Err(Error::unknown(ItemKind::Notification, name.to_owned()))
}

/// Reads one event and no other.
pub(crate) fn only<T: DeserializeOwned>(
    name: &str,
) -> impl FnMut(EventNote) -> Option<Result<T, Error>> + use<T> {
    let name = name.to_owned();
    move |note| (note.name == name).then(|| note.data.decode().map_err(Error::Malformed))
}

/// Reads every event.
pub(crate) fn any(note: EventNote) -> Option<Result<ServiceEvent, Error>> {
    Some(Ok(ServiceEvent { name: note.name, data: note.data }))
}

/// Hears the events of a service and hands on those that `read` reads.
pub(crate) fn hearing<T: Send + 'static>(
    sender: LaneSender<T>,
    mut read: impl FnMut(EventNote) -> Option<Result<T, Error>> + Send + 'static,
) -> impl FnMut(&str, Raw) + Send + 'static {
    let mut due = 0;
    move |method, params| {
        if method != EVENT_NOTE {
            return;
        }
        // Whoever does not receive any more is about to drop the call.
        let _ = match params.decode::<EventNote>() {
            Ok(note) => {
                let lost = note.lost.max(note.seq.saturating_sub(due));
                due = note.seq.saturating_add(1);
                if lost > 0 {
                    let _ = sender.offer(Err(Error::internal(LostEvents::new(lost))));
                }
                read(note).map_or(Ok(()), |event| sender.offer(event))
            }
            Err(error) => sender.offer(Err(Error::Malformed(error))),
        };
    }
}
