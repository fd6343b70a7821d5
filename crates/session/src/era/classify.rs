//! Server: which era does this message belong to? Decided for each message, by what the message itself says.

use serde::Deserialize;
use switchboard_protocol::{Raw, RequestId};

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
    #[serde(rename = "progressToken")]
    pub(crate) progress_token: Option<RequestId>,
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
