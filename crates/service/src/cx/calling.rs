//! How a caller sets up a call, and what a method sees that is called directly.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_design::Error;
use switchboard_protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Meta, ProgressParams, Raw,
    RequestId,
};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, RequestingServer};
use switchboard_session::server::Extensions;

use super::{Cx, Side};

/// How a call is made.
#[derive(Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// How long it may take in all.
    pub timeout: Option<Duration>,
    /// What else travels in `_meta`.
    pub meta: Option<Meta>,
    /// Who answers what the server asks within this call.
    pub answers: Option<Arc<dyn ClientHandler>>,
    /// Who is told of progress.
    pub progress: Option<Arc<dyn Fn(ProgressParams) + Send + Sync>>,
    /// Answers that are known before, by the key of their question.
    pub(super) canned: HashMap<String, Value>,
    pub(super) extensions: Extensions,
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl CallOptions {
    /// How long it may take in all.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What else travels in `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Who answers what the server asks within this call.
    #[must_use]
    pub fn answers(mut self, answers: Arc<dyn ClientHandler>) -> Self {
        self.answers = Some(answers);
        self
    }

    /// Who is told of progress.
    #[must_use]
    pub fn progress(mut self, tell: impl Fn(ProgressParams) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(tell));
        self
    }

    /// What was found out about the caller, for a call that is made for somebody else.
    #[cfg(feature = "rpc")]
    pub(crate) fn extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// To call with.
    pub fn build(self) -> Cx {
        Cx::of(Side::Calling(Arc::new(self)))
    }

    pub(super) fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(tell) = &self.progress {
            let mut params = ProgressParams::new(RequestId::Number(0), progress);
            params.total = total;
            params.message = message.map(str::to_owned);
            tell(params);
        }
    }

    pub(super) fn abilities(&self) -> HandlerCapabilities {
        let mut abilities = self.answers.as_ref().map(|answers| answers.abilities()).unwrap_or_default();
        abilities.forms |= !self.canned.is_empty();
        abilities
    }

    pub(super) async fn elicit(&self, key: &str, request: ElicitParams) -> Result<ElicitResult, Error> {
        if let Some(canned) = self.canned.get(key) {
            return Ok(Raw::from(canned.clone()).decode()?);
        }
        let capability =
            if matches!(request, ElicitParams::Url(_)) { "elicitation.url" } else { "elicitation" };
        let answers = self.answers.as_ref().ok_or_else(|| super::nobody(capability, key))?;
        let refused =
            |refusal: switchboard_session::client::HandlerError| Error::tool("refused", refusal.to_string());
        answers.elicit(request, &RequestingServer::new(None)).await.map_err(refused)
    }

    pub(super) async fn sample(
        &self,
        key: &str,
        request: CreateMessageParams,
    ) -> Result<CreateMessageResult, Error> {
        if let Some(canned) = self.canned.get(key) {
            return Ok(Raw::from(canned.clone()).decode()?);
        }
        let answers = self.answers.as_ref().ok_or_else(|| super::nobody("sampling", key))?;
        let refused =
            |refusal: switchboard_session::client::HandlerError| Error::tool("refused", refusal.to_string());
        answers.sample(request, &RequestingServer::new(None)).await.map_err(refused)
    }
}
