//! What spans and metrics say about the server of a slot, by the OpenTelemetry conventions for MCP.

use crate::slot::Slot;
use crate::transport::Transport;

/// The transport, address and revision of a server.
#[derive(Default)]
pub(crate) struct ServerAttributes {
    pub(crate) transport: Option<&'static str>,
    pub(crate) protocol: Option<&'static str>,
    pub(crate) address: Option<String>,
    pub(crate) port: Option<u16>,
    pub(crate) revision: Option<&'static str>,
}

impl ServerAttributes {
    pub(crate) fn of(slot: &Slot) -> Self {
        let revision = slot.status().session_info().map(|info| info.revision.as_str());
        let attributes = Self { revision, ..Self::default() };
        match &slot.spec.transport {
            Transport::Stdio(_) => Self { transport: Some("pipe"), ..attributes },
            Transport::Http(http) => {
                let address = http.check().ok();
                Self {
                    transport: Some("tcp"),
                    protocol: Some("http"),
                    address: address.as_ref().map(|address| address.host().to_owned()),
                    port: address.as_ref().map(|address| address.port()),
                    ..attributes
                }
            }
            Transport::Proxy { .. } => Self { transport: Some("tcp"), protocol: Some("http"), ..attributes },
            _ => attributes,
        }
    }
}
