//! Watchers: each is at work while somebody is subscribed to its resource, and not a moment longer.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::AbortHandle;

use super::Core;
use super::board::Board;
use crate::{Changes, Cx};

/// The watchers at work, by their place in the design.
#[derive(Default)]
pub(crate) struct Watching {
    at_work: Mutex<HashMap<usize, Watcher>>,
}

/// One watcher at work. Dropping it ends it.
struct Watcher {
    /// What it is watched for, and how often.
    uris: Arc<Mutex<HashMap<String, usize>>>,
    task: AbortHandle,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Core {
    /// Somebody subscribed to a resource.
    pub(crate) fn subscribed(&self, uri: &str) {
        self.board.subscribed(uri);
        let Some(watch) = self.watch_of(uri) else { return };
        let mut at_work = self.watching.at_work.lock();
        if let Some(watcher) = at_work.get(&watch) {
            *watcher.uris.lock().entry(uri.to_owned()).or_default() += 1;
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!(uri, "a resource cannot be watched outside of a runtime");
            return;
        };
        let uris = Arc::new(Mutex::new(HashMap::from([(uri.to_owned(), 1)])));
        let changes = changes(Arc::clone(&self.board), Arc::clone(&uris));
        let (work, name) =
            (self.service.watch(watch, Cx::alone(), changes), self.design.watches[watch].rust_name.clone());
        // Ends with the watcher, which is taken out with its last subscriber and dropped with the server.
        let task = runtime.spawn(async move {
            if let Err(error) = work.await {
                tracing::warn!(watcher = name, %error, "a watcher ended; changes are not told until it is begun anew");
            }
        });
        at_work.insert(watch, Watcher { uris, task: task.abort_handle() });
    }

    /// A subscription is over.
    pub(crate) fn unsubscribed(&self, uri: &str) {
        self.board.unsubscribed(uri);
        let Some(watch) = self.watch_of(uri) else { return };
        let mut at_work = self.watching.at_work.lock();
        let Some(watcher) = at_work.get(&watch) else { return };
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
        let over = is_last.then(|| at_work.remove(&watch));
        drop(at_work);
        drop(over);
    }

    /// The place of what watches the resource of a URI.
    fn watch_of(&self, uri: &str) -> Option<usize> {
        let uri = uri.parse().ok()?;
        let name = &self.design.resources[self.resources.find(&uri)?].name;
        self.design.watches.iter().position(|watch| watch.resource == *name)
    }
}

/// What a watcher tells changes with: of one URI, or of all it is watched for.
fn changes(board: Arc<Board>, uris: Arc<Mutex<HashMap<String, usize>>>) -> Changes {
    Changes::new(move |uri| match uri {
        Some(uri) => board.changed(uri),
        None => {
            let watched: Vec<String> = uris.lock().keys().cloned().collect();
            // Each spelling is its own subscription, so each is told once.
            watched.iter().for_each(|uri| board.told(uri));
        }
    })
}
