//! Request log: reports each request and its outcome to the logger. Payloads are included only on request.

use std::time::{Duration, Instant};

use switchboard_protocol::{ErrorCode, Raw};
use switchboard_session::server::{self, AnsweredRequest, Caller, Reply};

use crate::adapter_event::{AdapterEvent, EventKind};
use crate::options::{BuilderOptions, Logger};

/// The subject of a logged request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) method: &'static str,
    pub(crate) name: Option<&'a str>,
    pub(crate) uri: Option<&'a str>,
    caller: Option<&'a Caller>,
    cx: Option<&'a server::RequestContext>,
}

impl<'a> About<'a> {
    pub(crate) fn named(method: &'static str, name: &'a str) -> Self {
        Self { name: Some(name), ..Self::just(method) }
    }

    pub(crate) fn read(uri: &'a str) -> Self {
        // A query contains arguments, which are payload.
        let base = uri.split(['?', '#']).next().unwrap_or(uri);
        Self { uri: Some(base), ..Self::just("resources/read") }
    }

    pub(crate) fn just(method: &'static str) -> Self {
        Self { method, name: None, uri: None, caller: None, cx: None }
    }

    /// Sets the request.
    pub(crate) fn of(mut self, cx: &'a server::RequestContext) -> Self {
        (self.caller, self.cx) = (cx.caller(), Some(cx));
        self
    }

    /// Sets the caller.
    #[cfg(feature = "rpc")]
    pub(crate) fn for_caller(mut self, caller: Option<&'a Caller>) -> Self {
        self.caller = caller;
        self
    }
}

/// Logs a request that the session answered itself.
pub(crate) fn log_answered(logger: &Logger, request: &AnsweredRequest<'_>) {
    let mut event = AdapterEvent {
        kind: EventKind::Request,
        method: request.method().to_owned(),
        name: None,
        uri: None,
        caller: request.caller().cloned(),
        client: request.client(),
        duration: None,
        code: None,
        payload: None,
    };
    logger(&event);
    event.code = request.error().map(|error| error.code);
    event.kind = if event.code.is_some() { EventKind::Error } else { EventKind::Response };
    event.duration = Some(Duration::ZERO);
    logger(&event);
}

/// A request whose outcome is still to be logged.
pub(crate) struct Logged {
    logger: Logger,
    event: AdapterEvent,
    since: Instant,
    payloads: bool,
    is_over: bool,
}

impl Logged {
    /// Logs the arrival of a request; `None` without a logger.
    pub(crate) fn begin(options: &BuilderOptions, about: About<'_>, payload: Option<&Raw>) -> Option<Self> {
        let logger = options.logger.clone()?;
        let mut event = AdapterEvent {
            kind: EventKind::Request,
            method: about.method.to_owned(),
            name: about.name.map(str::to_owned),
            uri: about.uri.map(str::to_owned),
            caller: about.caller.cloned(),
            client: about.cx.and_then(server::RequestContext::client),
            duration: None,
            code: None,
            payload: payload.filter(|_| options.log_payloads).cloned(),
        };
        logger(&event);
        event.payload = None;
        Some(Self { logger, event, since: Instant::now(), payloads: options.log_payloads, is_over: false })
    }

    /// Logs the outcome.
    pub(crate) fn end(mut self, reply: &Reply) {
        match reply {
            Ok(result) => {
                let failed =
                    matches!(result, switchboard_protocol::ServerResult::CallTool(tool) if tool.is_error);
                self.event.kind = if failed { EventKind::Error } else { EventKind::Response };
                if self.payloads {
                    self.event.payload = Raw::encode(result).ok();
                }
            }
            Err(error) => {
                (self.event.kind, self.event.code) = (EventKind::Error, Some(error.code));
                if self.payloads {
                    self.event.payload = Raw::encode(error).ok();
                }
            }
        }
        self.tell();
    }

    /// Logs the outcome of a call to the plain JSON-RPC endpoint.
    #[cfg(feature = "rpc")]
    pub(crate) fn end_plain(mut self, outcome: &Result<Raw, switchboard_protocol::RpcError>) {
        let code = outcome.as_ref().err().map(|error| error.code);
        self.event.kind = if code.is_some() { EventKind::Error } else { EventKind::Response };
        self.event.code = code;
        if self.payloads {
            self.event.payload = match outcome {
                Ok(result) => Some(result.clone()),
                Err(error) => Raw::encode(error).ok(),
            };
        }
        self.tell();
    }

    fn tell(&mut self) {
        self.is_over = true;
        self.event.duration = Some(self.since.elapsed());
        (self.logger)(&self.event);
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        // The session answers after a panic; a cancelled call has no answer.
        if !self.is_over && std::thread::panicking() {
            (self.event.kind, self.event.code) = (EventKind::Error, Some(ErrorCode::INTERNAL_ERROR));
            self.tell();
        }
    }
}
