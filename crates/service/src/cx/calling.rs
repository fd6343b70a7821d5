//! The context of a call on the caller's side, for a method that is called directly.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use switchboard_design::Error;
use switchboard_protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, ProgressParams, Raw, RequestId,
};
use switchboard_session::client::{CallOptions, HandlerCapabilities, RequestingServer};
use switchboard_session::server::Extensions;

use super::{CallSide, Cx};

/// Builds the context of a call.
#[derive(Debug, Default)]
#[must_use]
pub struct CallCx {
    options: CallOptions,
    /// Prepared answers, by the key of the input request.
    pub(super) canned: HashMap<String, Value>,
    pub(super) extensions: Extensions,
}

impl CallCx {
    switchboard_session::call_option_setters!(options, timeout, idle_timeout, meta, handler, on_progress);

    /// Sets the request extensions, for a call on behalf of a remote caller.
    #[cfg(feature = "rpc")]
    pub(crate) fn extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Builds the context.
    pub fn build(self) -> Cx {
        Cx::from_side(CallSide::Client(Arc::new(self)))
    }

    pub(super) fn call_options(&self) -> &CallOptions {
        &self.options
    }

    pub(super) fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if self.options.wants_progress() {
            let mut params = ProgressParams::new(RequestId::Number(0), progress);
            params.total = total;
            params.message = message.map(str::to_owned);
            self.options.report_progress(params);
        }
    }

    pub(super) fn capabilities(&self) -> HandlerCapabilities {
        let handler = self.options.handler.as_ref();
        let mut abilities = handler.map(|handler| handler.capabilities()).unwrap_or_default();
        abilities.forms |= !self.canned.is_empty();
        abilities
    }

    pub(super) async fn elicit(&self, key: &str, request: ElicitParams) -> Result<ElicitResult, Error> {
        if let Some(canned) = self.canned.get(key) {
            return Ok(Raw::from(canned.clone()).decode()?);
        }
        let capability =
            if matches!(request, ElicitParams::Url(_)) { "elicitation.url" } else { "elicitation" };
        let handler = self.options.handler.as_ref().ok_or_else(|| super::missing_handler(capability, key))?;
        let refused =
            |refusal: switchboard_session::client::HandlerError| Error::tool("refused", refusal.to_string());
        handler.elicit(request, &RequestingServer::new(None)).await.map_err(refused)
    }

    pub(super) async fn sample(
        &self,
        key: &str,
        request: CreateMessageParams,
    ) -> Result<CreateMessageResult, Error> {
        if let Some(canned) = self.canned.get(key) {
            return Ok(Raw::from(canned.clone()).decode()?);
        }
        let handler = self.options.handler.as_ref().ok_or_else(|| super::missing_handler("sampling", key))?;
        let refused =
            |refusal: switchboard_session::client::HandlerError| Error::tool("refused", refusal.to_string());
        handler.sample(request, &RequestingServer::new(None)).await.map_err(refused)
    }
}
