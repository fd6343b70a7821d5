//! OpenTelemetry export of a gateway, if the command was built with it and a collector is configured.

#[cfg(feature = "otel")]
mod export {
    use std::sync::Arc;

    use switchboard::gateway::GatewayOptions;
    use switchboard::host::{Host, HostBuilder};

    use crate::error::CommandError;
    use crate::output::Screen;
    use crate::sanitize::one_line;
    use crate::telemetry::{Telemetry, TracePropagation, is_configured};

    pub(crate) type GatewayTelemetry = Option<Telemetry>;

    /// Sends the trace context of each call to its server.
    pub(crate) fn trace_host(builder: HostBuilder) -> HostBuilder {
        if is_configured() { builder.with_trace_context(Arc::new(TracePropagation)) } else { builder }
    }

    /// Creates a span for every request, as a child of the span of its client.
    pub(crate) fn trace_gateway(options: GatewayOptions) -> GatewayOptions {
        if is_configured() { options.with_trace_parent(Arc::new(TracePropagation)) } else { options }
    }

    /// Starts the export.
    ///
    /// # Errors
    /// Returns an error if the collector's URL is not valid.
    pub(crate) fn start(host: &Host) -> Result<GatewayTelemetry, CommandError> {
        Telemetry::start(host)
    }

    /// Keeps the metrics of the host, which is closed next.
    pub(crate) fn keep_host_metrics(telemetry: &GatewayTelemetry) {
        if let Some(telemetry) = telemetry {
            telemetry.keep_host_metrics();
        }
    }

    /// Sends what remains.
    pub(crate) async fn finish(telemetry: GatewayTelemetry, screen: &Screen) {
        if let Some(telemetry) = telemetry
            && let Err(error) = telemetry.finish().await
        {
            screen.warn(&format!("telemetry was not sent: {}", one_line(&error)));
        }
    }
}

#[cfg(not(feature = "otel"))]
mod export {
    use switchboard::gateway::GatewayOptions;
    use switchboard::host::{Host, HostBuilder};

    use crate::error::CommandError;
    use crate::output::Screen;

    /// Nothing is exported.
    pub(crate) struct GatewayTelemetry;

    pub(crate) fn trace_host(builder: HostBuilder) -> HostBuilder {
        builder
    }

    pub(crate) fn trace_gateway(options: GatewayOptions) -> GatewayOptions {
        options
    }

    pub(crate) fn start(_: &Host) -> Result<GatewayTelemetry, CommandError> {
        Ok(GatewayTelemetry)
    }

    pub(crate) fn keep_host_metrics(_: &GatewayTelemetry) {}

    pub(crate) async fn finish(_: GatewayTelemetry, _: &Screen) {}
}

pub(crate) use export::{finish, keep_host_metrics, start, trace_gateway, trace_host};
