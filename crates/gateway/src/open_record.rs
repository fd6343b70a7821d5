//! The open record of a request: in the audit log, and in the metrics.

use switchboard_protocol::RpcError;
use switchboard_session::server::RequestContext;

use crate::audit::{AuditEntry, AuditLog, AuditOutcome, AuditRecord};
use crate::limits::RateLimited;
use crate::metrics::RequestMeter;

/// An open record; empty if the gateway has neither audit log nor metrics. Dropping it records a cancellation.
pub(crate) struct OpenRecord {
    audit: Option<(AuditLog, AuditEntry)>,
    meter: Option<RequestMeter>,
    /// The request, if its handler is dropped to ask the client a question.
    cx: Option<RequestContext>,
}

impl OpenRecord {
    pub(crate) fn new(audit: Option<(AuditLog, AuditEntry)>, meter: Option<RequestMeter>) -> Self {
        Self { audit, meter, cx: None }
    }

    /// Sets the request of the handler that ends the record.
    pub(crate) fn of_handler(mut self, cx: &RequestContext) -> Self {
        let is_recorded = self.audit.is_some() || self.meter.is_some();
        self.cx = (is_recorded && cx.replays_handler()).then(|| cx.clone());
        self
    }

    /// Changes the record of the audit log.
    pub(crate) fn update(&mut self, change: impl FnOnce(&AuditLog, &mut AuditRecord)) {
        if let Some((log, entry)) = &mut self.audit {
            change(log, entry.record_mut());
        }
    }

    /// Ends the record.
    pub(crate) async fn end(mut self, outcome: AuditOutcome, error: Option<&RpcError>) {
        self.update(|_, record| record.code = error.map(|error| error.code.0.into()));
        if let Some(meter) = self.meter.take() {
            meter.end(outcome);
        }
        if let Some((_, entry)) = self.audit.take() {
            entry.end(outcome).await;
        }
    }

    /// Ends the record of a request that a limit refused, and returns the error for its client.
    pub(crate) async fn end_limited(mut self, refused: &RateLimited) -> RpcError {
        let error = refused.to_rpc_error();
        self.update(|_, record| record.reason = Some(refused.limit.clone()));
        self.end(AuditOutcome::RateLimited, Some(&error)).await;
        error
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        let asks = self.cx.as_ref().is_some_and(|cx| !cx.is_cancelled());
        let outcome = if asks { AuditOutcome::InputRequired } else { AuditOutcome::Cancelled };
        if let Some(meter) = self.meter.take() {
            meter.end(outcome);
        }
        if let Some((_, entry)) = &mut self.audit {
            entry.record_mut().outcome = outcome;
        }
    }
}
