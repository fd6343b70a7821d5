//! Notifications that followed requests which the server answers itself: `initialize`, subscriptions, log levels.

use std::future::poll_fn;
use std::task::Poll;

use switchboard_session::server::{HandlerOutcome, IncomingRequest, Layer, Next, Publisher};

use crate::conversation::{Conversation, RecordedNotification, identifying_params};
use crate::pattern::PatternBindings;

/// Methods that reach no handler.
const BUILT_IN: [&str; 5] =
    ["subscriptions/listen", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping"];

/// Layer that publishes recorded changes after the requests they followed.
pub(super) struct FollowUps {
    publisher: Publisher,
    recorded: Vec<(String, serde_json::Value, Vec<RecordedNotification>)>,
}

impl FollowUps {
    pub(super) fn new(conversation: &Conversation, publisher: Publisher) -> Self {
        let followed = conversation.exchanges.iter().filter(|exchange| {
            BUILT_IN.contains(&exchange.method.as_str()) && !exchange.follow_ups.is_empty()
        });
        let recorded = followed
            .map(|exchange| (exchange.method.clone(), exchange.params.clone(), exchange.follow_ups.clone()));
        Self { publisher, recorded: recorded.collect() }
    }

    fn find(&self, request: &IncomingRequest) -> Option<Vec<RecordedNotification>> {
        let of_method = || self.recorded.iter().filter(|(method, ..)| method == request.method());
        of_method().next()?;
        let params = request.params().and_then(|params| serde_json::from_str(params.as_str()).ok());
        let params = identifying_params(params.as_ref());
        let matching = |pattern| PatternBindings::default().compare(pattern, &params).is_ok();
        of_method().find(|(_, pattern, _)| matching(pattern)).map(|(.., notifications)| notifications.clone())
    }
}

impl Layer for FollowUps {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let Some(notifications) = self.find(&request) else { return next.call(request) };
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
