//! Server: which era does this message belong to? Decided for each message, by what the message itself says.

use serde::Deserialize;
use switchboard_protocol::{Level, Meta, Raw, RequestId, RpcError};

/// What a request says of itself in `_meta`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Said {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) version: Option<Raw>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<Raw>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    pub(crate) client: Option<Raw>,
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<Raw>,
    // As text: one that is no token must not make the rest unreadable.
    #[serde(rename = "progressToken")]
    progress_token: Option<Raw>,
}

/// What a request that stands alone must say of itself.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) version: String,
    pub(crate) capabilities: Raw,
    pub(crate) client: Option<Raw>,
    pub(crate) log_level: Option<Level>,
}

impl Said {
    /// The token under which progress is to be reported, when there is a usable one.
    pub(crate) fn progress_token(&self) -> Option<RequestId> {
        RequestId::from_json(self.progress_token.as_ref()?.as_str())
    }

    /// Checks what was said.
    ///
    /// # Errors
    /// Names what is missing or of the wrong type.
    pub(crate) fn envelope(self) -> Result<Envelope, RpcError> {
        let missing =
            |key: &str| RpcError::invalid_params(format!("_meta lacks {key:?}, or it has the wrong type"));
        let version =
            self.version.and_then(|raw| raw.decode().ok()).ok_or_else(|| missing(Meta::PROTOCOL_VERSION))?;
        let capabilities =
            self.capabilities.filter(Raw::is_object).ok_or_else(|| missing(Meta::CLIENT_CAPABILITIES))?;
        let log_level = match self.log_level {
            None => None,
            Some(level) => Some(level.decode().map_err(|_| missing(Meta::LOG_LEVEL))?),
        };
        Ok(Envelope { version, capabilities, client: self.client, log_level })
    }
}

/// The era of a request.
#[derive(Debug)]
pub(crate) enum Classified {
    /// It belongs to the session of its pipe.
    Legacy(Said),
    /// It stands alone.
    Modern(Said),
}

/// Looks at `_meta` only: a version there makes the request modern, whatever its method.
pub(crate) fn classify(params: Option<&Raw>) -> Classified {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta", default)]
        meta: Option<Said>,
    }
    // Most requests of the legacy era have no `_meta` at all, and finding that out is one fast search.
    let said = params
        .filter(|params| memchr::memmem::find(params.as_str().as_bytes(), b"\"_meta\"").is_some())
        .and_then(|params| params.decode::<Params>().ok())
        .and_then(|params| params.meta)
        .unwrap_or_default();
    match said.version {
        Some(_) => Classified::Modern(said),
        None => Classified::Legacy(said),
    }
}
