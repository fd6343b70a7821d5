//! The layers around a service.

use std::sync::Arc;
use std::time::Duration;

use switchboard_design::{ArgumentErrors, Error, RequestKind};
use switchboard_session::server::ServerBuilder;
use switchboard_session::server::layer::{IncomingRequest, Timeout};

use super::Adapter;

impl Adapter {
    /// Adds the layers of the service, outermost first: the access log, the author's layers, the call timeout. Panics are
    /// caught around all of them, and around the methods.
    pub(crate) fn add_layers(&self, mut server: ServerBuilder) -> ServerBuilder {
        let options = &self.core.options;
        if let Some(log) = options.access_log() {
            server = server.layer(log);
        }
        for layer in &options.layers {
            server = server.layer(Arc::clone(layer));
        }
        if let Some(within) = options.timeout {
            server = server.layer(self.call_timeout(within));
        }
        server
    }

    /// Returns the timeout layer for requests that run a method of the service.
    fn call_timeout(&self, within: Duration) -> Timeout {
        let core = Arc::clone(&self.core);
        let runs_method = |request: &IncomingRequest| {
            matches!(
                request.method(),
                "tools/call" | "prompts/get" | "resources/read" | "resources/list" | "completion/complete"
            )
        };
        Timeout::new(within).only(runs_method).with_reply(move |method| {
            let asked = match method {
                "tools/call" => RequestKind::Tool,
                "prompts/get" => RequestKind::Prompt,
                "resources/read" => RequestKind::Resource,
                _ => RequestKind::Other,
            };
            core.service_error_reply_with(Error::Timeout, asked, ArgumentErrors::Result)
        })
    }
}
