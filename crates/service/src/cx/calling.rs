//! Options of an outgoing call, and the context of a method that is called directly.

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

use super::{CallSide, Cx};

/// Options of an outgoing call.
#[derive(Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// Maximum duration of the call.
    pub timeout: Option<Duration>,
    /// Additional `_meta` of the request.
    pub meta: Option<Meta>,
    /// Handler for the server's requests within this call.
    pub answers: Option<Arc<dyn ClientHandler>>,
    /// Receives progress notifications.
    pub progress: Option<Arc<dyn Fn(ProgressParams) + Send + Sync>>,
    /// Predefined responses of a test, by the key of the input request.
    pub(super) canned: HashMap<String, Value>,
    pub(super) extensions: Extensions,
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl CallOptions {
    /// Sets the maximum duration of the call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets additional `_meta` of the request.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Sets the handler for the server's requests within this call.
    #[must_use]
    pub fn answers(mut self, answers: Arc<dyn ClientHandler>) -> Self {
        self.answers = Some(answers);
        self
    }

    /// Sets the receiver of progress notifications.
    #[must_use]
    pub fn progress(mut self, tell: impl Fn(ProgressParams) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(tell));
        self
    }

    /// Sets the request extensions of a call on behalf of a remote caller.
    #[cfg(feature = "rpc")]
    pub(crate) fn extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Builds the context.
    pub fn build(self) -> Cx {
        Cx::from_side(CallSide::Client(Arc::new(self)))
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
        let answers = self.answers.as_ref().ok_or_else(|| super::missing_handler(capability, key))?;
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
        let answers = self.answers.as_ref().ok_or_else(|| super::missing_handler("sampling", key))?;
        let refused =
            |refusal: switchboard_session::client::HandlerError| Error::tool("refused", refusal.to_string());
        answers.sample(request, &RequestingServer::new(None)).await.map_err(refused)
    }
}
