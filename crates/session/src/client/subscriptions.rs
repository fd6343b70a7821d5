//! Subscriptions to the changes of a server: per resource in the legacy era, listen streams in the modern era.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_protocol::surface::TASKS_EXTENSION;
use switchboard_protocol::{Acknowledged, FromRaw, ListenFilter, ListenParams, Raw, SubscribeParams};

use tokio::sync::broadcast;

use crate::client::call::{ClientCall, RequestOrigin};
use crate::client::change_stream::{CHANNEL_CAPACITY, Change, ChangeStream, Subscription, SubscriptionGuard};
use crate::client::live_session::LiveSession;
use crate::era::ChangeDelivery;
use crate::link::{Exchange, ExchangeEvent, ExchangeKind, InboundNotification};
use crate::request::{CallError, TimeoutKind};

/// Resource subscriptions of the legacy era, which end when this is dropped.
#[derive(Debug)]
pub(crate) struct ResourceSubscriptions {
    live: Weak<LiveSession>,
    uris: Vec<String>,
}

impl LiveSession {
    /// Starts a subscription.
    pub(crate) async fn listen(self: &Arc<Self>, filter: ListenFilter) -> Result<Subscription, CallError> {
        if !filter.resource_subscriptions.is_empty() && !self.offers_subscriptions() {
            return Err(CallError::Unsupported { what: "resource subscriptions" });
        }
        match self.dialect.change_delivery() {
            ChangeDelivery::Unsolicited => {
                // Created before the requests are sent, so that no change is missed.
                let changes = ChangeStream { receiver: self.changes.subscribe() };
                let guard =
                    SubscriptionGuard::Resources(self.subscribe(&filter.resource_subscriptions).await?);
                Ok(Subscription { changes, accepted: filter, guard })
            }
            ChangeDelivery::OnRequest => self.open_subscription(filter).await,
        }
    }

    /// Subscribes to each resource. A failure ends the subscriptions made before it.
    async fn subscribe(self: &Arc<Self>, uris: &[String]) -> Result<ResourceSubscriptions, CallError> {
        let mut subscribed = ResourceSubscriptions { live: Arc::downgrade(self), uris: Vec::new() };
        for uri in uris {
            // Counted, because the server has one subscription per resource, however many listeners there are.
            if !self.subscription_counts.lock().contains_key(uri) {
                let params = Raw::encode(&SubscribeParams::new(uri.as_str()))?;
                self.call(ClientCall::new("resources/subscribe", params.as_str()).within(self.limits().read))
                    .await?;
            }
            *self.subscription_counts.lock().entry(uri.clone()).or_default() += 1;
            subscribed.uris.push(uri.clone());
        }
        Ok(subscribed)
    }

    /// Opens a listen stream, and reads it in a task of its own.
    async fn open_subscription(self: &Arc<Self>, filter: ListenFilter) -> Result<Subscription, CallError> {
        let (exchange, accepted) = self.open_listen_stream(&filter).await?;
        self.count_listener(&accepted, |count| count + 1);
        // Created before the task, so that the count is decremented even if the task never runs.
        let guard = StreamGuard { live: Arc::downgrade(self), wanted: filter, accepted: accepted.clone() };
        let (sender, receiver) = broadcast::channel(CHANNEL_CAPACITY);
        let task = tokio::spawn(run_stream(guard, exchange, sender)).abort_handle();
        Ok(Subscription {
            changes: ChangeStream { receiver },
            accepted,
            guard: SubscriptionGuard::Exchange(task),
        })
    }

    /// Opens a listen stream and waits for its acknowledgement.
    async fn open_listen_stream(&self, filter: &ListenFilter) -> Result<(Exchange, ListenFilter), CallError> {
        let params = ListenParams::new(filter.clone());
        // Tasks are followed only with their extension.
        let capabilities = (!filter.task_ids.is_empty()).then(|| {
            let mut declared = self.config.modern_capabilities.clone();
            declared.extensions.get_or_insert_default().insert(TASKS_EXTENSION, Raw::empty_object());
            declared
        });
        let mut exchange = self.open_request_with(
            "subscriptions/listen",
            &params,
            None,
            ExchangeKind::Listen,
            RequestOrigin { capabilities: capabilities.as_ref(), call: None },
        )?;
        let timeout: Duration = self.limits().read;
        let acknowledged =
            tokio::time::timeout(timeout, wait_for_acknowledgement(&mut exchange)).await.map_err(
                |_| CallError::TimedOut { kind: TimeoutKind::Idle, after: timeout, hint: self.link.hint() },
            )??;
        Ok((exchange, acknowledged.notifications))
    }

    /// Removes one listener of a resource; returns whether it was the last.
    fn release_subscription(&self, uri: &str) -> bool {
        let mut subscribed = self.subscription_counts.lock();
        let Some(count) = subscribed.get_mut(uri) else { return false };
        *count -= 1;
        let was_last = *count == 0;
        if was_last {
            subscribed.remove(uri);
        }
        was_last
    }

    fn count_listener(&self, accepted: &ListenFilter, change: impl Fn(usize) -> usize) {
        // Changes before the first listener and after the last one are not announced.
        self.invalidate_lists();
        let mut counts = self.listener_counts.lock();
        let ListenerCounts { tools, prompts, resources } = &mut *counts;
        for (count, is_counted) in [
            (tools, accepted.tools_list_changed),
            (prompts, accepted.prompts_list_changed),
            (resources, accepted.resources_list_changed),
        ] {
            *count = if is_counted { change(*count) } else { *count };
        }
    }
}

/// Listen streams per list.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ListenerCounts {
    pub(crate) tools: usize,
    pub(crate) prompts: usize,
    pub(crate) resources: usize,
}

async fn wait_for_acknowledgement(exchange: &mut Exchange) -> Result<Acknowledged, CallError> {
    loop {
        match exchange.event().await? {
            ExchangeEvent::Notification(InboundNotification { method, params })
                if &*method == "notifications/subscriptions/acknowledged" =>
            {
                return Acknowledged::from_raw(&params.unwrap_or_else(Raw::empty_object))
                    .map_err(|error| CallError::protocol("subscriptions/listen", error));
            }
            ExchangeEvent::Done(Err(error)) => return Err(CallError::Remote(error)),
            ExchangeEvent::Done(Ok(_)) => return Err(CallError::Closed),
            ExchangeEvent::Notification(_)
            | ExchangeEvent::Observed(_)
            | ExchangeEvent::ObservedByAll(_)
            | ExchangeEvent::Upcall(_) => {}
        }
    }
}

/// Decrements the listener counts of a stream when its task ends.
struct StreamGuard {
    live: Weak<LiveSession>,
    wanted: ListenFilter,
    accepted: ListenFilter,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        if let Some(live) = self.live.upgrade() {
            live.count_listener(&self.accepted, |count| count.saturating_sub(1));
        }
    }
}

/// How a stream ended.
enum StreamEnd {
    /// The server announced the end with a notification; the response may follow.
    Announced,
    /// The server sent the response.
    Done,
    /// The exchange failed.
    Broken,
    /// The session was dropped.
    SessionGone,
}

/// Reads a listen stream until it ends; reopens one that fails while its connection lives.
async fn run_stream(guard: StreamGuard, mut exchange: Exchange, sender: broadcast::Sender<Change>) {
    loop {
        match read_stream(&guard, &mut exchange, &sender).await {
            StreamEnd::SessionGone => return,
            StreamEnd::Done => break,
            StreamEnd::Announced => {
                let timeout = guard.live.upgrade().map(|live| live.limits().read).unwrap_or_default();
                drop(guard);
                let _ = sender.send(Change::Ended);
                drop(sender);
                // Dropping the exchange before its response would cancel a request that has ended.
                let _ = tokio::time::timeout(timeout, exchange.done()).await;
                return;
            }
            StreamEnd::Broken => match reopen(&guard).await {
                Some(reopened) => exchange = reopened,
                None => break,
            },
        }
        guard.announce_missed(&sender);
    }
    let _ = sender.send(Change::Ended);
}

async fn read_stream(
    guard: &StreamGuard,
    exchange: &mut Exchange,
    sender: &broadcast::Sender<Change>,
) -> StreamEnd {
    while let Ok(event) = exchange.event().await {
        let Some(live) = guard.live.upgrade() else { return StreamEnd::SessionGone };
        match event {
            ExchangeEvent::Notification(note) if &*note.method == "notifications/cancelled" => {
                return StreamEnd::Announced;
            }
            ExchangeEvent::Done(_) => return StreamEnd::Done,
            ExchangeEvent::Notification(note) => {
                if let Some(change) = live.apply_note(note) {
                    // The receiver may be gone.
                    let _ = sender.send(change);
                }
            }
            ExchangeEvent::Observed(_) | ExchangeEvent::ObservedByAll(_) => {}
            ExchangeEvent::Upcall(upcall) => live.refuse_upcall(&upcall),
        }
    }
    StreamEnd::Broken
}

/// Consecutive attempts to reopen a stream, and the backoff before the first.
const MAX_REOPENS: u32 = 5;
const REOPEN_BACKOFF: Duration = Duration::from_millis(500);

async fn reopen(guard: &StreamGuard) -> Option<Exchange> {
    for attempt in 0..MAX_REOPENS {
        if guard.live.upgrade()?.link.ended().is_some() {
            return None;
        }
        tokio::time::sleep(jittered(REOPEN_BACKOFF * 2u32.saturating_pow(attempt))).await;
        let live = guard.live.upgrade()?;
        match live.open_listen_stream(&guard.wanted).await {
            Ok((exchange, _)) => return Some(exchange),
            Err(CallError::Remote(_) | CallError::Closed) => return None,
            Err(error) => tracing::debug!(%error, "could not reopen a listen stream"),
        }
    }
    None
}

/// Adds up to 25 % jitter, so that clients that lost the same server do not reconnect at once.
fn jittered(wait: Duration) -> Duration {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    wait + wait.mul_f64(f64::from(byte[0]) / 1024.0)
}

impl StreamGuard {
    /// Announces a change of everything subscribed to: changes during the interruption were missed.
    fn announce_missed(&self, sender: &broadcast::Sender<Change>) {
        let Some(live) = self.live.upgrade() else { return };
        live.invalidate_lists();
        let lists = [
            (self.accepted.tools_list_changed, Change::Tools),
            (self.accepted.prompts_list_changed, Change::Prompts),
            (self.accepted.resources_list_changed, Change::Resources),
        ];
        let resources = self.accepted.resource_subscriptions.iter();
        let resources = resources.map(|uri| (true, Change::Resource { uri: uri.clone() }));
        for (_, change) in lists.into_iter().chain(resources).filter(|(guard, _)| *guard) {
            live.changes.publish(change.clone());
            let _ = sender.send(change);
        }
    }
}

impl Drop for ResourceSubscriptions {
    fn drop(&mut self) {
        let Some(live) = self.live.upgrade() else { return };
        for uri in self.uris.drain(..) {
            if live.release_subscription(&uri) {
                let params = SubscribeParams::new(uri);
                drop(live.open_request("resources/unsubscribe", &params, None, ExchangeKind::Detached));
            }
        }
    }
}
