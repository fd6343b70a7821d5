//! Measures one request.

use std::sync::Arc;

use tokio::time::Instant;

use super::gateway_metrics::{GatewayMetrics, ServerName};
use super::label::MethodLabel;
use crate::audit::AuditOutcome;
use crate::policy::{Target, TargetKind};

/// What a measured request is for.
#[derive(Clone, Copy)]
pub(crate) enum MeteredTarget<'a> {
    /// A target that a server has.
    Known(&'a Target<'a>),
    /// A target that no server has.
    Unknown,
    /// Nothing of a single server, such as a list.
    None,
}

/// A request that is being measured; counted when it ends.
pub(crate) struct RequestMeter {
    metrics: Arc<GatewayMetrics>,
    method: MethodLabel,
    server: Arc<str>,
    /// The labels of the called tool.
    tool: Option<(Arc<str>, Arc<str>)>,
    started: Instant,
}

impl RequestMeter {
    pub(crate) fn new(metrics: &Arc<GatewayMetrics>, method: &str, target: MeteredTarget<'_>) -> Self {
        let server = match target {
            MeteredTarget::Known(target) => ServerName::Known(target.server),
            MeteredTarget::Unknown => ServerName::Unknown,
            MeteredTarget::None => ServerName::None,
        };
        let tool = match target {
            MeteredTarget::Known(target) if target.kind == TargetKind::Tool => {
                Some(metrics.tool_labels(target.server, target.name))
            }
            _ => None,
        };
        let server = metrics.server_label(server);
        let (metrics, method) = (Arc::clone(metrics), MethodLabel::of(method));
        Self { metrics, method, server, tool, started: Instant::now() }
    }

    /// Counts the request.
    pub(crate) fn end(self, outcome: AuditOutcome) {
        let Self { metrics, method, server, tool, started } = self;
        metrics.record_request((method, server), tool, outcome, started.elapsed());
    }
}
