//! Subscriptions to resources: however many clients subscribe to one, its server has one subscription, which ends with the
//! last of them.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_host::Host;
use switchboard_session::client::Change;
use switchboard_session::server::Publisher;
use tokio::task::AbortHandle;

use crate::resource_owner::ResourceOwner;

/// The pauses between attempts to subscribe: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The resources that clients are subscribed to, by exposed URI.
#[derive(Default)]
pub(crate) struct Subscriptions {
    // Held for a lookup or a change, never across an await.
    active: Mutex<HashMap<String, ActiveSubscription>>,
}

struct ActiveSubscription {
    clients: usize,
    /// `None` while no server has the resource.
    task: Option<AbortHandle>,
}

impl Subscriptions {
    /// Adds a client; subscribes at the server for the first one.
    pub(crate) fn add(&self, uri: &str, owner: Option<ResourceOwner>, host: &Host, publisher: &Publisher) {
        let mut active = self.active.lock();
        let new = || ActiveSubscription { clients: 0, task: None };
        let subscription = active.entry(uri.to_owned()).or_insert_with(new);
        subscription.clients += 1;
        if let Some(owner) = owner.filter(|_| subscription.task.is_none()) {
            // Aborted when the last client leaves, or with the gateway.
            let following = follow(host.clone(), owner, uri.to_owned(), publisher.clone());
            subscription.task = Some(tokio::spawn(following).abort_handle());
        }
    }

    /// Removes a client; unsubscribes at the server with the last one.
    pub(crate) fn remove(&self, uri: &str) {
        let mut active = self.active.lock();
        let Some(subscription) = active.get_mut(uri) else { return };
        subscription.clients -= 1;
        if subscription.clients == 0 {
            subscription.task.iter().for_each(AbortHandle::abort);
            active.remove(uri);
        }
    }

    /// Returns the number of subscriptions at servers.
    pub(crate) fn len(&self) -> usize {
        self.active.lock().len()
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.active.get_mut().values().filter_map(|one| one.task.as_ref()).for_each(AbortHandle::abort);
    }
}

/// Subscribes at the server and publishes its updates; subscribes again when the connection was lost.
async fn follow(host: Host, owner: ResourceOwner, exposed: String, publisher: Publisher) {
    let mut pause = FIRST_PAUSE;
    let mut was_subscribed = false;
    loop {
        match host.subscribe(&owner.server, &owner.uri).await {
            Ok(mut subscription) => {
                if was_subscribed {
                    // Updates in between were missed.
                    publisher.resource_updated(exposed.as_str());
                }
                (was_subscribed, pause) = (true, FIRST_PAUSE);
                while let Some(change) = subscription.next().await {
                    match change {
                        // Of the resource or a part of it: clients know the URI that they subscribed to.
                        Change::Resource { .. } | Change::Missed(_) => {
                            publisher.resource_updated(exposed.as_str());
                        }
                        Change::Ended => break,
                        _ => {}
                    }
                }
            }
            Err(error) => tracing::debug!(server = %owner.server, %error, "subscription failed"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
