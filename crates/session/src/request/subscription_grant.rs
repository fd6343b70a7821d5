//! What a handler grants to a subscriber of a resource.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A granted subscription to a resource, held until the subscription ends.
#[derive(Clone, Default)]
pub struct SubscriptionGrant {
    scope: Option<Arc<str>>,
    /// Asked before each update.
    check: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// Held for its drop.
    _lease: Option<Arc<dyn Any + Send + Sync>>,
}

impl SubscriptionGrant {
    /// Creates a grant of the updates for everyone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Grants the updates for this scope, too; see
    /// [`Publisher::resource_updated_in`](crate::server::Publisher::resource_updated_in).
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<Arc<str>>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// Sets a check that is made before each update: the update is withheld while it returns `false`, as when the subscriber may
    /// no longer read the resource.
    #[must_use]
    pub fn with_check(mut self, check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Holds a value until the subscription ends.
    #[must_use]
    pub fn with_lease(mut self, lease: Arc<dyn Any + Send + Sync>) -> Self {
        self._lease = Some(lease);
        self
    }

    /// Returns whether an update for this scope, or for everyone, is granted now.
    pub(crate) fn covers(&self, scope: Option<&str>) -> bool {
        let is_of_scope = scope.is_none() || scope == self.scope.as_deref();
        is_of_scope && self.check.as_ref().is_none_or(|check| check())
    }
}

impl fmt::Debug for SubscriptionGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionGrant").field("scope", &self.scope).finish_non_exhaustive()
    }
}
