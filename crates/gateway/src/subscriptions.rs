//! Subscriptions to resources: however many clients of one session scope subscribe to a resource, its server has one
//! subscription in that session, which ends with the last of them.
//!
//! Invariant: an update that a session of a server announces reaches only clients of its scope.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_host::{Host, HostError, HostSubscription, SessionKey, SessionScope};
use switchboard_protocol::RpcError;
use switchboard_session::CallError;
use switchboard_session::client::Change;
use switchboard_session::server::{Publisher, SubscriptionGrant};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::error::{from_host, not_subscribable};
use crate::resource_owner::ResourceOwner;

/// The pauses between attempts to subscribe: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The subscriptions at servers, by server, session scope and exposed URI.
#[derive(Clone, Default)]
pub(crate) struct Subscriptions {
    active: ActiveSubscriptions,
}

// Held for a lookup or a change, never across an await.
type ActiveSubscriptions = Arc<Mutex<HashMap<SubscriptionKey, Weak<UpstreamSubscription>>>>;

/// The server, the scope of the session, `None` for the main one, and the exposed URI.
type SubscriptionKey = (Arc<str>, Option<SessionKey>, String);

/// A subscription at a server, which the subscriptions of clients hold. Ends on drop.
struct UpstreamSubscription {
    active: ActiveSubscriptions,
    key: SubscriptionKey,
    task: AbortHandle,
    confirmed: watch::Receiver<Confirmation>,
}

/// What the server says to a subscription; `None` while it says nothing.
type Confirmation = Option<Result<(), RpcError>>;

impl Subscriptions {
    /// Subscribes a client: waits until the server has confirmed.
    ///
    /// # Errors
    /// When the server refuses. One that cannot be reached is subscribed to when it can.
    pub(crate) async fn open(
        &self,
        host: &Host,
        publisher: &Publisher,
        subscribed: SubscribedResource,
    ) -> Result<SubscriptionGrant, RpcError> {
        let scope = subscribed.publish_scope();
        let upstream = self.upstream(host, publisher, subscribed);
        let mut confirmed = upstream.confirmed.clone();
        let confirmation = confirmed.wait_for(Option::is_some).await.map(|said| said.clone());
        if let Ok(Some(Err(refused))) = confirmation {
            return Err(refused);
        }
        Ok(SubscriptionGrant::new().with_scope(scope).with_lease(upstream))
    }

    /// Returns the subscription at the server, which is made for the first client.
    fn upstream(
        &self,
        host: &Host,
        publisher: &Publisher,
        subscribed: SubscribedResource,
    ) -> Arc<UpstreamSubscription> {
        let mut active = self.active.lock();
        let key = subscribed.key();
        if let Some(upstream) = active.get(&key).and_then(Weak::upgrade) {
            return upstream;
        }
        let (confirm, confirmed) = watch::channel(None);
        // Aborted when the last client leaves.
        let following = follow(host.clone(), subscribed, publisher.clone(), confirm);
        let task = tokio::spawn(following).abort_handle();
        let upstream = Arc::new(UpstreamSubscription {
            active: Arc::clone(&self.active),
            key: key.clone(),
            task,
            confirmed,
        });
        active.insert(key, Arc::downgrade(&upstream));
        upstream
    }

    /// Returns the number of subscriptions at servers.
    pub(crate) fn len(&self) -> usize {
        self.active.lock().len()
    }
}

impl Drop for UpstreamSubscription {
    fn drop(&mut self) {
        self.task.abort();
        let mut active = self.active.lock();
        // Another client may have subscribed anew since the last one left.
        if active.get(&self.key).is_some_and(|upstream| upstream.strong_count() == 0) {
            active.remove(&self.key);
        }
    }
}

/// The resource that a client subscribes to.
pub(crate) struct SubscribedResource {
    /// The URI that the client knows.
    pub(crate) exposed: String,
    pub(crate) owner: ResourceOwner,
    pub(crate) scope: Option<SessionScope>,
}

impl SubscribedResource {
    fn key(&self) -> SubscriptionKey {
        (Arc::clone(&self.owner.server), self.scope.as_ref().map(|scope| scope.key), self.exposed.clone())
    }

    /// Returns the scope of updates, for the publisher: the session and its server. A resource may pass to another server.
    fn publish_scope(&self) -> String {
        let key = self.scope.as_ref().map(|scope| scope.key.to_string()).unwrap_or_default();
        format!("{key}@{}", self.owner.server)
    }
}

/// Subscribes at the server and publishes its updates; subscribes again when the connection was lost.
async fn follow(
    host: Host,
    subscribed: SubscribedResource,
    publisher: Publisher,
    confirm: watch::Sender<Confirmation>,
) {
    let SubscribedResource { exposed, owner, scope } = &subscribed;
    let publish_scope = subscribed.publish_scope();
    let publish = || publisher.resource_updated_in(exposed.as_str(), publish_scope.as_str());
    let mut pause = FIRST_PAUSE;
    let mut was_subscribed = false;
    loop {
        match host.subscribe_in(&owner.server, &owner.uri, scope.as_ref()).await {
            Ok(subscription) => {
                confirm.send_replace(Some(Ok(())));
                if was_subscribed {
                    // Updates in between were missed.
                    publish();
                }
                (was_subscribed, pause) = (true, FIRST_PAUSE);
                publish_updates(subscription, publish).await;
            }
            Err(error) => {
                tracing::debug!(server = %owner.server, %error, "subscription failed");
                let refusal = if was_subscribed { None } else { refusal(error, exposed) };
                if let Some(refusal) = refusal {
                    confirm.send_replace(Some(Err(refusal)));
                    return;
                }
                confirm.send_replace(Some(Ok(())));
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Publishes every update until the subscription ends.
async fn publish_updates(mut subscription: HostSubscription, publish: impl Fn()) {
    while let Some(change) = subscription.next().await {
        match change {
            // Of the resource or a part of it: clients know the URI that they subscribed to.
            Change::Resource { .. } | Change::Missed(_) => publish(),
            Change::Ended => return,
            _ => {}
        }
    }
}

/// Returns the error for the client, if the server has refused; `None` if it could not be asked.
fn refusal(error: HostError, uri: &str) -> Option<RpcError> {
    match error {
        HostError::Session { error, .. } if matches!(*error, CallError::Unsupported { .. }) => {
            Some(not_subscribable(uri))
        }
        HostError::Session { error, .. } if error.remote().is_none() => None,
        HostError::Session { .. } | HostError::TooManySessions { .. } => Some(from_host(error)),
        _ => None,
    }
}
