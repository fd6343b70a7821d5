//! What a handler grants to a subscriber of a resource.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A granted subscription to a resource, held until the subscription ends.
#[derive(Clone, Default)]
pub struct SubscriptionGrant {
    scope: Option<Arc<str>>,
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

    /// Holds a value until the subscription ends.
    #[must_use]
    pub fn with_lease(mut self, lease: Arc<dyn Any + Send + Sync>) -> Self {
        self._lease = Some(lease);
        self
    }

    /// Returns whether an update for this scope, or for everyone, is granted.
    pub(crate) fn covers(&self, scope: Option<&str>) -> bool {
        scope.is_none() || scope == self.scope.as_deref()
    }
}

impl fmt::Debug for SubscriptionGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionGrant").field("scope", &self.scope).finish_non_exhaustive()
    }
}
