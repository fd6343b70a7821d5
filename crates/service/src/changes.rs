//! Change notifications of watched resources.

use std::sync::Arc;

/// Notifies the subscribers of a resource of changes. Cheap to clone.
///
/// ```
/// use switchboard::service::{Changes, Result};
///
/// /// Keeps notes.
/// #[switchboard::service(name = "notes", version = "1.0.0")]
/// pub trait Notes {
///     /// The note of today.
///     #[resource("note://today", watch)]
///     async fn today(&self) -> Result<String>;
///     /// Runs while a client is subscribed.
///     #[subscription(resource = "today")]
///     async fn watch_today(&self, changes: Changes) -> Result<()>;
/// }
///
/// struct Clock;
///
/// impl Notes for Clock {
///     async fn today(&self) -> Result<String> {
///         Ok("Buy milk.".into())
///     }
///
///     async fn watch_today(&self, changes: Changes) -> Result<()> {
///         changes.notify(); // whenever the note changes
///         Ok(())
///     }
/// }
///
/// assert!(NotesServer::builder(Clock).build()?.capabilities().declares("resources.subscribe"));
/// # Ok::<(), switchboard::service::BuildError>(())
/// ```
#[derive(Clone)]
pub struct Changes {
    callback: NotifyFn,
}

/// Takes the URI of the changed resource; `None` means the watched resource itself.
type NotifyFn = Arc<dyn Fn(Option<&str>) + Send + Sync>;

impl Changes {
    /// Creates a notifier that calls `notify` with the URI of the changed resource, or `None` for the watched
    /// resource itself.
    pub fn new(notify: impl Fn(Option<&str>) + Send + Sync + 'static) -> Self {
        Self { callback: Arc::new(notify) }
    }

    /// Reports a change of the watched resource.
    pub fn notify(&self) {
        (self.callback)(None);
    }

    /// Reports a change of one resource of the watched template.
    pub fn notify_uri(&self, uri: &str) {
        (self.callback)(Some(uri));
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Changes")
    }
}
