//! A request to one server of the host, with the options of a call.

use std::future::IntoFuture;
use std::sync::Arc;

use switchboard_protocol::Raw;
use switchboard_session::client::CallOptions;
use switchboard_session::link::BoxFuture;
use tracing::Instrument;

use crate::call::span::{add_trace, record_error, request_span};
use crate::error::{HostError, needs_auth, not_ready};
use crate::run::{self, Run};
use crate::session_lease::SessionLease;
use crate::session_scope::SessionScope;
use crate::set::HostState;

/// A request to one server. Awaiting it sends it; dropping the future cancels it.
///
/// Tool calls have [`ToolCall`](crate::ToolCall), which also checks names, arguments and permissions.
#[must_use = "a request does nothing until it is awaited"]
pub struct HostRequest {
    host: Arc<HostState>,
    server: String,
    method: String,
    params: Raw,
    run: Option<Run>,
    scope: Option<SessionScope>,
    lease: Option<SessionLease>,
    options: CallOptions,
}

impl HostRequest {
    pub(crate) fn new(host: Arc<HostState>, server: String, method: String, params: Raw) -> Self {
        Self {
            host,
            server,
            method,
            params,
            run: None,
            scope: None,
            lease: None,
            options: CallOptions::new(),
        }
    }

    /// Makes the request part of a run, which cancels it and answers requests of the server.
    pub fn within(mut self, run: &Run) -> Self {
        self.run = Some(run.clone());
        self
    }

    /// Sends the request in the session of this scope instead of the server's main one.
    pub fn in_session(mut self, scope: &SessionScope) -> Self {
        self.scope = Some(scope.clone());
        self
    }

    /// Sends the request in this session. No session is opened for it: it fails if this one has ended.
    pub fn in_open_session(mut self, lease: &SessionLease) -> Self {
        self.lease = Some(lease.clone());
        self
    }

    switchboard_session::call_option_setters!(
        options,
        timeout,
        idle_timeout,
        on_progress,
        on_notification,
        on_log,
        meta,
        number
    );

    async fn run(self) -> Result<Raw, HostError> {
        let Self { host, server, method, params, run, scope, lease, mut options } = self;
        let slot = match &lease {
            Some(lease) => lease.slot.clone(),
            None => host.use_slot(&host.slot(&server)?, scope.as_ref()).await?,
        };
        let span = request_span(&slot, &method, &params);
        let sending = async {
            add_trace(host.settings.trace.as_ref(), &mut options);
            let _permit = slot
                .limiter
                .acquire()
                .await
                .map_err(|_| HostError::Busy { server: Arc::clone(&slot.name) })?;
            let session = match &lease {
                Some(lease) => lease.session.clone(),
                None => slot.session().await.map_err(|status| not_ready(&slot.name, status))?,
            };
            run.iter().for_each(|run| run.note_session(session.number()));
            let (id, handler) = match &run {
                Some(run) => (run.id(), run.handler()),
                None => (run::next_id(), None),
            };
            let active = slot.questions.register_call(id, handler);
            if active.is_some() {
                options.handler = Some(handler.cloned().unwrap_or_else(|| slot.questions.fallback()));
            }
            host.shared.connectors.traffic.number_call(&mut options);
            let sent = session.raw_call(method.as_str(), params).options(options).await;
            sent.map_err(|error| {
                slot.report_call_error(&error);
                needs_auth(&slot, &error).unwrap_or_else(|| HostError::Session {
                    server: Arc::clone(&slot.name),
                    error: Box::new(error),
                })
            })
        };
        let sending = sending.instrument(span.clone());
        let cancelled = async {
            match &run {
                Some(run) => run.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let outcome = tokio::select! {
            biased;
            done = sending => done,
            () = cancelled => Err(HostError::Cancelled { tool: method.clone(), sent: true }),
        };
        if let Err(error) = &outcome {
            record_error(&span, error);
        }
        outcome
    }
}

impl IntoFuture for HostRequest {
    type Output = Result<Raw, HostError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl std::fmt::Debug for HostRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostRequest")
            .field("server", &self.server)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
