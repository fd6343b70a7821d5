//! The fields of spans and events that become attributes of metrics.

use std::fmt;

use tracing::field::{Field, Visit};

/// Whose request or session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanSide {
    Client,
    Server,
}

/// The fields, as far as they were recorded.
#[derive(Debug, Default)]
pub(super) struct MeasuredFields {
    pub(super) side: Option<SpanSide>,
    pub(super) method: Option<String>,
    pub(super) operation: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) status_code: Option<String>,
    pub(super) error_type: Option<String>,
    /// The status of the span; a request that was cancelled has none.
    pub(super) status: Option<String>,
    pub(super) revision: Option<String>,
    pub(super) transport: Option<String>,
    pub(super) protocol: Option<String>,
    pub(super) protocol_version: Option<String>,
    pub(super) server_address: Option<String>,
    pub(super) server_port: Option<i64>,
    /// The duration of a session, in seconds.
    pub(super) duration: Option<f64>,
}

impl MeasuredFields {
    /// Returns where the text of a field is kept; `None` for one that is no attribute.
    fn text_field(&mut self, name: &str) -> Option<&mut Option<String>> {
        Some(match name {
            "mcp.method.name" => &mut self.method,
            "gen_ai.operation.name" => &mut self.operation,
            "gen_ai.tool.name" => &mut self.tool,
            "gen_ai.prompt.name" => &mut self.prompt,
            "rpc.response.status_code" => &mut self.status_code,
            "error.type" => &mut self.error_type,
            "otel.status_code" => &mut self.status,
            "mcp.protocol.version" => &mut self.revision,
            "network.transport" => &mut self.transport,
            "network.protocol.name" => &mut self.protocol,
            "network.protocol.version" => &mut self.protocol_version,
            "server.address" => &mut self.server_address,
            _ => return None,
        })
    }
}

impl Visit for MeasuredFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "otel.kind" {
            self.side = match value {
                "client" => Some(SpanSide::Client),
                "server" => Some(SpanSide::Server),
                _ => None,
            };
        } else if let Some(text) = self.text_field(field.name()) {
            *text = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // A field that is written with `%`: the `Debug` of its wrapper is the `Display` of the value.
        if let Some(text) = self.text_field(field.name()) {
            *text = Some(format!("{value:?}"));
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "server.port" {
            self.server_port = i64::try_from(value).ok();
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "duration_s" {
            self.duration = Some(value);
        }
    }
}
