//! How a watcher says that its resource has changed.

use std::sync::Arc;

/// Tells everybody who subscribed to a resource that it has changed. Cheap to clone.
#[derive(Clone)]
pub struct Changes {
    tell: Telling,
}

/// Takes the URI, or none for the one that is watched.
type Telling = Arc<dyn Fn(Option<&str>) + Send + Sync>;

impl Changes {
    /// Changes that go here: the URI, or none for the one that is watched.
    pub fn new(tell: impl Fn(Option<&str>) + Send + Sync + 'static) -> Self {
        Self { tell: Arc::new(tell) }
    }

    /// The watched resource has changed.
    pub fn notify(&self) {
        (self.tell)(None);
    }

    /// A resource of the watched family has changed.
    pub fn notify_uri(&self, uri: &str) {
        (self.tell)(Some(uri));
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Changes")
    }
}
