//! The labels of the metrics. Every set of values is bounded.

use std::fmt::Write;
use std::sync::Arc;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};

use crate::audit::AuditOutcome;

/// A method of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MethodLabel(&'static str);

impl MethodLabel {
    const KNOWN: [&'static str; 18] = [
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "completion/complete",
        "subscriptions/listen",
        "tasks/list",
        "tasks/get",
        "tasks/result",
        "tasks/update",
        "tasks/cancel",
    ];

    pub(super) fn of(method: &str) -> Self {
        let known = Self::KNOWN.into_iter().find(|known| *known == method);
        Self(known.unwrap_or(super::bounded_names::OTHER))
    }
}

impl EncodeLabelValue for MethodLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        encoder.write_str(self.0)
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OutcomeLabel(pub(super) AuditOutcome);

impl EncodeLabelValue for OutcomeLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        encoder.write_str(self.0.as_str())
    }
}

/// Where a page of a list came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageSource {
    /// Encoded before, for all callers.
    Cache,
    /// Built for this request.
    Built,
}

impl EncodeLabelValue for PageSource {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        encoder.write_str(match self {
            Self::Cache => "cache",
            Self::Built => "built",
        })
    }
}

/// The labels of answered requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub(super) method: MethodLabel,
    /// Empty for a request that concerns no single server, `_other` if no server has the target.
    pub(super) server: Arc<str>,
    pub(super) outcome: OutcomeLabel,
}

/// The labels of durations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct DurationLabels {
    pub(super) method: MethodLabel,
    pub(super) server: Arc<str>,
}

/// The labels of tool calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ToolLabels {
    pub(super) server: Arc<str>,
    pub(super) tool: Arc<str>,
    pub(super) outcome: OutcomeLabel,
}

/// The labels of denials.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct DenialLabels {
    /// The rule; `default` if none matched.
    pub(super) rule: Arc<str>,
    pub(super) reason: &'static str,
}

/// The label of refusals by a rate limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct LimitLabels {
    pub(super) limit: Arc<str>,
}

/// The label of pages of lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct PageLabels {
    pub(super) source: PageSource,
}
