//! One server as it is wanted: what will be run, and what is known of it besides.

use std::sync::Arc;

use serde_json::Value;

use crate::config::Plan;
use crate::slot::Manifest;

/// One server as it is wanted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerSpec {
    /// What will be run. Two equal plans are the same server.
    pub plan: Plan,
    /// Its entry as somebody wrote it, with secrets masked: shown in a status, and nothing else.
    pub written: Option<Arc<Value>>,
    /// Where it was written: `project`, `user`, `local`, `claudeai`, `managed`.
    pub scope: Option<Arc<str>>,
    /// What it listed when it last ran.
    pub manifest: Option<Arc<Manifest>>,
}

impl ServerSpec {
    /// A server that is run like this.
    pub fn new(plan: Plan) -> Self {
        Self { plan, written: None, scope: None, manifest: None }
    }

    /// With its entry as it was written, secrets masked.
    #[must_use]
    pub fn with_written(mut self, written: Value) -> Self {
        self.written = Some(Arc::new(written));
        self
    }

    /// With where it was written.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<Arc<str>>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// With what it listed when it last ran, so that it need not be started before it is used.
    #[must_use]
    pub fn with_manifest(mut self, manifest: Manifest) -> Self {
        self.manifest = Some(Arc::new(manifest));
        self
    }
}

impl From<Plan> for ServerSpec {
    fn from(plan: Plan) -> Self {
        Self::new(plan)
    }
}
