//! The metrics of a gateway, on an address of their own: they name servers, tools and rules.

use std::convert::Infallible;
use std::sync::Arc;

use switchboard::gateway::metrics::{GatewayMetrics, MetricsEndpoint};
use switchboard::server::HttpListener;

use crate::error::CommandError;
use crate::gateway::settings::GatewaySettings;
use crate::output::Screen;

/// A listener for scrapers.
pub(crate) struct MetricsServer {
    listener: HttpListener,
    endpoint: MetricsEndpoint,
    metrics: Arc<GatewayMetrics>,
}

impl MetricsServer {
    /// Binds the address of the metrics; `None` without one.
    ///
    /// # Errors
    /// Returns an error if the address cannot be used.
    pub(crate) async fn bind(settings: &GatewaySettings) -> Result<Option<Self>, CommandError> {
        let listen = &settings.config.listen;
        let Some(address) = listen.metrics else { return Ok(None) };
        let listener = HttpListener::bind(address).await.map_err(|error| {
            CommandError::other("io", format!("cannot listen on {address}: {error}"))
                .hint("port 0 chooses a free port")
        })?;
        let metrics = Arc::new(GatewayMetrics::new());
        let endpoint = MetricsEndpoint::new(Arc::clone(&metrics))
            .with_allowed_hosts(listen.allowed_hosts.iter().cloned());
        Ok(Some(Self { listener, endpoint, metrics }))
    }

    /// Returns the metrics.
    pub(crate) fn metrics(&self) -> Arc<GatewayMetrics> {
        Arc::clone(&self.metrics)
    }

    /// Serves scrapers for as long as it is polled.
    pub(crate) async fn serve(server: Option<Self>, screen: &Screen) -> Infallible {
        if let Some(Self { listener, endpoint, .. }) = server {
            if let Ok(address) = listener.address() {
                screen.say(&format!("metrics at http://{address}/metrics"));
            }
            listener.serve(endpoint).await;
        }
        std::future::pending().await
    }
}
