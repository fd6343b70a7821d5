//! Events of the service: `events/stream`, and what clients may publish themselves.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_design::schema::validation_issues;
use switchboard_design::{Error, InvalidParams, RequestKind};
use switchboard_protocol::{EmptyResult, ErrorCode, Raw, RpcError};
use switchboard_session::server::{self, HandlerOutcome, Reply};

use super::Core;
use super::logging::{About, Logged};
use crate::wire::{EVENT_NOTE, EVENTS_METHOD, EventNote, NOTIFY_PREFIX};

/// How often a client that is behind is looked at again.
const PAUSE: Duration = Duration::from_millis(10);

impl Core {
    /// A request that no revision knows.
    pub(crate) fn other(
        self: &Arc<Self>,
        method: &str,
        params: Option<Raw>,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        if self.streams_events(method) {
            return self.stream_events(cx);
        }
        if let Some(event) = self.accepted(method) {
            let log = Logged::begin(&self.options, About::named("notify", event).of(&cx), params.as_ref());
            let reply: Reply = match self.publish(event, params) {
                Ok(()) => Ok(EmptyResult::default().into()),
                Err(error) => self.refuse(&error, RequestKind::Other, &cx),
            };
            if let Some(log) = log {
                log.end(&reply);
            }
            return HandlerOutcome::Now(reply);
        }
        if method == EVENTS_METHOD {
            // A listener would wait forever.
            let reason = "this server publishes no events";
            return HandlerOutcome::error(RpcError::new(ErrorCode::METHOD_NOT_FOUND, reason));
        }
        HandlerOutcome::error(RpcError::method_not_found(method))
    }

    /// Whether a method is the stream of events, and something can publish any.
    pub(crate) fn streams_events(&self, method: &str) -> bool {
        method == EVENTS_METHOD && !self.design.notifications.is_empty() && self.options.publishes_events()
    }

    /// The event that a client may publish under this name.
    fn accepted<'a>(&self, method: &'a str) -> Option<&'a str> {
        let event = method.strip_prefix(NOTIFY_PREFIX).filter(|_| self.options.accept_notifications)?;
        self.design.notifications.iter().any(|known| known.name == event).then_some(event)
    }

    /// A notification that no revision knows.
    pub(crate) fn heard(&self, method: &str, params: Option<&Raw>) {
        let Some(event) = self.accepted(method) else { return };
        let log = Logged::begin(&self.options, About::named("notify", event), params);
        let published = self.publish(event, params.cloned());
        if let Err(error) = &published {
            tracing::debug!(event, %error, "an event of a client was not published");
        }
        if let Some(log) = log {
            let told = |error: Error| RpcError::new(error.code(), error.to_string());
            log.end(&published.map(|()| EmptyResult::default().into()).map_err(told));
        }
    }

    /// Publishes what a client sent.
    fn publish(&self, event: &str, params: Option<Raw>) -> Result<(), Error> {
        let data = params.unwrap_or_else(Raw::empty_object);
        let mut value: Value = data.decode().map_err(|error| Error::invalid_params(error.to_string()))?;
        if let Value::Object(members) = &mut value {
            // The protocol's own, and no part of the event.
            members.remove("_meta");
        }
        if let Some(known) = self.design.notifications.iter().find(|known| known.name == event) {
            let issues = validation_issues(&self.design.types.bundle(&known.payload), &value);
            if !issues.is_empty() {
                return Err(InvalidParams::from_issues(issues).into());
            }
        }
        let data = Raw::from(value);
        // Every server of the service tells it to its listeners, this one among them.
        match self.options.feeds.first() {
            Some(feed) => feed.publish(event, &data),
            None => self.board.publish(event, &data),
        }
        Ok(())
    }

    /// Tells of every event until the client has heard enough.
    fn stream_events(&self, cx: server::RequestContext) -> HandlerOutcome {
        let log = Logged::begin(&self.options, About::just(EVENTS_METHOD).of(&cx), None);
        let listening = self.board.listen();
        HandlerOutcome::later(async move {
            // It has no end of its own: cancelling it, or the end of the connection, drops it.
            let _log = log;
            let mut seq = 0;
            loop {
                listening.wait().await;
                while cx.is_behind() {
                    tokio::time::sleep(PAUSE).await;
                }
                let Some((name, data, lost)) = listening.take() else { continue };
                seq += lost;
                let note = EventNote { request_id: cx.request_id().clone(), name, seq, data, lost };
                seq += 1;
                if let Ok(note) = Raw::encode(&note) {
                    cx.notify(EVENT_NOTE, Some(&note));
                }
            }
        })
    }
}
