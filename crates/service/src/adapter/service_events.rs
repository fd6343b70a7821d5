//! Events of the service: the `events/stream` request, and events published by clients.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_design::schema::validation_issues;
use switchboard_design::{Design, Error, InvalidParams, NotificationDef, RequestKind};
use switchboard_protocol::{EmptyResult, ErrorCode, Raw, RpcError};
use switchboard_session::server::layer::AccessEvent;
use switchboard_session::server::{self, HandlerOutcome};

use super::Core;
use super::broadcaster::Broadcaster;
use crate::options::BuilderOptions;
use crate::wire::{EVENT_NOTIFICATION, EVENTS_METHOD, EventNotification, NOTIFY_PREFIX};

/// Poll interval while a client is behind.
const BACKPRESSURE_POLL: Duration = Duration::from_millis(10);

impl Core {
    /// Handles a request that is not part of the protocol.
    pub(crate) fn handle_custom_request(
        self: &Arc<Self>,
        method: &str,
        params: Option<Raw>,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        if self.streams_events(method) {
            return self.stream_events(cx);
        }
        if let Some(event) = publishable_event(&self.design, &self.options, method) {
            return HandlerOutcome::Now(match self.publish_from_client(event, params) {
                Ok(()) => Ok(EmptyResult::default().into()),
                Err(error) => self.adapter_error_reply(&error, RequestKind::Other, &cx),
            });
        }
        if method == EVENTS_METHOD {
            // Nothing can publish, so a listener would wait forever.
            let reason = "this server publishes no events";
            return HandlerOutcome::error(RpcError::new(ErrorCode::METHOD_NOT_FOUND, reason));
        }
        HandlerOutcome::error(RpcError::method_not_found(method))
    }

    pub(crate) fn streams_events(&self, method: &str) -> bool {
        streams_events(&self.design, &self.options, method)
    }

    /// Handles a notification that is not part of the protocol.
    pub(crate) fn handle_notification(&self, method: &str, params: Option<&Raw>) {
        let Some(event) = publishable_event(&self.design, &self.options, method) else { return };
        let log = self.options.access_log().map(|log| {
            let mut event = AccessEvent::request(method);
            event.payload = params.cloned();
            log.begin(event)
        });
        let published = self.publish_from_client(event, params.cloned());
        if let Err(error) = &published {
            tracing::debug!(event = event.name, %error, "event of a client was rejected");
        }
        if let Some(log) = log {
            let to_rpc = |error: Error| RpcError::new(error.code(), error.to_string());
            log.end_raw(published.map(|()| Raw::empty_object()).map_err(to_rpc).as_ref());
        }
    }

    /// Validates and publishes an event from a client.
    fn publish_from_client(&self, event: &NotificationDef, params: Option<Raw>) -> Result<(), Error> {
        let data = params.unwrap_or_else(Raw::empty_object);
        let mut value: Value = data.decode().map_err(|error| Error::invalid_params(error.to_string()))?;
        if let Value::Object(members) = &mut value {
            // `_meta` belongs to the protocol, not to the payload.
            members.remove("_meta");
        }
        validate_event(&self.design, event, &value)?;
        publish_event(&self.options, &self.broadcaster, event, &Raw::from(value));
        Ok(())
    }

    /// Sends every event to the client until the request is cancelled.
    fn stream_events(&self, cx: server::RequestContext) -> HandlerOutcome {
        let listener = self.broadcaster.listen();
        HandlerOutcome::later(async move {
            // Never completes: cancellation or the end of the connection drops it.
            let mut seq = 0;
            loop {
                listener.wait().await;
                while cx.is_behind() {
                    tokio::time::sleep(BACKPRESSURE_POLL).await;
                }
                let Some((name, data, lost)) = listener.pop() else { continue };
                seq += lost;
                let note = EventNotification { request_id: cx.request_id().clone(), name, seq, data, lost };
                seq += 1;
                if let Ok(note) = Raw::encode(&note) {
                    cx.notify(EVENT_NOTIFICATION, Some(&note));
                }
            }
        })
    }
}

/// Returns whether the method subscribes to events of the design, and something can publish them.
pub(crate) fn streams_events(design: &Design, options: &BuilderOptions, method: &str) -> bool {
    method == EVENTS_METHOD && !design.notifications.is_empty() && options.publishes_events()
}

/// Returns the event that a client may publish with this method.
pub(crate) fn publishable_event<'a>(
    design: &'a Design,
    options: &BuilderOptions,
    method: &str,
) -> Option<&'a NotificationDef> {
    let name = method.strip_prefix(NOTIFY_PREFIX).filter(|_| options.accept_notifications)?;
    design.notifications.iter().find(|event| event.name == name)
}

/// Validates the payload of an event from a client.
pub(crate) fn validate_event(design: &Design, event: &NotificationDef, payload: &Value) -> Result<(), Error> {
    let issues = validation_issues(&design.types.bundle(&event.payload), payload);
    if issues.is_empty() { Ok(()) } else { Err(InvalidParams::from_issues(issues).into()) }
}

/// Publishes an event from a client to the listeners of every server of the service.
pub(crate) fn publish_event(
    options: &BuilderOptions,
    broadcaster: &Broadcaster,
    event: &NotificationDef,
    data: &Raw,
) {
    // Every broadcaster is attached to the feeds, this one included.
    match options.feeds.first() {
        Some(feed) => feed.publish(&event.name, data),
        None => broadcaster.publish_event(&event.name, data),
    }
}
