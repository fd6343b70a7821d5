//! Follows a subscription: counts updates, and subscribes again when the session was lost.

use std::sync::Arc;
use std::time::Duration;

use switchboard_host::{HostError, HostSubscription, Status};
use switchboard_session::client::Change;
use tokio::time::{Instant, sleep, timeout_at};

use super::subscription_table::SubscriptionKey;
use crate::api::ConsoleState;

/// The least time between two events of one subscription.
const EVENT_INTERVAL: Duration = Duration::from_millis(100);
/// The pauses between attempts to subscribe again.
const MIN_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Runs until the server is removed or disabled, or refuses the subscription.
pub(super) async fn follow(state: Arc<ConsoleState>, key: SubscriptionKey, first: HostSubscription) {
    let mut current = Some(first);
    while let Some(subscription) = current {
        count_until_end(&state, &key, subscription).await;
        current = subscribe_again(&state, &key).await;
    }
    state.live.subscriptions.remove(&key);
}

/// Counts updates until the session has ended.
async fn count_until_end(state: &ConsoleState, key: &SubscriptionKey, mut subscription: HostSubscription) {
    while let Some(change) = subscription.next().await {
        let mut updates = updates_of(&change);
        // Further updates are counted with this one.
        let until = Instant::now() + EVENT_INTERVAL;
        let mut has_ended = false;
        if updates > 0 {
            while let Ok(next) = timeout_at(until, subscription.next()).await {
                match next {
                    Some(change) => updates += updates_of(&change),
                    None => {
                        has_ended = true;
                        break;
                    }
                }
            }
            state.live.subscriptions.count_updates(key, updates);
        }
        if has_ended {
            return;
        }
    }
}

fn updates_of(change: &Change) -> u64 {
    match change {
        Change::Resource { .. } => 1,
        Change::Missed(missed) => *missed,
        _ => 0,
    }
}

/// Subscribes again when the server is connected.
async fn subscribe_again(state: &ConsoleState, (server, uri): &SubscriptionKey) -> Option<HostSubscription> {
    let mut pause = MIN_PAUSE;
    loop {
        sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
        match state.host.state(server) {
            Ok(Status::Ready(_) | Status::Degraded { .. }) => {}
            Err(_) | Ok(Status::Disabled) => return None,
            Ok(_) => continue,
        }
        match state.host.subscribe(server, uri).await {
            Ok(subscription) => return Some(subscription),
            Err(HostError::Session { error, .. }) if error.remote().is_some() => return None,
            Err(error) => tracing::debug!(server, %error, "not subscribed again yet"),
        }
    }
}
