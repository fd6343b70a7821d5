//! Notifications that followed requests which the server answers itself: `initialize`, subscriptions, log levels.

use std::future::poll_fn;
use std::task::Poll;

use parking_lot::Mutex;
use serde_json::Value;
use switchboard_session::server::{HandlerOutcome, IncomingRequest, Layer, Next, Publisher};

use crate::conversation::{Conversation, RecordedNotification, identifying_params};
use crate::pattern::PatternBindings;

/// Methods that reach no handler.
const BUILT_IN: [&str; 5] =
    ["subscriptions/listen", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping"];
/// Those that subscribe: one era has another method than the other.
const SUBSCRIBING: [&str; 2] = ["subscriptions/listen", "resources/subscribe"];
/// Requests that open a session: changes cannot be sent before the next request.
const OPENING: [&str; 2] = ["initialize", "server/discover"];

/// Layer that publishes recorded changes after the requests they followed.
pub(super) struct FollowUps {
    publisher: Publisher,
    recorded: Vec<FollowedRequest>,
    /// What followed the opening of the session, until the next request.
    // Held for a swap, never across an await.
    opening: Mutex<Vec<RecordedNotification>>,
}

/// A request, and the notifications that followed it.
struct FollowedRequest {
    method: String,
    params: Value,
    notifications: Vec<RecordedNotification>,
}

impl FollowUps {
    pub(super) fn new(conversation: &Conversation, publisher: Publisher) -> Self {
        let followed_by = |methods: &'static [&str]| {
            let of_methods =
                conversation.exchanges.iter().filter(|exchange| methods.contains(&exchange.method.as_str()));
            of_methods.filter(|exchange| !exchange.follow_ups.is_empty())
        };
        let recorded = followed_by(&BUILT_IN).map(|exchange| FollowedRequest {
            method: exchange.method.clone(),
            params: exchange.params.clone(),
            notifications: exchange.follow_ups.clone(),
        });
        let opening = followed_by(&OPENING).flat_map(|exchange| exchange.follow_ups.clone()).collect();
        Self { publisher, recorded: recorded.collect(), opening: Mutex::new(opening) }
    }

    /// Returns what followed a request.
    fn find(&self, request: &IncomingRequest) -> Vec<RecordedNotification> {
        if OPENING.contains(&request.method()) {
            return Vec::new();
        }
        let mut found = std::mem::take(&mut *self.opening.lock());
        if self.recorded.is_empty() || !BUILT_IN.contains(&request.method()) {
            return found;
        }
        let params = request.params().and_then(|params| serde_json::from_str(params.as_str()).ok());
        let params = identifying_params(params.as_ref());
        let is_recorded = |followed: &&FollowedRequest| {
            followed.method == request.method()
                && PatternBindings::default().compare(&followed.params, &params).is_ok()
        };
        match self.recorded.iter().find(is_recorded) {
            Some(followed) => found.extend(followed.notifications.iter().cloned()),
            // A subscription of the other era. The publisher selects what it asked for.
            None if SUBSCRIBING.contains(&request.method()) => {
                let subscribing =
                    |followed: &&FollowedRequest| SUBSCRIBING.contains(&followed.method.as_str());
                let recorded = self.recorded.iter().filter(subscribing);
                found.extend(recorded.flat_map(|followed| followed.notifications.iter().cloned()));
            }
            None => {}
        }
        found
    }
}

impl Layer for FollowUps {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let notifications = self.find(&request);
        if notifications.is_empty() {
            return next.call(request);
        }
        let publisher = self.publisher.clone();
        let outcome = next.call(request);
        HandlerOutcome::later(async move {
            let mut reply = std::pin::pin!(outcome.into_reply());
            // A stream subscribes when it is first polled.
            let early = poll_fn(|cx| Poll::Ready(reply.as_mut().poll(cx))).await;
            for notification in &notifications {
                publish(&publisher, notification);
            }
            match early {
                Poll::Ready(reply) => reply,
                Poll::Pending => reply.await,
            }
        })
    }
}

/// Publishes a change. Returns whether the notification is one.
pub(super) fn publish(publisher: &Publisher, notification: &RecordedNotification) -> bool {
    let text = |name: &str| notification.params.as_ref().and_then(|params| params.get(name)?.as_str());
    match notification.method.as_str() {
        "notifications/tools/list_changed" => publisher.tools_changed(),
        "notifications/prompts/list_changed" => publisher.prompts_changed(),
        "notifications/resources/list_changed" => publisher.resources_changed(),
        "notifications/resources/updated" => match text("uri") {
            Some(uri) => publisher.resource_updated(uri),
            None => return false,
        },
        _ => return false,
    }
    true
}
