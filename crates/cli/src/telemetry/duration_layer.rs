//! The histograms of the OpenTelemetry conventions for MCP: durations of requests, from their spans, and of sessions, from the events
//! at their end. So a metric and its trace never disagree.
//!
//! Invariants: the number of series is bounded, whatever peers send: a name is an attribute once a request with it was
//! answered, up to a limit. Only requests and sessions are measured; other spans and events cost a lookup.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use switchboard::protocol::surface;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::telemetry::measured_fields::{MeasuredFields, SpanSide};

/// The target of the events at the end of sessions.
const SESSION_TARGET: &str = "mcp.session";
/// The upper bounds of the buckets, in seconds, as the conventions recommend them.
const BUCKETS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// The most tools, and the most prompts, that are attributes.
const MAX_NAMES: usize = 1_000;
/// The most error codes that are attributes.
const MAX_CODES: usize = 100;
/// Stands for every further value; the conventions have this word for `error.type`.
const OTHER: &str = "_OTHER";

/// A tracing layer that records durations.
pub(super) struct DurationLayer {
    client: Histograms,
    server: Histograms,
    tools: KnownValues,
    prompts: KnownValues,
    codes: KnownValues,
}

/// The histograms of one side.
struct Histograms {
    operations: Histogram<f64>,
    sessions: Histogram<f64>,
}

/// A request that is under way.
struct MeasuredRequest {
    started: Instant,
    fields: MeasuredFields,
}

impl DurationLayer {
    pub(super) fn new(meter: &Meter) -> Self {
        let histogram = |name: &'static str, about: &'static str| {
            let builder = meter.f64_histogram(name).with_unit("s").with_description(about);
            builder.with_boundaries(BUCKETS.to_vec()).build()
        };
        Self {
            client: Histograms {
                operations: histogram(
                    "mcp.client.operation.duration",
                    "Duration of requests as observed by the sender",
                ),
                sessions: histogram(
                    "mcp.client.session.duration",
                    "Duration of sessions as observed by the client",
                ),
            },
            server: Histograms {
                operations: histogram(
                    "mcp.server.operation.duration",
                    "Duration of requests as observed by the receiver",
                ),
                sessions: histogram(
                    "mcp.server.session.duration",
                    "Duration of sessions as observed by the server",
                ),
            },
            tools: KnownValues::new(MAX_NAMES),
            prompts: KnownValues::new(MAX_NAMES),
            codes: KnownValues::new(MAX_CODES),
        }
    }

    fn side(&self, side: SpanSide) -> &Histograms {
        match side {
            SpanSide::Client => &self.client,
            SpanSide::Server => &self.server,
        }
    }

    /// Returns the attributes of a request.
    fn operation_attributes(&self, method: String, fields: MeasuredFields) -> Vec<KeyValue> {
        let mut attributes = Vec::with_capacity(12);
        let is_known = surface::find(&method).next().is_some();
        attributes.push(KeyValue::new("mcp.method.name", if is_known { method } else { OTHER.to_owned() }));
        // A request that an error answers, or that is cancelled, may name what no server has; a client sends only known names.
        let is_answered = fields.status.is_some() || fields.side == Some(SpanSide::Client);
        let is_answered = is_answered && fields.status_code.is_none();
        let name = |known: &KnownValues, name: String| known.label(name, is_answered);
        let named = [
            ("gen_ai.operation.name", fields.operation),
            ("gen_ai.tool.name", fields.tool.map(|tool| name(&self.tools, tool))),
            ("gen_ai.prompt.name", fields.prompt.map(|prompt| name(&self.prompts, prompt))),
            ("rpc.response.status_code", fields.status_code.map(|code| self.codes.label(code, true))),
        ];
        attributes.extend(named.into_iter().filter_map(|(key, value)| Some(KeyValue::new(key, value?))));
        attributes.extend(self.connection_attributes(MeasuredFields {
            operation: None,
            tool: None,
            prompt: None,
            status_code: None,
            ..fields
        }));
        attributes
    }

    /// Returns an error code, or a word, of which there are few.
    fn error_type(&self, error: String) -> String {
        let is_code = error.parse::<i64>().is_ok();
        if is_code { self.codes.label(error, true) } else { error }
    }

    /// Returns the attributes that requests and sessions have.
    fn connection_attributes(&self, fields: MeasuredFields) -> impl Iterator<Item = KeyValue> {
        let texts = [
            ("error.type", fields.error_type.map(|error| self.error_type(error))),
            ("mcp.protocol.version", fields.revision),
            ("network.transport", fields.transport),
            ("network.protocol.name", fields.protocol),
            ("network.protocol.version", fields.protocol_version),
            ("server.address", fields.server_address),
        ];
        let port = fields.server_port.map(|port| KeyValue::new("server.port", port));
        texts.into_iter().filter_map(|(key, value)| Some(KeyValue::new(key, value?))).chain(port)
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for DurationLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = MeasuredFields::default();
        attributes.record(&mut fields);
        // The spans of a service's own code have neither.
        if fields.side.is_some()
            && fields.method.is_some()
            && let Some(span) = context.span(id)
        {
            span.extensions_mut().insert(MeasuredRequest { started: Instant::now(), fields });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(request) = span.extensions_mut().get_mut::<MeasuredRequest>()
        {
            values.record(&mut request.fields);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(MeasuredRequest { started, mut fields }) = span.extensions_mut().remove::<MeasuredRequest>()
        else {
            return;
        };
        if let (Some(side), Some(method)) = (fields.side, fields.method.take()) {
            let duration = started.elapsed().as_secs_f64();
            self.side(side).operations.record(duration, &self.operation_attributes(method, fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != SESSION_TARGET {
            return;
        }
        let mut fields = MeasuredFields::default();
        event.record(&mut fields);
        if let (Some(side), Some(duration)) = (fields.side, fields.duration) {
            let attributes: Vec<KeyValue> = self.connection_attributes(fields).collect();
            self.side(side).sessions.record(duration, &attributes);
        }
    }
}

/// The first values that were seen, up to a limit. All others are one.
struct KnownValues {
    max: usize,
    // Held for a lookup or an insertion.
    known: Mutex<HashSet<String>>,
}

impl KnownValues {
    fn new(max: usize) -> Self {
        Self { max, known: Mutex::default() }
    }

    /// Returns the value if it is known or may become so, and else the word for all others.
    fn label(&self, value: String, is_new_allowed: bool) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&value) {
            return value;
        }
        if !is_new_allowed || known.len() >= self.max {
            return OTHER.to_owned();
        }
        known.insert(value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::metrics::MeterProvider as _;
    use opentelemetry_sdk::metrics::SdkMeterProvider;

    use super::*;

    #[test]
    fn names_that_no_answer_has_confirmed_are_one_value() {
        let layer = DurationLayer::new(&SdkMeterProvider::default().meter("test"));
        let tool_of = |tool: &str, status: Option<&str>, status_code: Option<&str>| {
            let fields = MeasuredFields {
                side: Some(SpanSide::Server),
                tool: Some(tool.to_owned()),
                status: status.map(str::to_owned),
                status_code: status_code.map(str::to_owned),
                ..MeasuredFields::default()
            };
            let attributes = layer.operation_attributes("tools/call".to_owned(), fields);
            let tool = attributes.iter().find(|attribute| attribute.key.as_str() == "gen_ai.tool.name");
            tool.unwrap().value.to_string()
        };
        assert_eq!(tool_of("made-up", Some("ERROR"), Some("-32602")), OTHER);
        assert_eq!(tool_of("cancelled", None, None), OTHER);
        assert_eq!(tool_of("echo", Some("UNSET"), None), "echo");
        assert_eq!(tool_of("echo", Some("ERROR"), Some("-32603")), "echo");
    }

    #[test]
    fn methods_and_codes_of_peers_are_bounded() {
        let layer = DurationLayer::new(&SdkMeterProvider::default().meter("test"));
        let mut seen = HashSet::new();
        for number in 0..1_000 {
            let fields =
                MeasuredFields { status_code: Some(number.to_string()), ..MeasuredFields::default() };
            seen.extend(
                layer
                    .operation_attributes(format!("made/up{number}"), fields)
                    .into_iter()
                    .map(|attribute| (attribute.key.to_string(), attribute.value.to_string())),
            );
        }
        assert_eq!(seen.iter().filter(|(key, _)| key == "mcp.method.name").count(), 1, "{seen:?}");
        assert_eq!(seen.iter().filter(|(key, _)| key == "rpc.response.status_code").count(), MAX_CODES + 1);
        assert_eq!(layer.error_type("timeout".to_owned()), "timeout");
        assert_eq!(layer.error_type("-1".to_owned()), OTHER);
    }
}
