//! Encodes the state of a gateway at each scrape.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use switchboard_protocol::{Era, Revision};

use super::gateway_metrics::SnapshotSource;
use super::snapshot::{GatewaySnapshot, UpstreamSnapshot};

/// Reads the state of a gateway at each scrape.
#[derive(Debug)]
pub(super) struct SnapshotCollector {
    source: Arc<SnapshotSource>,
}

/// The label of a server.
type ServerLabels<'a> = [(&'static str, &'a str); 1];

/// Reads one number of a server.
type ReadNumber = fn(&UpstreamSnapshot) -> u64;

impl SnapshotCollector {
    pub(super) fn new(source: Arc<SnapshotSource>) -> Self {
        Self { source }
    }
}

impl Collector for SnapshotCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(snapshot) = self.source.read() else { return Ok(()) };
        encode_gauges(&mut encoder, &snapshot)?;
        encode_upstreams(&mut encoder, &snapshot.upstreams)?;
        encode_audit(&mut encoder, &snapshot)
    }
}

fn encode_gauges(encoder: &mut DescriptorEncoder<'_>, snapshot: &GatewaySnapshot) -> fmt::Result {
    let gauges = [
        ("parked_calls", "Calls that wait for the answer to a question", snapshot.parked),
        ("subscriptions", "Resources that clients are subscribed to", snapshot.subscriptions),
        ("sessions", "Sessions of legacy clients over HTTP", snapshot.sessions),
    ];
    for (name, help, value) in gauges {
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        metric.encode_gauge(&to_gauge(value as u64))?;
    }
    Ok(())
}

fn encode_upstreams(encoder: &mut DescriptorEncoder<'_>, upstreams: &[UpstreamSnapshot]) -> fmt::Result {
    let help = "The state of a server: 1 for the current one";
    let mut metric = encoder.encode_descriptor("upstream_state", help, None, MetricType::Gauge)?;
    for upstream in upstreams {
        one(&mut metric, &[("server", upstream.name.as_str()), ("state", upstream.state)])?;
    }
    let help = "The era and revision of a connected server";
    let mut metric = encoder.encode_descriptor("upstream_era", help, None, MetricType::Gauge)?;
    for upstream in upstreams {
        let Some(revision) = upstream.revision else { continue };
        let labels =
            [("server", upstream.name.as_str()), ("era", era(revision)), ("revision", revision.as_str())];
        one(&mut metric, &labels)?;
    }
    let gauges: [(&str, &str, ReadNumber); 4] = [
        ("upstream_running_calls", "Calls under way on a server", |upstream| upstream.running_calls),
        ("upstream_queued_calls", "Calls that wait for their turn on a server", |upstream| {
            upstream.queued_calls
        }),
        ("upstream_processes", "Processes of a server", |upstream| upstream.processes),
        ("quarantined_tools", "Tools that are withheld because they have changed", |upstream| {
            upstream.quarantined
        }),
    ];
    for (name, help, read) in gauges {
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for upstream in upstreams {
            let labels: ServerLabels<'_> = [("server", &upstream.name)];
            metric.encode_family(&labels)?.encode_gauge(&to_gauge(read(upstream)))?;
        }
    }
    let help = "Reconnections of a server";
    let mut metric = encoder.encode_descriptor("upstream_reconnects", help, None, MetricType::Counter)?;
    for upstream in upstreams {
        let labels: ServerLabels<'_> = [("server", &upstream.name)];
        metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(&upstream.reconnects, None)?;
    }
    Ok(())
}

fn encode_audit(encoder: &mut DescriptorEncoder<'_>, snapshot: &GatewaySnapshot) -> fmt::Result {
    let Some(counts) = snapshot.audit else { return Ok(()) };
    let gauges = [
        ("audit_queued_records", "Records of the audit log that wait to be written", counts.queued),
        ("audit_failing", "Whether the last write of the audit log failed", u64::from(counts.is_failing)),
    ];
    for (name, help, value) in gauges {
        encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&to_gauge(value))?;
    }
    let help = "Records of the audit log";
    let mut metric = encoder.encode_descriptor("audit_records", help, None, MetricType::Counter)?;
    for (result, count) in [("written", counts.written), ("dropped", counts.dropped), ("lost", counts.lost)] {
        let labels = [("result", result)];
        metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(&count, None)?;
    }
    Ok(())
}

/// Encodes a gauge that is 1.
fn one(metric: &mut MetricEncoder<'_>, labels: &impl EncodeLabelSet) -> fmt::Result {
    metric.encode_family(labels)?.encode_gauge(&1_i64)
}

fn to_gauge(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn era(revision: Revision) -> &'static str {
    match revision.era() {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}
