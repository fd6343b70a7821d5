//! Watchers: each runs while its resource has subscribers.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::AbortHandle;

use super::Core;
use super::broadcaster::Broadcaster;
use crate::{Changes, Cx};

/// Running watchers, by index in the design.
#[derive(Default)]
pub(crate) struct Watchers {
    running: Mutex<HashMap<usize, Watcher>>,
}

/// A running watcher. Dropping it stops the watcher.
struct Watcher {
    /// Number of subscriptions per URI.
    uris: Arc<Mutex<HashMap<String, usize>>>,
    task: AbortHandle,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Core {
    /// Records a subscription and starts the watcher of its resource.
    pub(crate) fn on_subscribe(&self, uri: &str) {
        self.broadcaster.add_subscription(uri);
        let Some(watch) = self.watcher_index(uri) else { return };
        let mut running = self.watchers.running.lock();
        if let Some(watcher) = running.get(&watch) {
            *watcher.uris.lock().entry(uri.to_owned()).or_default() += 1;
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!(uri, "cannot watch a resource outside of a tokio runtime");
            return;
        };
        let uris = Arc::new(Mutex::new(HashMap::from([(uri.to_owned(), 1)])));
        let changes = change_notifier(Arc::clone(&self.broadcaster), Arc::clone(&uris));
        let (work, name) = (
            self.service.watch(watch, Cx::detached(), changes),
            self.design.watches[watch].rust_name.clone(),
        );
        // Aborted when the watcher is removed with its last subscriber, or dropped with the server.
        let task = runtime.spawn(async move {
            if let Err(error) = work.await {
                tracing::warn!(watcher = name, %error, "watcher failed; it restarts with the first subscription after all current ones end");
            }
        });
        running.insert(watch, Watcher { uris, task: task.abort_handle() });
    }

    /// Removes a subscription, and stops the watcher after the last one.
    pub(crate) fn on_unsubscribe(&self, uri: &str) {
        self.broadcaster.remove_subscription(uri);
        let Some(watch) = self.watcher_index(uri) else { return };
        let mut running = self.watchers.running.lock();
        let Some(watcher) = running.get(&watch) else { return };
        let is_last = {
            let mut uris = watcher.uris.lock();
            if let Some(times) = uris.get_mut(uri) {
                *times -= 1;
                if *times == 0 {
                    uris.remove(uri);
                }
            }
            uris.is_empty()
        };
        let stopped = is_last.then(|| running.remove(&watch));
        drop(running);
        drop(stopped);
    }

    /// Returns the index of the watcher of a resource.
    fn watcher_index(&self, uri: &str) -> Option<usize> {
        let uri = uri.parse().ok()?;
        let name = &self.design.resources[self.resources.find(&uri)?].name;
        self.design.watches.iter().position(|watch| watch.resource == *name)
    }
}

/// Returns the notifier for a watcher: for one URI, or for all its subscribed URIs.
fn change_notifier(broadcaster: Arc<Broadcaster>, uris: Arc<Mutex<HashMap<String, usize>>>) -> Changes {
    Changes::new(move |uri| match uri {
        Some(uri) => broadcaster.notify_changed(uri),
        None => {
            let watched: Vec<String> = uris.lock().keys().cloned().collect();
            // Each spelling is a separate subscription and is notified once.
            watched.iter().for_each(|uri| broadcaster.notify_exact(uri));
        }
    })
}
