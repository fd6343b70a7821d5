//! Prometheus metrics: what a gateway has answered, refused and is doing now.
//!
//! ```text
//!   requests ──▶ RequestMeter ──▶ GatewayMetrics (counters, histograms) ──▶ MetricsEndpoint: GET /metrics
//!   host, parked calls, audit log ──▶ GatewaySnapshot (at each scrape) ──┘
//! ```
//!
//! 1. [`GatewayMetrics::new`], passed to [`GatewayOptions::with_metrics`](crate::GatewayOptions::with_metrics), counts from then on.
//! 2. [`GatewayMetrics::encode`] returns the OpenMetrics text; [`MetricsEndpoint`] serves it, on a listener of its own.
//!
//! **Invariants.** The number of time series is bounded, whatever clients send: labels are enumerations, names of the
//! configuration, or the first names of the catalog up to a limit. Every other name counts as `_other`. No argument, result,
//! principal or URI is a label.

mod bounded_names;
mod endpoint;
mod gateway_metrics;
mod label;
mod request_meter;
mod snapshot;
mod snapshot_collector;

pub use endpoint::MetricsEndpoint;
pub use gateway_metrics::GatewayMetrics;
pub(crate) use label::PageSource;
pub(crate) use request_meter::{MeteredTarget, RequestMeter};
pub(crate) use snapshot::{GatewaySnapshot, UpstreamSnapshot};
